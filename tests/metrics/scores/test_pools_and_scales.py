"""By frames or by episodes, on which scale, with which defaults: what scores hand on to others."""

import numpy as np
import pytest

from goalward.metrics.score import Interval, Score
from goalward.metrics.scores.calibration import calibration, calibration_of_success
from goalward.metrics.scores.card import scorecard
from goalward.metrics.scores.paper_metrics import composite_share, paper_metrics
from goalward.metrics.scores.table import SCORES, table_of
from goalward.metrics.scores.threshold import best_threshold, composite_at, far_share, near_share
from goalward.metrics.uncertainty.intervals import over_episodes
from goalward.metrics.uncertainty.weighing import FrameMean, only_score
from goalward.rollouts.endings import Endings

# Successes of 1 and 3 frames, others of 1 and 3 frames; the short ones look right, the long wrong.
ENDINGS = Endings(np.array([1, 4, 5, 8]), np.array([0, 2, -1, -1]))
STEPS = np.array([0.0, 50, 50, 50, 50, 0, 0, 0])
BY_POOL = [("frames", 1 / 4), ("episodes", 1 / 2)]


@pytest.mark.parametrize(("pool", "share"), BY_POOL)
def test_shares_by_frames_and_by_episodes(pool, share):
    found = paper_metrics(STEPS, ENDINGS, 9, pool=pool)
    assert (found.success.value, found.failure.value, found.composite.value) == (share,) * 3
    assert only_score(composite_share(STEPS, ENDINGS, 9, pool=pool)).value == share
    assert only_score(near_share(STEPS, ENDINGS, 9, 20.0, pool=pool)).value == share
    assert only_score(far_share(STEPS, ENDINGS, 20.0, pool=pool)).value == share
    assert only_score(composite_at(STEPS, ENDINGS, 9, 20.0, pool=pool)).value == share
    card = scorecard(STEPS[None], ENDINGS, 9, training=(STEPS[None], ENDINGS), pool=pool)
    for name in ("success", "failure", "composite"):
        assert card[name].by_seed[0].value == share


def test_by_frames_unless_told_otherwise():
    assert paper_metrics(STEPS, ENDINGS, 9).composite.value == 1 / 4
    assert only_score(composite_share(STEPS, ENDINGS, 9)).value == 1 / 4
    assert only_score(composite_at(STEPS, ENDINGS, 9, 20.0)).value == 1 / 4
    assert scorecard(STEPS[None], ENDINGS, 9)["composite"].by_seed[0].value == 1 / 4


def test_the_best_threshold_weighs_frames_or_episodes():
    """Successes of 1 frame at 1 and 9 at 5; others of 1 frame at 3 and, twice, of 9 at 9.

    Of every episode the last 3 frames of a success count. By frames 1/4 and 3/4 of the successes
    and 1/19 of the others: best is between 5 and 9. By episodes 1/2 and 1/2 against 1/3: there too.
    """
    endings = Endings(np.array([1, 10, 11, 20, 29]), np.array([0, 8, -1, -1, -1]))
    steps = np.repeat([1.0, 5, 3, 9, 9], [1, 9, 1, 9, 9])
    assert best_threshold(steps, endings, 3).value == 7
    assert best_threshold(steps, endings, 3, pool="episodes").value == 7
    # With one other episode less it is 1/2 against 1/2, and the smallest of equals is taken.
    fewer = Endings(np.array([1, 10, 11, 20]), np.array([0, 8, -1, -1]))
    assert best_threshold(steps[:20], fewer, 3).value == 7
    assert best_threshold(steps[:20], fewer, 3, pool="episodes").value == 2


def test_shares_at_a_threshold_are_shares_and_say_what_is_missing():
    none = Endings(np.array([2]), np.array([-1]))
    every = Endings(np.array([2]), np.array([1]))
    near, far = near_share(np.ones(2), none, 9, 1.0), far_share(np.ones(2), every, 1.0)
    assert (near.scale, far.scale) == ("share", "share")
    assert near.reasons == ("no episode succeeded",)
    assert far.reasons == ("no episode without success",)


def test_a_card_cuts_intervals_over_seeds_to_what_a_score_can_be():
    steps = np.stack([np.where(ENDINGS.success[ENDINGS.episode_of], 0.0, 50.0), STEPS])
    row = scorecard(steps, ENDINGS, 9)["composite"]
    assert [score.value for score in row.by_seed] == [1, 1 / 4]
    assert (row.over_seeds.interval.low, row.over_seeds.interval.high) == (0, 1)


def test_a_score_that_is_not_defined_has_an_interval_that_is_not():
    missing = scorecard(STEPS[None], ENDINGS, 9)["composite_at_threshold"]
    reason = "no episode was only learned from"
    assert missing.interval == Interval(None, None, 0.95, reason)
    assert missing.by_seed == (Score(None, reason),)


def test_a_table_of_scores_has_every_name_once():
    success, failure = SCORES["success"], SCORES["failure"]
    assert table_of(success, failure) == {"success": success, "failure": failure}
    with pytest.raises(ValueError, match="^two scores have the same name$"):
        table_of(success, failure, success)


# ---- calibration -------------------------------------------------------------------------------

PREDICTED = np.array([0.05, 0.05, 0.95, 0.95])
OBSERVED = np.array([0.0, 1, 1, 1])
EPISODE = np.array([0, 1, 0, 1])


def test_ten_bins_unless_told_otherwise():
    ten, five = (
        calibration(PREDICTED, OBSERVED, EPISODE),
        calibration(PREDICTED, OBSERVED, EPISODE, num_bins=5),
    )
    assert [found.edges for found in ten.bins] == [(0, 0.1), (0.9, 1)]
    assert [found.edges for found in five.bins] == [(0, 0.2), (0.8, 1)]
    assert ten.num_frames == 4


def test_intervals_of_bins_are_those_of_shares_and_that_of_the_score_is_not():
    """Per episode: observed 0 and 1 in the first bin; squared errors 0.0025 twice and 0.9025."""
    found = calibration(PREDICTED, OBSERVED, EPISODE)
    share = FrameMean(np.array([[0.0, 1]]), np.ones(2), "share")
    assert found.bins[0].observed_interval == over_episodes(share)
    squared = FrameMean(np.array([[0.0025 + 0.0025, 0.9025 + 0.0025]]), np.full(2, 2.0), "line")
    assert found.brier_interval.low == pytest.approx(over_episodes(squared).low)
    assert found.brier_interval.high == pytest.approx(over_episodes(squared).high)


def test_no_frames_no_calibration():
    nothing = np.zeros(0)
    found = calibration(nothing, nothing, np.zeros(0, dtype=int))
    missing = Score(None, "no frames")
    assert found.brier == found.reliability == found.resolution == missing
    assert found.uncertainty == found.within_bins == found.expected_error == missing
    assert found.brier_interval == Interval(None, None, 0.95, "no frames")
    assert (found.bins, found.num_frames) == ((), 0)


def test_a_chance_that_is_none():
    for wrong in (-0.1, 1.1):
        with pytest.raises(ValueError, match="^a predicted chance lies between 0 and 1$"):
            calibration(np.array([wrong]), np.array([1.0]), np.array([0]))


def test_the_clock_and_the_bins_of_success_arrive():
    """Two successes of 4 frames: within 2 steps the last two frames are known with time left."""
    endings = Endings(np.array([4, 8]), np.array([3, 3]))
    chance = np.full(8, 0.25)
    assert calibration_of_success(chance, endings, 2).num_frames == 4
    longer = calibration_of_success(chance, endings, 2, time_limit=9, num_bins=4)
    assert longer.num_frames == 8
    assert [found.edges for found in longer.bins] == [(0.25, 0.5)]
    assert calibration_of_success(chance, endings, 2).bins[0].edges == (0.2, 0.3)
