"""The bootstrap over episodes: which order statistic, which draws, and when there is none."""

import numpy as np
import pytest

from goalward.metrics.scores.movement import EpisodeMedian
from goalward.metrics.uncertainty.bootstrap import bootstrap_interval, resampling_weights
from goalward.metrics.uncertainty.weighing import FrameMean


def test_one_episode_has_no_interval():
    interval = bootstrap_interval(FrameMean(np.ones((1, 1)), np.ones(1), "line"), level=0.8)
    assert interval.reason == "an interval over episodes needs at least two episodes of each kind"
    assert interval.level == 0.8


def test_limits_are_order_statistics_of_the_draws():
    """Two episodes, 0 and 1: the mean of a draw is 0, 1/2 or 1, never anything between."""
    mean = FrameMean(np.array([[0.0, 1]]), np.ones(2), "line")
    for level, expected in ((0.4, (0.5, 0.5)), (0.6, (0.0, 1.0))):
        interval = bootstrap_interval(mean, level=level)
        assert (interval.low, interval.high) == expected
        assert interval.level == level


def test_an_infinite_episode_leaves_finite_limits():
    """Between a finite number and infinity nothing can be interpolated."""
    median = EpisodeMedian(np.array([[1.0, 2, 3, 4, 5, np.inf, np.inf]]))
    interval = bootstrap_interval(median)
    assert (interval.low, interval.high) == (2.0, np.inf)


def test_the_mean_is_over_runs():
    """Medians 10 and 30 of two runs that agree in everything else: 20 on average, surely."""
    still = EpisodeMedian(np.array([[10.0] * 9, [30.0] * 9]))
    interval = bootstrap_interval(still)
    assert (interval.low, interval.high) == (20.0, 20.0)


def test_draws_keep_the_size_of_each_kind_and_depend_on_the_seed_alone():
    strata = np.array([0, 1, 0, 1, 0])
    weights = resampling_weights(strata, 500, seed=0)
    assert (weights[:, strata == 0].sum(axis=1) == 3).all()
    assert (weights[:, strata == 1].sum(axis=1) == 2).all()
    assert weights.mean(axis=0) == pytest.approx(np.ones(5), abs=0.1)
    # Counted once, in the first version; a seed stands for the same draws ever since.
    assert weights[:3].tolist() == [[2, 2, 0, 0, 1], [3, 1, 0, 1, 0], [1, 1, 0, 1, 2]]
    assert (resampling_weights(strata, 3, seed=1) != weights[:3]).any()
    # Other episodes of another kind change nothing.
    np.testing.assert_array_equal(
        resampling_weights(np.array([0, 0, 0]), 500, seed=0), weights[:, strata == 0]
    )


def test_seed_zero_unless_told_otherwise():
    mean = FrameMean(np.random.default_rng(0).normal(size=(1, 15)), np.ones(15), "line")
    usual = bootstrap_interval(mean)
    assert usual == bootstrap_interval(mean, level=0.95, seed=0)
    assert usual != bootstrap_interval(mean, seed=1)
