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


def test_stuck_is_not_at_odds_with_twice_the_time():
    """Further than the standard horizon may still be nearer than one more time limit."""
    text = words(knowing)
    assert "0 *on their way* (at most 9 steps to go at the end) and 12 *stuck*" in text
    assert "0 of 12 look no further than 9 more steps from the goal" in text


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
    text = words(knowing, num_episodes=4)
    assert r"Stuck: \<b\>1\_\*, \<b\>3\_\*." in text
    assert "On their way:" not in text
    text = words(blind, num_episodes=4)
    assert r"On their way: \<b\>1\_\*, \<b\>3\_\*." in text


def test_events_are_counted():
    """Every time-out is said to be beyond the ceiling of 9 steps for all of its 10 frames."""
    text = words(knowing, num_episodes=4)
    assert "In all episodes `liveness` sees 2 stalls (`events.csv`)." in text
    assert r"(time\_out): stall: 10 frames at 9 or more steps to go" in text


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
