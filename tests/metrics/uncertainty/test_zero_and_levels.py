"""Could it be zero; and what an interval says of itself: its level, or why there is none."""

import math

import numpy as np
import pytest
from scipy import stats

from goalward.metrics.score import Interval, Score
from goalward.metrics.uncertainty.intervals import (
    ONE_EPISODE,
    over_episodes,
    over_seeds,
    over_seeds_and_episodes,
    standard_error,
    zero_test,
)
from goalward.metrics.uncertainty.weighing import Average, FrameMean

# Two seeds with means 0.25 and 0.75, two episodes with means 0.4 and 0.6, no interaction: the
# variance is 0.125 / 2 over seeds and 0.02 / 2 over episodes.
CROSSED = FrameMean(np.array([[0.15, 0.35], [0.65, 0.85]]), np.ones(2), scale="line")
ONE = FrameMean(np.ones((3, 1)), np.ones(1), scale="share")


def test_the_standard_error_speaks_of_episodes_alone():
    assert standard_error(CROSSED).value == pytest.approx(math.sqrt(0.01))
    assert standard_error(ONE) == Score(None, ONE_EPISODE)


def test_zero_counts_seeds_and_episodes():
    found = zero_test(CROSSED)
    variance = 0.0625 + 0.01
    freedom = variance**2 / (0.0625**2 + 0.01**2)
    assert found.statistic == pytest.approx(0.5 / math.sqrt(variance))
    assert found.p_value == pytest.approx(2 * stats.t.sf(0.5 / math.sqrt(variance), freedom))
    assert found.reason == ""
    below = zero_test(FrameMean(-CROSSED.total, np.ones(2), scale="line"))
    assert below.statistic == pytest.approx(-found.statistic)
    assert below.p_value == pytest.approx(found.p_value)


def test_zero_where_nothing_varies():
    """Three episodes that are all 0 are zero; three that are all 2 are not."""
    for level, p_value in ((0.0, 1.0), (2.0, 0.0), (1.0, 0.0)):
        found = zero_test(FrameMean(np.full((2, 3), level), np.ones(3), scale="line"))
        assert (found.statistic, found.p_value) == (None, p_value)
        assert found.reason == "neither seeds nor episodes vary"


def test_zero_where_the_variance_is_one():
    """Numbers 0, 2, 4 with the standard error 2 / sqrt(3) -> 1 after scaling by sqrt(3) / 2."""
    numbers = np.array([[0.0, 2, 4]]) * math.sqrt(3) / 2
    found = zero_test(FrameMean(numbers, np.ones(3), scale="line"))
    assert found.statistic == pytest.approx(math.sqrt(3))
    # Student's table, 2 degrees of freedom: 1.732 lies between 1.386 (0.3) and 1.886 (0.2).
    assert 0.2 < found.p_value < 0.3


def test_zero_of_one_episode_is_unknown():
    found = zero_test(ONE)
    assert (found.statistic, found.p_value, found.reason) == (None, None, ONE_EPISODE)


def test_one_kind_of_episodes_may_not_be_single():
    many = FrameMean(np.ones((3, 4)), np.ones(4), scale="share")
    assert over_episodes(Average((many, ONE))).reason == ONE_EPISODE
    assert over_episodes(Average((many, many))).reason == ""


@pytest.mark.parametrize("interval", [over_episodes, over_seeds_and_episodes])
def test_intervals_carry_their_level(interval):
    assert interval(CROSSED).level == 0.95
    assert interval(CROSSED, level=0.8).level == 0.8
    assert interval(ONE, level=0.8) == Interval(None, None, 0.8, ONE_EPISODE)


def test_intervals_over_seeds_carry_their_level():
    scores = [Score(0.1), Score(0.3)]
    assert over_seeds(scores).interval.level == 0.95
    found = over_seeds(scores, level=0.5)
    assert found.interval.level == 0.5
    # Student's table: 1.000 for one degree of freedom, half of it beyond.
    assert (found.interval.low, found.interval.high) == pytest.approx((0.1, 0.3))
    assert found.num_seeds == 2


def test_what_is_not_known_over_seeds_is_said_of_everything():
    missing = Score(None, "no episode succeeded")
    found = over_seeds([missing, missing], level=0.5)
    assert found.mean == found.standard_deviation == missing
    assert found.interval == Interval(None, None, 0.5, "no episode succeeded")
    assert found.num_seeds == 2
    one = over_seeds([Score(0.5)], level=0.5)
    assert one.interval == Interval(None, None, 0.5, "one seed")
    assert one.num_seeds == 1


@pytest.mark.parametrize(("scale", "low", "high"), [("share", 0, 1), ("correlation", -1, 1)])
def test_the_interval_over_seeds_is_cut_to_what_a_score_can_be(scale, low, high):
    found = over_seeds([Score(0.0), Score(0.5)], scale=scale)
    assert (found.interval.low, found.interval.high) == (low, high)


def test_a_correlation_is_bounded_through_fisher_s_transform():
    """artanh has the slope 1 / (1 - r^2): r = 0.6 and a standard error of 0.08."""
    numbers = 0.6 + 0.08 * math.sqrt(2) * np.array([[-1.0, 0, 1, 0, 0]]) * math.sqrt(5)
    mean = FrameMean(numbers, np.ones(5), scale="correlation")
    assert standard_error(mean).value == pytest.approx(0.08)
    # Student's table: 2.776 for 4 degrees of freedom.
    reach = 2.7764 * 0.08 / (1 - 0.36)
    interval = over_episodes(mean)
    assert interval.low == pytest.approx(math.tanh(math.atanh(0.6) - reach), abs=1e-4)
    assert interval.high == pytest.approx(math.tanh(math.atanh(0.6) + reach), abs=1e-4)


class AsItIs(FrameMean):
    """A share to which no episode is imagined."""

    def imagined(self):
        return None


def test_a_share_is_bounded_through_its_log_odds():
    """Two episodes of 0.3 and 0.5: log-odds of 0.4, slope 1 / 0.24, standard error 0.1."""
    interval = over_episodes(AsItIs(np.array([[0.3, 0.5]]), np.ones(2), "share"), level=0.5)
    # Student's table: 1.000 for one degree of freedom, half of it beyond.
    odds, reach = math.log(0.4 / 0.6), 0.1 / 0.24
    assert interval.low == pytest.approx(1 / (1 + math.exp(-(odds - reach))))
    assert interval.high == pytest.approx(1 / (1 + math.exp(-(odds + reach))))


@pytest.mark.parametrize("right", [0.98, 0.95, 0.05, 0.02])
def test_the_interval_of_a_share_spans_both(right):
    """One episode of twenty is half right, the others alike: each end is the farther of two."""
    share = FrameMean(np.array([[0.5] + [right] * 19]), np.ones(20), "share")
    more = share.imagined()
    found = over_episodes(share)
    bare = over_episodes(AsItIs(share.total, share.num_frames, "share"))
    imagined = over_episodes(AsItIs(more.total, more.num_frames, "share"))
    assert found.low == min(bare.low, imagined.low)
    assert found.high == max(bare.high, imagined.high)
    assert (bare.low < imagined.low) == (right < 0.5)
    assert (bare.high > imagined.high) == (right > 0.5)
