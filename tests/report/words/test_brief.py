"""The answer on a terminal: one screen of 24 lines with the two that `evaluate` adds."""

import io
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console
from rollout_files.drawn_runs import drawn_episode, drawn_run

from goalward.metrics.score import Interval, Score
from goalward.metrics.trust import Grade
from goalward.report.words.blocks import Bullets, plain_text
from goalward.report.words.brief import brief_document
from goalward.report.words.rendering import print_document
from goalward.report.words.summary import summary
from goalward.rollouts.episode import Outcome
from report.words.test_summary import blind, knowing, run_of

LINES_OF_A_SCREEN = 24
ADDED_BY_THE_COMMAND = 2


def shown(run) -> list[str]:
    written = io.StringIO()
    console = Console(file=written, width=80, emoji=False, highlight=False, force_terminal=True)
    print_document(brief_document(run), console)
    return written.getvalue().splitlines()


def run_with_long_names():
    """Setbacks in every time-out, so that each of them is named."""
    episodes = [
        drawn_episode(
            f"{'a very long name of an episode ' * 9}{i}",
            40,
            outcome=Outcome.SUCCESS if i % 2 else Outcome.TIME_OUT,
        )
        for i in range(24)
    ]
    near_and_far = np.concatenate([np.arange(30, 10, -1.0), np.full(20, 35.0)])
    steps = [np.arange(40.0)[::-1] if i % 2 else near_and_far for i in range(24)]
    run, _ = drawn_run(
        episodes, {"td": [one[None] for one in steps]}, policy="a policy's name " * 20
    )
    return run


RUNS = {
    "knowing": lambda: run_of(knowing),
    "blind": lambda: run_of(blind),
    "two episodes": lambda: run_of(knowing, num_episodes=2),
    "long names": run_with_long_names,
}


@pytest.mark.parametrize("name", RUNS)
def test_one_screen_holds_it(name):
    lines = shown(RUNS[name]())
    assert len(lines) <= LINES_OF_A_SCREEN - ADDED_BY_THE_COMMAND, "\n".join(lines)


def test_weak_values_do_not_answer_and_give_a_hint_to_who_reads_on():
    """Without an interval: that of a guess would look like knowledge."""
    run = run_of(knowing)
    trust = replace(run.trust, grade=Grade.WEAK)
    weak = replace(run, results=replace(run.results, trust=trust))
    line = next(one for one in brief_words(weak) if one.startswith("With twice the time"))
    told = next(one for one in summary(weak).split("\n\n") if one.startswith("**With twice"))
    for words in (line, told):
        assert ": cannot tell yet. " in words.replace("**", "")
        assert "interval " not in words.replace("No interval is given", "")
    assert "50 %" not in line
    assert "As a hint, no more: perhaps 50 % succeed" in told
    assert "With other amounts of time" in summary(run)
    assert "With other amounts of time" not in summary(weak)


def brief_words(run) -> list[str]:
    bullets = brief_document(run).sections[0].blocks[0]
    assert isinstance(bullets, Bullets)
    return [plain_text(item) for item in bullets.items]


def test_it_has_the_rate_whether_to_rely_on_values_and_what_to_do():
    text = " ".join(" ".join(shown(run_of(knowing))).split())
    for part in ("Success rate", "50 % (12 of 24", "Can the values be relied on?", "Next"):
        assert part in text


def test_values_that_are_nearly_a_coin_ask_for_no_thousands_of_rollouts():
    """As the next steps have it: better values are wanted then."""
    run = run_of(knowing)
    for skill, low, words in (
        (0.6, 0.45, "about 31 more rollouts"),
        (0.52, 0.39, "these cannot say"),
    ):
        trust = replace(
            run.trust,
            grade=Grade.WEAK,
            skill=Score(skill),
            skill_interval=Interval(low, 0.7),
        )
        changed = replace(run, results=replace(run.results, trust=trust))
        line = next(one for one in brief_words(changed) if one.startswith("With twice the time"))
        assert words in line
