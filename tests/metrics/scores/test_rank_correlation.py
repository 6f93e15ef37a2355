"""Spearman's correlation of predicted and recorded steps."""

import math

import numpy as np
import pytest
from scipy import stats

from goalward.metrics.scores.rank_correlation import order_within_episodes, steps_correlation
from goalward.metrics.uncertainty.intervals import over_episodes
from goalward.metrics.uncertainty.weighing import only_score, scores_by_run
from goalward.rollouts.endings import Endings

INF = math.inf
# Goal frames 3 (of 0..4) and 1; a time-out between them.
ENDINGS = Endings(np.array([5, 7, 9]), np.array([3, -1, 1]))


def test_by_hand():
    """Recorded 3, 2, 1, 0 and 1, 0; predicted ranks 6, 4.5, 3, 1, 4.5, 2."""
    steps = np.array([INF, 8, 4, 0, 77, 0, 0, 8, 1])
    recorded, predicted = [6, 5, 3.5, 1.5, 3.5, 1.5], [6, 4.5, 3, 1, 4.5, 2]
    expected = np.corrcoef(recorded, predicted)[0, 1]
    correlation = steps_correlation(steps, ENDINGS)
    assert only_score(correlation).value == pytest.approx(expected)
    # Two episodes of one kind: the time-out is not among them.
    assert correlation.strata.tolist() == [0, 0]


def test_against_scipy():
    rng = np.random.default_rng(0)
    steps = rng.integers(0, 4, (6, 9)).astype(float)
    counted = ENDINGS.steps >= 0
    for run, score in zip(steps, scores_by_run(steps_correlation(steps, ENDINGS)), strict=True):
        expected = stats.spearmanr(run[counted], ENDINGS.steps[counted]).statistic
        assert score.value == pytest.approx(expected)


def test_never_is_the_largest_number():
    steps = np.array([INF, 8, 4, 0, 77, 0, 0, 8, 1])
    finite = np.where(np.isinf(steps), 1e9, steps)
    assert only_score(steps_correlation(steps, ENDINGS)) == only_score(
        steps_correlation(finite, ENDINGS)
    )


def test_an_episode_drawn_twice():
    steps = np.array([7.0, 8, 4, 0, 77, 0, 0, 8, 1])
    weighed = steps_correlation(steps, ENDINGS).weighed(np.array([[1.0, 2.0]]))
    twice = Endings(np.array([5, 7, 9]), np.array([3, 1, 1]))
    again = steps_correlation(np.array([7.0, 8, 4, 0, 77, 8, 1, 8, 1]), twice)
    assert weighed[0, 0] == pytest.approx(only_score(again).value)


def test_not_defined():
    no_success = Endings(np.array([2]), np.array([-1]))
    assert only_score(steps_correlation(np.zeros(2), no_success)).reason == "no episode succeeded"
    runs = np.stack([np.full(9, 3.0), np.arange(9.0)])
    constant, other = scores_by_run(steps_correlation(runs, ENDINGS))
    assert constant.reason == "all predictions are equal"
    assert other.defined
    assert over_episodes(steps_correlation(runs, ENDINGS)).reason == "all predictions are equal"
    at_goal = Endings(np.array([1, 2]), np.array([0, 0]))
    score = only_score(steps_correlation(np.array([1.0, 2]), at_goal))
    assert score.reason == "every success is at its goal from its first frame on"


def test_order_within_episodes():
    """One episode in perfect order, one in reverse, one without any order, one of one frame."""
    endings = Endings(np.array([3, 6, 9, 10]), np.array([2, 2, 2, 0]))
    steps = np.array([90.0, 50, 10, 1, 2, 3, 7, 7, 7, 4])
    order = order_within_episodes(steps, endings)
    np.testing.assert_allclose(order.total, [[1, -1, 0]])
    assert only_score(order).value == pytest.approx(0)


def test_order_within_no_episodes():
    endings = Endings(np.array([1, 3]), np.array([0, -1]))
    order = order_within_episodes(np.zeros(3), endings)
    assert only_score(order).reason == "no success with more than one frame"


def test_interval_stays_between_minus_one_and_one():
    rng = np.random.default_rng(1)
    endings = Endings(np.arange(1, 9) * 10, np.full(8, 9))
    steps = endings.steps + rng.normal(0, 0.1, 80)
    interval = over_episodes(steps_correlation(steps, endings))
    assert 0.97 < interval.low < interval.high <= 1
