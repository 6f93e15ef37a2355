"""The summary: names shown as they are, no more claimed than the values can carry."""

import io

import numpy as np
import pytest
from rich.console import Console
from rollout_files.drawn_runs import drawn_episode, drawn_run

from goalward.report.words.blocks import plain_text
from goalward.report.words.rendering import page_sections, print_document
from goalward.report.words.summary import summary, summary_document
from goalward.rollouts.episode import Outcome
from goalward.rollouts.findings import LeftOut
from goalward.runs.settings import RunData

LENGTH = 10


def run_of(steps_of, *, num_episodes=24, training=None, left_out=(), tasks="", policy="ours"):
    """A run whose values `steps_of` predicts: (is success) -> steps of its frames."""
    success = [i % 2 == 0 for i in range(num_episodes)]
    named = [tasks] * num_episodes if isinstance(tasks, str) else tasks
    episodes = [
        drawn_episode(
            f"<b>{i}_*",
            LENGTH,
            outcome=Outcome.SUCCESS if good else Outcome.TIME_OUT,
            task=named[i],
        )
        for i, good in enumerate(success)
    ]
    steps = [np.asarray(steps_of(good), dtype=float)[None] for good in success]
    data = RunData(left_out=tuple(left_out))
    run, _ = drawn_run(episodes, {"liveness": steps}, training=training, data=data, policy=policy)
    return run


def words(steps_of, **options):
    return summary(run_of(steps_of, **options))


def knowing(good):
    return np.arange(LENGTH)[::-1] if good else np.full(LENGTH, 80)


def blind(good):
    return np.full(LENGTH, 5)


def backwards(good):
    return knowing(not good)


@pytest.mark.parametrize("steps_of", [blind, backwards])
def test_values_no_better_than_a_coin_are_not_to_be_relied_on(steps_of):
    text = words(steps_of)
    assert "**With twice the time**" in text
    assert "**Do not rely on what the values of** `liveness` **say here**" in text


def test_values_that_tell_outcomes_apart_are_not_doubted():
    assert "Do not rely" not in words(knowing)


def test_too_few_episodes_cannot_be_checked():
    assert "cannot be checked with 2 held-out episodes" in words(knowing, num_episodes=2)


def test_one_success_among_many_says_that_it_is_one_of_a_kind():
    """Twenty are not too few, one is: what it takes is said wherever it cannot be checked."""
    outcomes = [Outcome.SUCCESS] + [Outcome.TIME_OUT] * 19
    episodes = [drawn_episode(str(i), LENGTH, outcome=one) for i, one in enumerate(outcomes)]
    steps = [knowing(one is Outcome.SUCCESS).astype(float)[None] for one in outcomes]
    text = summary(drawn_run(episodes, {"liveness": steps})[0])
    # The answer, the doubt, the caution where to look, the grade; then the scores.
    before, _ = text.split("Scores of")
    assert before.count("needs at least two episodes of each kind") == 4
    assert "too few" not in text


def test_more_time_is_told_with_how_sure_it_is():
    """Ten seeds; of four time-outs 9, 5, 1 and 1 of ten seeds see success in the time they had."""
    run = run_of_chances([0.9, 0.5, 0.1, 0.1])
    twice = run.scores.policy.more_time.twice
    span = "95 % interval {:.0f} % to {:.0f} %"
    rate, share = (
        span.format(100 * one.low, 100 * one.high)
        for one in (twice.rate_interval, twice.share_interval)
    )
    text = summary(run)
    assert (
        f"**With twice the time** about 70 % ({rate}) are expected to succeed: of the 4 that timed "
        f"out about 2 (40 %; {share}), each given its own clock again.\n"
    ) in text
    assert (
        ": of 4 held out, 1 *on their way* (a chance of at least 80 % with their own clock again), "
        "2 *stuck* (at most 20 %); 1 in between, of which nobody can tell. On their way: 4. "
        "Stuck: 6, 7.\n"
    ) in text
    # No seed sees success sooner than in the nine steps that each of them had, or later.
    assert "With other amounts of time: 50 % with a quarter more, 50 % with half more, 70 %" in text
    assert "would" not in text


def test_episodes_that_were_learned_from_are_not_judged_by_what_was_learned():
    text = summary(run_of_chances([0.9, 0.5, 0.1, 0.1], learned_from=("6", "7")))
    assert "of the 4 that timed out about 3 (70 %), " in text
    assert "each given its own clock again, judged by the 2 that were held out." in text
    assert ": of 2 held out, 1 *on their way*" in text


def test_methods_that_disagree_are_named_with_what_they_say():
    others = {"near": [1.0] * 12, "nearer": [0.9] * 12, "like it": [0.1] * 12, "far": [0.0] * 12}
    text = summary(run_of_chances([0.1] * 12, **others))
    told = " Not so by `near` (100 %), `nearer` (90 %): their share lies outside that interval."
    assert told in text
    assert "`like it` (" not in text
    # "0 %" beside "0 % to ..." is no contradiction that a reader could see.
    assert "`far` (" not in text
    assert "Not so by" not in summary(run_of_chances([0.4] * 4))


def test_a_share_of_few_time_outs_is_not_about_none_of_them():
    text = summary(run_of_chances([0.1] * 4))
    assert "of the 4 that timed out fewer than one (10 %; 95 % interval" in text
    assert "of the 6 that timed out about 1 (10 %; 95 % interval" in summary(
        run_of_chances([0.1] * 6)
    )
    assert "of the 4 that timed out about 0 (0 %; 95 % interval" in summary(
        run_of_chances([0.0] * 4)
    )


def run_of_chances(chances, learned_from=(), **others):
    """Four successes, then time-outs; a chance is the share of ten seeds that see success."""
    outcomes = [Outcome.SUCCESS] * 4 + [Outcome.TIME_OUT] * len(chances)
    episodes = [drawn_episode(str(i), LENGTH, outcome=one) for i, one in enumerate(outcomes)]

    def said(chance):
        seen = np.arange(10)[:, None] < round(10 * chance)
        return np.where(seen, LENGTH - 1.0, np.inf) * np.ones((1, LENGTH))

    successes = [np.tile(np.arange(LENGTH)[::-1], (10, 1)).astype(float)] * 4
    steps = {
        name: successes + [said(chance) for chance in by_episode]
        for name, by_episode in {"liveness": chances, **others}.items()
    }
    return drawn_run(episodes, steps, learned_from=learned_from)[0]


def test_scores_without_a_number_are_a_line_at_the_end_for_each_reason():
    """All episodes are held out, so that none is left to choose a threshold on."""
    scores = words(knowing).split("Scores of")[1].split("\n\n")[1].splitlines()
    reason = "no episode was only learned from"
    assert scores[-1] == f"- not defined here ({reason}): both together, at the best threshold"
    assert not any("not defined" in line for line in scores[:-1])
    assert any(line.startswith("- order of steps: 1.00") for line in scores)


def test_names_show_as_they_are():
    text = words(blind, policy="a|b <i>*", tasks="put *it*")
    assert text.startswith("# a\\|b \\<i\\>\\*\n")
    assert "<b>" not in text


def test_episodes_that_are_not_counted_are_told_beside_the_rate():
    text = words(knowing, left_out=[LeftOut("7", "cut off"), LeftOut("8", "holds NaN")])
    rate = text.split("\n\n")[1]
    assert rate.endswith("Not counted: 2 episodes that could not be trusted (below).")
    assert "- episode 7: cut off\n- episode 8: holds NaN" in text


def test_a_task_learned_from_one_outcome_is_named():
    tasks = ["sew" if i < 2 else "cut" for i in range(24)]
    text = words(knowing, tasks=tasks, training=np.array([0, 2, 3, 4, 5]))
    assert "all successes or all not in 1 task (*sew*)" in text


def test_time_outs_are_named_as_on_their_way_or_stuck():
    text = words(knowing, num_episodes=20)
    assert r"Stuck: \<b\>1\_\*, \<b\>3\_\*, " in text
    assert "On their way:" not in text


def test_values_that_cannot_be_relied_on_name_no_episode_and_no_share():
    """The answer that can be given, and what it would take; the number is for those who ask."""
    few, coin = words(knowing, num_episodes=2), words(blind)
    assert "**With twice the time**: cannot tell. It needs about 14 more rollouts" in few
    assert "**With twice the time**: cannot tell. How many more rollouts it needs these" in coin
    for text in (few, coin):
        assert "Stuck:" not in text
        assert "are expected to succeed" not in text


def test_events_are_counted():
    """Every time-out is said to be beyond the ceiling of 9 steps for all of its 10 frames."""
    text = words(knowing, num_episodes=4)
    assert "In all episodes `liveness` sees 2 stalls (`events.csv`)." in text
    assert r"(time-out): stall: 10 frames at 9 or more steps to go" in text


def test_page_terminal_and_markdown_say_the_same():
    """One document: what a page or a terminal shows is in the Markdown, word for word."""
    run = run_of(blind, num_episodes=4, left_out=[LeftOut("7", "cut off")])
    document = summary_document(run)
    written = io.StringIO()
    print_document(document, Console(file=written, width=80, emoji=False, highlight=False))
    lines = written.getvalue().splitlines()
    for section in page_sections(document):
        assert section["title"] in lines
        for block in section["blocks"]:
            texts = block["items"] if block["kind"] == "bullets" else [block["spans"]]
            for spans in texts:
                text = "".join(words for _, words in spans)
                assert text in lines or f"- {text}" in lines


def test_a_doubt_is_known_by_its_role_not_by_its_words():
    doubted = summary_document(run_of(blind)).paragraphs("doubt")
    assert len(doubted) == len(run_of(blind).doubts) == 1
    assert "no better than a coin" in plain_text(doubted[0].words)
    assert summary_document(run_of(knowing)).paragraphs("doubt") == []
