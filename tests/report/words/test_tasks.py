"""Tasks in words and tables: no claim that the episodes do not carry, every task in the table."""

import csv
import io

import numpy as np
from rollout_files.drawn_runs import countdown, drawn_episode, drawn_run

from goalward.metrics.trust import caution_words
from goalward.report.files import write_summary
from goalward.report.words.summary import summary
from goalward.report.words.tasks import shown_task, task_csv, task_table
from goalward.rollouts.episode import Outcome

LENGTH = 8


def run_of(counts, folder=None, **options):
    """`counts`: task -> (successes, time-outs, failures), told apart by the values."""
    outcomes = (Outcome.SUCCESS, Outcome.TIME_OUT, Outcome.FAILURE)
    ended = [
        (task, outcome)
        for task, numbers in counts.items()
        for outcome, count in zip(outcomes, numbers, strict=True)
        for _ in range(count)
    ]
    episodes = [
        drawn_episode(str(i), LENGTH, outcome=outcome, task=task)
        for i, (task, outcome) in enumerate(ended)
    ]
    near, far = countdown(LENGTH), np.full((2, LENGTH), 90.0)
    steps = [near if outcome is Outcome.SUCCESS else far for _, outcome in ended]
    where = {} if folder is None else {"folder": folder}
    return drawn_run(episodes, {"td": steps}, **where, **options)[0]


def by_task(run):
    return summary(run).split("## By task\n\n")[1].split("\n\n## ")[0]


def test_tasks_that_differ_are_said_to_and_those_that_stand_out_are_named():
    text = by_task(run_of({"sew": (19, 1, 0), "cut": (2, 10, 8), "fold": (10, 10, 0)}))
    assert (
        "**The tasks differ**: their success rates lie further apart than chance would put them "
        r"(chi-square test, p \< 0.001). Worse than all others together: *cut* (2 of 20). "
        "Better: *sew* (19 of 20)."
    ) in text
    assert "fewer than" not in text
    assert "| all tasks | 60 | 52 % (39 % to 64 %) | 21 | 8 | tell successes apart |" in text
    # Two successes are no proof of skill, however well they are told from the others.
    assert "| cut | 20 | 10 % (3 % to 30 %) | 10 | 8 | may be no better than a coin |" in text


def test_tasks_that_chance_may_put_apart_are_not_said_to_differ():
    text = by_task(run_of({"sew": (3, 1, 0), "cut": (1, 2, 0), "fold": (0, 1, 0)}))
    assert "differ**" not in text
    assert "no further apart than chance may put them (permutation test, p = " in text
    assert "Tasks of few episodes have wide intervals: 3 of 3 have fewer than 15." in text
    assert (
        "in 0 of 3 tasks they tell successes from other episodes; in 0 they may be no better than "
        "a coin; in 3 that cannot be checked (too few episodes: 2, one episode: 1)."
    ) in text


def test_tasks_that_all_ended_alike_are_not_compared():
    text = by_task(run_of({"sew": (3, 0, 0), "cut": (2, 0, 0)}))
    assert "The rates of the tasks are not compared: all episodes ended alike." in text


def test_one_task_has_no_section():
    run = run_of({"sew": (3, 1, 0)})
    assert "By task" not in summary(run)
    assert task_table(run.scores) is None


def test_the_summary_says_whose_the_value_functions_are():
    counts = {"sew": (3, 1, 0), "cut": (1, 2, 0)}
    shared, apart = "All tasks share their value functions", "Every task has value functions of its"
    text = summary(run_of(counts))
    assert shared in text
    assert apart not in text
    text = summary(run_of(counts, per_task=True))
    assert shared not in text
    assert apart in text


def test_a_task_learned_from_one_outcome_is_not_said_to_stand_alone_where_tasks_share():
    counts, training = {"sew": (3, 1, 0), "cut": (1, 2, 0)}, np.array([0, 1, 4, 5])
    words = "all not in 1 task (*sew*): there the values "
    assert f"{words}rest on what other tasks show." in summary(run_of(counts, training=training))
    alone = run_of(counts, training=training, per_task=True)
    assert f"{words}have nothing to tell apart." in summary(alone)


def test_ten_tasks_are_in_the_summary_and_all_in_the_tables(tmp_path):
    counts = {f"task {i}": (1, 0, 0) for i in range(20)}
    counts |= {"often": (3, 3, 0), "rarely": (0, 6, 0), "named | by *marks*": (1, 1, 0)}
    run = run_of(counts, tmp_path)
    text = by_task(run)
    rows = [line.split(" | ")[0] for line in text.splitlines() if line.startswith("| ")]
    # Most episodes first; of two with as many the one that is further from the rate of all.
    assert rows[2:6] == ["| all tasks", "| rarely", "| often", r"| named \| by \*marks\*"]
    assert len(rows) == 2 + 1 + 10
    assert "And 13 more in tables/tasks.md." in text
    written = write_summary(run)
    names = {path.name for path in written}
    assert {"tasks.md", "tasks.tex", "tasks.csv"} <= names
    assert all(path.is_file() for path in written)
    table = (tmp_path / "tables" / "tasks.md").read_text()
    assert all(f"| task {i} | 1 | 1 |" in table for i in range(20))
    assert table.count("\n| ") == 1 + 1 + 23
    assert (tmp_path / "tables" / "tasks.tex").read_text().count(r" \\") == 1 + 1 + 23


def test_numbers_that_nobody_should_rely_on_come_with_their_warning(tmp_path):
    outcomes = [Outcome.SUCCESS, Outcome.TIME_OUT] * 6
    episodes = [
        drawn_episode(str(i), LENGTH, outcome=outcome, task=("sew", "cut")[i // 6])
        for i, outcome in enumerate(outcomes)
    ]
    # The wrong way round: time-outs look near, successes far.
    steps = [np.full((2, LENGTH), 40.0), countdown(LENGTH)] * 6
    run, _ = drawn_run(episodes, {"td": steps}, tmp_path)
    warning = caution_words(run.trust)
    assert warning.startswith("Do not rely on the values")
    write_summary(run)
    assert warning in (tmp_path / "tables" / "tasks.md").read_text()
    assert warning not in task_table(run.scores).markdown()


def test_a_task_of_ten_thousand_characters_is_shortened_but_not_in_the_csv():
    long = "put the " + "very " * 2500 + "red cup away"
    run = run_of({long: (2, 1, 0), "": (1, 0, 0), "line\nbreak": (0, 1, 0)})
    for text in (summary(run), task_table(run.scores).markdown(), task_table(run.scores).latex()):
        assert max(map(len, text.splitlines())) < 700
        assert "red cup away" in text
    assert "| (no name) | 1 |" in by_task(run)
    assert "| line break | 1 |" in by_task(run)
    rows = list(csv.DictReader(io.StringIO(task_csv(run.scores))))
    assert [row["task"] for row in rows] == ["", long, "line\nbreak", ""]
    assert len(shown_task(long)) == 80


def test_the_csv_has_the_numbers_of_the_scores():
    run = run_of({"sew": (3, 1, 0), "cut": (1, 2, 1)})
    pooled, sew, cut = csv.DictReader(io.StringIO(task_csv(run.scores)))
    policy = run.scores.policy
    assert (pooled["of"], pooled["episodes"], pooled["successes"]) == ("all", "8", "4")
    assert float(pooled["twice_share"]) == policy.more_time.twice.share.value
    assert (cut["task"], cut["time_outs"], cut["failures"]) == ("cut", "2", "1")
    assert float(sew["rate"]) == 0.75
    assert float(sew["frame_auroc"]) == 1.0
    assert sew["auroc_low"] == ""
    assert sew["values"] == "cannot be checked: too few episodes"
