"""Whether to rely on the values: what is checked is the order of moments, not the size of one."""

from dataclasses import replace

import numpy as np
import pytest
from rollout_files.drawn_runs import drawn_episode, drawn_run

from goalward.metrics.trust import Grade
from goalward.metrics.truth.frame_truth import FrameTruth
from goalward.report.words.summary import summary
from goalward.report.words.trust import trust_answer
from goalward.rollouts.episode import Outcome

LENGTH = 30


def run_with(truth=None):
    """Successes that are seen as they are, time-outs that are seen as 40 steps off."""
    outcomes = [Outcome.SUCCESS, Outcome.TIME_OUT] * 12
    episodes = [drawn_episode(str(i), LENGTH, outcome=one) for i, one in enumerate(outcomes)]
    seen = {Outcome.SUCCESS: np.arange(LENGTH)[::-1], Outcome.TIME_OUT: np.full(LENGTH, 40)}
    steps = {"td": [seen[one].astype(float)[None] for one in outcomes]}
    return drawn_run(episodes, steps, truth=truth)[0]


def test_without_a_truth_nothing_is_said_of_the_size_of_a_value():
    run = run_with()
    answer = trust_answer(run.trust, run.truth)
    assert answer.word == "Yes, to compare moments"
    assert answer.why.endswith("A single value can still be far off.")
    assert answer.why in summary(run)


@pytest.mark.parametrize("grade", [Grade.NONE, Grade.WEAK, Grade.UNKNOWN])
def test_values_that_are_doubted_anyway_are_not_doubted_twice(grade):
    trust = replace(run_with().trust, grade=grade)
    assert "single value" not in trust_answer(trust, None).why


def test_where_a_simulator_knows_the_size_of_the_error_is_part_of_the_answer():
    """Frame 9 of a success, 20 steps from its goal; all of its futures take 10."""
    run = run_with(FrameTruth(("0",), np.array([9]), np.full((1, 4), 10.0), cap=60))
    off = 2 * abs(run.discount**10 - run.discount**20)
    assert trust_answer(run.trust, run.truth).why.endswith(
        f"A single value is off by {off:.2f} on average, on a scale from -1 to 1, as a simulator "
        "measured."
    )
