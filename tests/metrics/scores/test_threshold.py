"""The composite at a threshold learned in training."""

import math

import numpy as np
import pytest

from goalward.metrics.scores.predictions import Predictions
from goalward.metrics.scores.threshold import best_threshold, composite_at, composite_at_best
from goalward.metrics.uncertainty.weighing import only_score, scores_by_run
from goalward.rollouts.endings import Endings

INF = math.inf
PAIR = Endings(np.array([3, 6]), np.array([2, -1]))


def test_threshold_lies_halfway():
    assert best_threshold(np.array([50.0, 30, 10, 80, 90, 99]), PAIR, 9).value == 65


def test_never_can_be_the_split():
    """All numbers of steps on one side, never on the other."""
    threshold = best_threshold(np.array([50.0, 30, 10, INF, INF, INF]), PAIR, 9)
    assert threshold.value == INF
    composite = composite_at(np.array([1e6, 30, 10, INF, INF, 5]), PAIR, 9, threshold.value)
    assert only_score(composite).value == pytest.approx((1 + 2 / 3) / 2)


def test_useless_predictions_score_one_half():
    for steps in (np.full(6, 7.0), np.array([9.0, 9, 9, 1, 1, 1])):
        threshold = best_threshold(steps, PAIR, 9).value
        assert only_score(composite_at(steps, PAIR, 9, threshold)).value == 0.5


def test_neighbouring_numbers_are_still_split():
    """Halfway between two neighbouring floats is one of them."""
    low = 1.0
    high = np.nextafter(low, 2)
    steps = np.array([low, low, low, high, high, high])
    threshold = best_threshold(steps, PAIR, 9).value
    assert only_score(composite_at(steps, PAIR, 9, threshold)).value == 1


def test_the_first_of_equally_good_thresholds():
    """One of three right and none wrong, or all right and two of three wrong."""
    steps = np.array([1.0, 9, 9, 5, 5, 20])
    assert best_threshold(steps, PAIR, 9).value == 3


@pytest.mark.parametrize("pool", ["frames", "episodes"])
@pytest.mark.parametrize("seed", range(4))
def test_no_other_threshold_is_better(seed, pool):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 8, 10)
    goals = np.where(np.arange(10) < 5, lengths - 1, -1)
    endings = Endings(np.cumsum(lengths), goals)
    steps = rng.integers(0, 12, endings.num_frames).astype(float)
    steps[steps == 11] = INF
    best = best_threshold(steps, endings, 4, pool=pool).value
    reached = only_score(composite_at(steps, endings, 4, best, pool=pool)).value
    others = [
        only_score(composite_at(steps, endings, 4, threshold, pool=pool)).value
        for threshold in np.append(np.arange(-0.5, 13), INF)
    ]
    assert reached == pytest.approx(max(others))


def test_training_chooses_and_test_is_scored():
    """A scale that is off by ten costs nothing; what differs in test does.

    Training is split at 50. In test 20, 60, 0 are two of three below it, 80, 30, 90 two of three
    not below.
    """
    training = Predictions(10 * np.array([2.0, 1, 0, 8, 9, 9]), PAIR, horizon=5)
    test = Predictions(10 * np.array([2.0, 6, 0, 8, 3, 9]), PAIR, 5, training)
    assert best_threshold(training.steps[0], PAIR, 5).value == 50
    composite = composite_at_best(test)
    assert only_score(composite).value == pytest.approx(2 / 3)
    # Two shares: an imagined pair of episodes of each kind keeps their interval honest.
    assert composite.imagined().strata.tolist() == [0] * 3 + [1] * 3


def test_every_seed_has_a_threshold_of_its_own():
    """The second seed says ten times as much everywhere; at the first one's threshold it fails."""
    steps = np.array([[2.0, 1, 0, 8, 9, 9]]) * np.array([[1.0], [10.0]])
    training = Predictions(steps, PAIR, horizon=5)
    scores = scores_by_run(composite_at_best(Predictions(steps, PAIR, 5, training)))
    assert [score.value for score in scores] == [1, 1]


def test_the_pool_decides_which_threshold_is_best():
    """Five frames of one time-out against one of another: frames side with the long one."""
    endings = Endings(np.array([1, 2, 7, 8]), np.array([0, 0, -1, -1]))
    steps = np.array([1.0, 7, 9, 9, 9, 9, 9, 5])
    assert best_threshold(steps, endings, 9, pool="frames").value == 8
    assert best_threshold(steps, endings, 9, pool="episodes").value == 3
    learned = {pool: Predictions(steps, endings, 9, None, pool) for pool in ("frames", "episodes")}
    # In test the long time-out once looks near: 1 of its 5 frames, and of 6 in all.
    test = np.array([1.0, 7, 1, 9, 9, 9, 9, 9])
    scores = [
        only_score(composite_at_best(Predictions(test, endings, 9, training, pool))).value
        for pool, training in learned.items()
    ]
    assert scores == pytest.approx([(1 + 5 / 6) / 2, (1 / 2 + (4 / 5 + 1) / 2) / 2])


def test_missing_kinds():
    only_success = Endings(np.array([3]), np.array([2]))
    only_other = Endings(np.array([3]), np.array([-1]))
    for training, reason in (
        (None, "no episode was only learned from"),
        (Predictions(np.zeros(3), only_success, 5), "in training: no episode without success"),
        (Predictions(np.zeros(3), only_other, 5), "in training: no episode succeeded"),
    ):
        assert composite_at_best(Predictions(np.zeros(6), PAIR, 5, training)) == reason
    training = Predictions(np.arange(6.0), PAIR, 5)
    scored = composite_at_best(Predictions(np.zeros(3), only_success, 5, training))
    assert only_score(scored).reason == "no episode without success"
