"""Predictions against true values."""

import math

import numpy as np
import pytest

from goalward.metrics.truth.errors import truth_scores

INF = math.inf


def test_by_hand():
    """Errors 0.3, -0.1 in one episode, 0.1, 0.1 in another, 0.6, 0.2 in a third."""
    predicted = np.array([0.5, 0.1, 0.3, 0.3, 0.9, 0.5])
    true = np.array([0.2, 0.2, 0.2, 0.2, 0.3, 0.3])
    scores = truth_scores(predicted, true, np.array([4, 4, 2, 2, 9, 9]))
    assert scores.bias.mean.value == pytest.approx(0.2)
    assert scores.absolute.mean.value == pytest.approx(1.4 / 6)
    # Episode means 0.1, 0.1, 0.4: their standard deviation over the root of 3.
    assert scores.bias.standard_error.value == pytest.approx(math.sqrt(0.03) / math.sqrt(3))
    assert (scores.num_frames, scores.num_episodes) == (6, 3)
    # t quantile of 2 degrees of freedom: 4.303 (Student's table).
    assert scores.bias.interval.low == pytest.approx(0.2 - 4.303 * 0.1, abs=1e-4)


def test_copies_of_frames_make_nothing_surer():
    """Ten copies of every frame of an episode say no more than one."""
    rng = np.random.default_rng(0)
    error, episode = rng.normal(size=12), np.arange(12)
    once = truth_scores(error, np.zeros(12), episode)
    copies = truth_scores(np.repeat(error, 10), np.zeros(120), np.repeat(episode, 10))
    assert copies.bias.standard_error.value == pytest.approx(once.bias.standard_error.value)
    assert copies.absolute.interval.high == pytest.approx(once.absolute.interval.high)


def test_steps_have_a_ceiling():
    """300 and never both count as 100; so does a truth of never."""
    predicted, true = np.array([300.0, INF, 40, 90]), np.array([INF, 50.0, 60, INF])
    scores = truth_scores(predicted, true, np.arange(4), ceiling=100)
    assert scores.bias.mean.value == pytest.approx((0 + 50 - 20 - 10) / 4)
    assert scores.absolute.mean.value == pytest.approx(80 / 4)


def test_never_without_a_ceiling_has_no_mean():
    scores = truth_scores(np.array([1.0, INF]), np.array([1.0, 2]), np.arange(2))
    assert scores.bias.mean.reason == "some steps are infinite: no mean without a ceiling"
    assert not scores.absolute.interval.defined


def test_no_frames_and_one_episode():
    nothing = truth_scores(np.array([]), np.array([]), np.array([], dtype=np.int64))
    assert nothing.bias.mean.reason == "no frame has a known truth"
    one = truth_scores(np.array([0.5, 0.4]), np.array([0.4, 0.4]), np.array([0, 0]))
    assert one.bias.mean.value == pytest.approx(0.05)
    assert "at least two episodes" in one.bias.standard_error.reason


def test_runs_are_averaged_and_widen_the_interval():
    rng = np.random.default_rng(2)
    error, episode = rng.normal(size=30), np.arange(30) // 3
    same = truth_scores(np.stack([error, error]), np.zeros(30), episode)
    apart = truth_scores(np.stack([error - 1, error + 1]), np.zeros(30), episode)
    assert apart.bias.mean.value == pytest.approx(same.bias.mean.value)
    assert apart.bias.standard_error.value == pytest.approx(same.bias.standard_error.value)
    assert apart.bias.interval.low < same.bias.interval.low


def test_wrong_input():
    with pytest.raises(ValueError, match="predicted"):
        truth_scores(np.zeros(3), np.zeros(2), np.zeros(2, dtype=np.int64))
    with pytest.raises(ValueError, match="NaN"):
        truth_scores(np.array([np.nan]), np.zeros(1), np.zeros(1, dtype=np.int64))
