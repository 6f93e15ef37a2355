"""The paper's metrics, counted by hand."""

import math

import numpy as np
import pytest

from goalward.metrics.scores.paper_metrics import (
    composite_share,
    failure_share,
    paper_metrics,
    success_share,
)
from goalward.metrics.uncertainty.weighing import only_score, scores_by_run
from goalward.rollouts.endings import Endings

INF = math.inf
# Success with goal frame 4 of 0..5, success of two frames, time-out of four, failure of one.
ENDINGS = Endings(
    np.array([6, 8, 12, 13]), np.array([4, 1, -1, -1]), np.array([False, False, False, True])
)
# Horizon 3. First: last three frames up to the goal 2.9, 3.0, 0 against N = 3: two right.
# Second: shorter than the horizon, 1.99 and 2.0 against N = 2: one right.
# Third: 3.0, 3.01, inf, 1 above 3: two right. Fourth: 4 above 3: right.
STEPS = np.array([9, 9, 2.9, 3.0, 0, 99, 1.99, 2.0, 3.0, 3.01, INF, 1, 4])


def test_by_hand_over_frames():
    scores = paper_metrics(STEPS, ENDINGS, horizon=3)
    assert scores.success.value == pytest.approx(3 / 5)
    assert scores.failure.value == pytest.approx(3 / 5)
    assert scores.composite.value == pytest.approx(3 / 5)


def test_frames_are_pooled_unless_told_otherwise():
    for share in (success_share, failure_share, composite_share):
        assert only_score(share(STEPS, ENDINGS, 3)).value == pytest.approx(3 / 5)


def test_by_hand_over_episodes():
    scores = paper_metrics(STEPS, ENDINGS, horizon=3, pool="episodes")
    assert scores.success.value == pytest.approx((2 / 3 + 1 / 2) / 2)
    assert scores.failure.value == pytest.approx((2 / 4 + 1) / 2)
    assert scores.composite.value == pytest.approx((7 / 12 + 3 / 4) / 2)


def test_frames_after_the_goal_count_nowhere():
    changed = STEPS.copy()
    changed[5] = 0
    assert paper_metrics(changed, ENDINGS, 3) == paper_metrics(STEPS, ENDINGS, 3)


def test_frames_before_the_last_ones_count_nowhere():
    changed = STEPS.copy()
    changed[:2] = 0
    assert paper_metrics(changed, ENDINGS, 3) == paper_metrics(STEPS, ENDINGS, 3)


def test_a_failure_counts_like_a_time_out():
    timed_out = Endings(ENDINGS.episode_ends, ENDINGS.goal_frames)
    assert paper_metrics(STEPS, timed_out, 3) == paper_metrics(STEPS, ENDINGS, 3)


@pytest.mark.parametrize("horizon", [1, 3, 20])
def test_the_truth_scores_one(horizon):
    """Recorded steps before a goal, never elsewhere."""
    steps = np.where(ENDINGS.steps >= 0, ENDINGS.steps, INF)
    scores = paper_metrics(steps, ENDINGS, horizon)
    assert scores.success.value == scores.failure.value == scores.composite.value == 1


def test_constant_predictions_score_one_half():
    """Always near and always far are equally useless."""
    for constant in (0.0, INF):
        scores = paper_metrics(np.full(13, constant), ENDINGS, 3)
        assert scores.composite.value == 0.5


def test_a_success_of_one_frame():
    endings = Endings(np.array([1]), np.array([0]))
    assert paper_metrics(np.array([0.99]), endings, 10).success.value == 1
    assert paper_metrics(np.array([1.0]), endings, 10).success.value == 0


def test_a_missing_kind_is_named():
    only_success = paper_metrics(np.zeros(2), Endings(np.array([2]), np.array([1])), 5)
    assert only_success.success.value == 1
    assert only_success.failure.reason == "no episode without success"
    assert only_success.composite.reason == "no episode without success"
    only_other = paper_metrics(np.zeros(2), Endings(np.array([2]), np.array([-1])), 5)
    assert only_other.success.reason == "no episode succeeded"
    assert only_other.failure.value == 0
    empty = Endings(np.array([], dtype=np.int64), np.array([], dtype=np.int64))
    nothing = paper_metrics(np.array([]), empty, 5)
    assert nothing.composite.reason == "no episode succeeded; no episode without success"


def test_runs_side_by_side():
    """Many runs at once give what each gives alone."""
    runs = np.stack([STEPS, np.zeros(13), np.full(13, INF)])
    together = scores_by_run(composite_share(runs, ENDINGS, 3))
    assert together == tuple(paper_metrics(run, ENDINGS, 3).composite for run in runs)


def test_nan_is_refused():
    with pytest.raises(ValueError, match="NaN"):
        success_share(np.full(13, np.nan), ENDINGS, 3)
