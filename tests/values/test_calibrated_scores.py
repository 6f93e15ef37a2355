"""What a score of another program is worth, as other episodes show it."""

import numpy as np
import pytest

from goalward.rollouts.endings import Endings
from goalward.values.calibrated_scores import calibrated_steps

DISCOUNT = 0.9


def endings(goals):
    return Endings(np.arange(1, len(goals) + 1) * 10, np.array(goals))


def test_no_episode_says_what_its_own_scores_mean():
    score = np.tile(np.arange(10.0), 8)
    goals = [9, 9, 9, 9, -1, -1, -1, -1]
    before = calibrated_steps(score, endings(goals), DISCOUNT)
    after = calibrated_steps(score, endings([6, *goals[1:]]), DISCOUNT)
    assert after[:10].tolist() == before[:10].tolist()
    assert after[10:].tolist() != before[10:].tolist()


def test_half_of_those_with_such_a_score_succeed_at_once():
    """Worth 1/2, whatever the numbers are: log(1/2) / log(0.9) steps."""
    score = np.repeat(np.exp([5.0] * 10 + [-5.0] * 10), 10)
    goals = [0, -1] * 5 + [-1] * 10
    steps = calibrated_steps(score, endings(goals), DISCOUNT)
    assert steps[:100] == pytest.approx(np.full(100, np.log(0.5) / np.log(0.9)), rel=0.25)
    assert np.isinf(steps[100:]).all()


def test_one_episode_of_a_kind_is_enough_to_go_on():
    steps = calibrated_steps(np.arange(20.0), endings([9, -1]), DISCOUNT)
    assert steps.shape == (20,)
    assert not np.isnan(steps).any()
