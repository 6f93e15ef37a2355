"""Predicted chances against what happened, and what the clock hides."""

import numpy as np
import pytest

from goalward.metrics.scores.calibration import calibration, calibration_of_success, success_within
from goalward.rollouts.endings import Endings
from goalward.values.clocks import task_clocks


def test_what_is_known_under_a_clock_of_six_frames():
    """Within two steps: frames 0..3 have two more on the clock, whatever became of them."""
    # Success at frame 4 (of 0..5), time-out, failure at frame 2, time-out stopped early.
    endings = Endings(
        np.array([6, 12, 15, 19]),
        np.array([4, -1, -1, -1]),
        np.array([False, False, True, False]),
    )
    reached, known = success_within(endings, 2)
    assert reached[:6].tolist() == [False, False, True, True, True, False]
    assert known[:6].tolist() == [True, True, True, True, False, False]
    assert not reached[6:].any()
    assert known[6:12].tolist() == [True, True, True, True, False, False]
    assert known[12:15].all(), "a failure is known never to succeed"
    assert known[15:].tolist() == [True, True, False, False]


def test_time_limit_given():
    """Frame 3 of the success is filmed after the goal, whatever the clock."""
    endings = Endings(np.array([4]), np.array([2]))
    assert success_within(endings, 2)[1].tolist() == [True, True, False, False]
    assert success_within(endings, 2, time_limit=10)[1].tolist() == [True, True, True, False]
    assert not success_within(endings, 2, time_limit=2)[1].any()


def constant_hazard(num_episodes, hazard, time_limit, seed):
    """Episodes that succeed with the same chance at every step, stopped by one clock."""
    goal = np.random.default_rng(seed).geometric(hazard, num_episodes)
    success = goal < time_limit
    lengths = np.where(success, goal + 1, time_limit)
    return Endings(np.cumsum(lengths), np.where(success, goal, -1))


def test_the_clock_does_not_bias_what_counts():
    """Chances that are right look right; leaving out only what is unknown, they would not."""
    hazard, num_steps = 0.02, 30
    endings = constant_hazard(4000, hazard, time_limit=60, seed=0)
    chance = np.where(endings.steps == 0, 1.0, 1 - (1 - hazard) ** num_steps)
    result = calibration_of_success(chance, endings, num_steps)
    (running,) = [b for b in result.bins if b.predicted < 0.9]
    assert running.observed_interval.low < running.predicted < running.observed_interval.high
    assert running.observed == pytest.approx(running.predicted, abs=0.015)

    reached, _ = success_within(endings, num_steps)
    left = (endings.lengths - 1)[endings.episode_of] - endings.frame_in_episode
    shown = (endings.steps > 0) | (~endings.success[endings.episode_of] & (left >= num_steps))
    assert reached[shown].mean() > running.predicted + 0.04


def test_clocks_that_differ_do_not_bias_what_counts():
    """Half run out after 40 steps, half after 160; chances that are right look right."""
    short, long = (constant_hazard(3000, 0.02, limit, seed=limit) for limit in (41, 161))
    ends = np.concatenate([short.episode_ends, short.num_frames + long.episode_ends])
    endings = Endings(ends, np.concatenate([short.goal_frames, long.goal_frames]))
    chance = np.where(endings.steps == 0, 1.0, 1 - 0.98**30)

    def running(limits):
        found = calibration_of_success(chance, endings, 30, time_limit=limits)
        return next(b for b in found.bins if b.predicted < 0.9)

    for limits in (task_clocks(endings, [""] * 6000) + 1, np.repeat([41, 161], 3000)):
        assert running(limits).observed == pytest.approx(running(limits).predicted, abs=0.015)
    assert running(161).observed > running(161).predicted + 0.03


def test_bins_by_hand():
    """0.1, 0.15 together, 0.95, 1.0 together; nothing between."""
    predicted, observed = np.array([0.1, 0.15, 0.95, 1.0]), np.array([0.0, 1, 1, 1])
    result = calibration(predicted, observed, np.array([0, 1, 1, 2]))
    low, high = result.bins
    assert low.edges == (0.1, 0.2)
    assert (low.predicted, low.observed) == (pytest.approx(0.125), 0.5)
    assert (low.num_frames, low.num_episodes) == (2, 2)
    assert high.edges == (0.9, 1.0)
    assert (high.predicted, high.observed) == (pytest.approx(0.975), 1.0)
    squares = 0.1**2 + 0.85**2 + 0.05**2 + 0
    assert result.brier.value == pytest.approx(squares / 4)
    assert result.reliability.value == pytest.approx((0.375**2 + 0.025**2) / 2)
    assert result.resolution.value == pytest.approx(0.25**2)
    assert result.uncertainty.value == pytest.approx(0.75 * 0.25)
    assert result.expected_error.value == pytest.approx((0.375 + 0.025) / 2)


@pytest.mark.parametrize("num_tries", [1, 4])
def test_the_parts_make_the_brier_score(num_tries):
    """Within bins: variance of the predictions less twice their covariance with what happened."""
    rng = np.random.default_rng(0)
    predicted = rng.random(500)
    observed = rng.binomial(num_tries, predicted) / num_tries
    result = calibration(predicted, observed, np.arange(500) // 10, num_bins=4)
    within = 0.0
    for i in range(4):
        chosen = (predicted * 4).astype(int) == i
        p, y = predicted[chosen], observed[chosen]
        within += chosen.sum() / 500 * (p.var() - 2 * np.cov(p, y, ddof=0)[0, 1])
    assert result.within_bins.value == pytest.approx(within)
    parts = result.reliability.value - result.resolution.value + result.uncertainty.value
    assert result.brier.value == pytest.approx(parts + within)


def test_equal_predictions_leave_nothing_within_bins():
    """Murphy's (1973) three parts are then the whole score."""
    rng = np.random.default_rng(1)
    predicted = rng.choice([0.05, 0.35, 0.75], 300)
    observed = (rng.random(300) < predicted).astype(float)
    result = calibration(predicted, observed, np.arange(300))
    assert result.within_bins.value == pytest.approx(0, abs=1e-12)


def test_perfect_and_useless_predictions():
    observed = np.array([0.0, 1, 0, 1])
    perfect = calibration(observed, observed, np.arange(4))
    assert perfect.brier.value == perfect.reliability.value == perfect.expected_error.value == 0
    base_rate = calibration(np.full(4, 0.5), observed, np.arange(4))
    assert base_rate.reliability.value == base_rate.resolution.value == 0
    assert base_rate.brier.value == base_rate.uncertainty.value == 0.25


def test_one_episode_has_scores_but_no_intervals():
    result = calibration(np.array([0.2, 0.3]), np.array([0.0, 1]), np.array([5, 5]))
    assert result.brier.defined
    assert "at least two episodes" in result.brier_interval.reason
    assert "at least two episodes" in result.bins[0].observed_interval.reason


def test_no_frame_with_enough_time_left():
    endings = Endings(np.array([3, 6]), np.array([2, -1]))
    result = calibration_of_success(np.zeros(6), endings, num_steps=5)
    assert result.brier.reason == "no frame had 5 more steps on the clock"
    assert not result.expected_error.defined
    assert result.bins == ()
    empty = Endings(np.array([], dtype=np.int64), np.array([], dtype=np.int64))
    assert not calibration_of_success(np.array([]), empty, 5).brier.defined


def test_a_chance_lies_between_0_and_1():
    with pytest.raises(ValueError, match="between 0 and 1"):
        calibration(np.array([1.1]), np.array([1.0]), np.array([0]))
