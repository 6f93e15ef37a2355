"""Intervals over seeds and episodes against textbook formulas."""

import math

import numpy as np
import pytest
from scipy import stats

from goalward.metrics.score import Score
from goalward.metrics.uncertainty.intervals import (
    limits,
    over_episodes,
    over_seeds,
    over_seeds_and_episodes,
    standard_error,
)
from goalward.metrics.uncertainty.weighing import Average, FrameMean

RNG = np.random.default_rng(0)
HITS = RNG.integers(3, 10, (5, 12)).astype(float)
FRAMES = np.full(12, 10.0)


def test_over_seeds_by_the_table():
    """Mean 3, sd 1.5811; Student's table has t = 2.776 for 4 degrees of freedom."""
    summary = over_seeds([Score(value) for value in (1.0, 2, 3, 4, 5)])
    assert summary.mean.value == 3
    assert summary.standard_deviation.value == pytest.approx(math.sqrt(2.5))
    assert summary.interval.high == pytest.approx(3 + 2.776 * math.sqrt(0.5), abs=1e-3)
    assert summary.num_seeds == 5


def test_over_seeds_of_a_share_stays_a_share():
    summary = over_seeds([Score(0.99), Score(0.90)], scale="share")
    assert summary.interval.high == 1
    assert summary.interval.low == pytest.approx(0.945 - 12.706 * 0.045, abs=1e-3)


def test_one_seed_has_no_spread():
    summary = over_seeds([Score(0.5)])
    assert summary.mean.value == 0.5
    assert summary.standard_deviation.reason == summary.interval.reason == "one seed"


def test_a_seed_without_a_score_is_not_left_out():
    summary = over_seeds([Score(0.5), Score(None, "all predictions are equal")])
    assert summary.mean.reason == "in 1 of 2 seeds: all predictions are equal"
    nowhere = over_seeds([Score(None, "no episode succeeded")] * 3)
    assert nowhere.mean.reason == "no episode succeeded"
    assert over_seeds([]).mean.reason == "no seeds"
    assert over_seeds([Score(math.inf), Score(1.0)]).mean.reason == "infinite for at least one seed"


def test_equal_episodes_on_the_line_give_the_plain_t_interval():
    mean = FrameMean(HITS[:1], FRAMES, scale="line")
    per_episode = HITS[0] / 10
    error = per_episode.std(ddof=1) / math.sqrt(12)
    assert standard_error(mean).value == pytest.approx(error)
    interval = over_episodes(mean)
    # Student's table: 2.201 for 11 degrees of freedom.
    assert interval.low == pytest.approx(per_episode.mean() - 2.201 * error, abs=1e-4)
    assert interval.high == pytest.approx(per_episode.mean() + 2.201 * error, abs=1e-4)


def test_more_frames_of_the_same_episodes_make_nothing_surer():
    once = over_episodes(FrameMean(HITS, FRAMES, scale="share"))
    tenfold = over_episodes(FrameMean(10 * HITS, 10 * FRAMES, scale="share"))
    assert (tenfold.low, tenfold.high) == (pytest.approx(once.low), pytest.approx(once.high))


def test_more_episodes_make_it_surer():
    once = over_episodes(FrameMean(HITS, FRAMES, scale="share"))
    fourfold = over_episodes(FrameMean(np.tile(HITS, 4), np.tile(FRAMES, 4), scale="share"))
    assert fourfold.high - fourfold.low < 0.6 * (once.high - once.low)


def test_seeds_that_agree_add_nothing():
    alike = FrameMean(np.repeat(HITS[:1], 5, axis=0), FRAMES, scale="share")
    both, episodes = over_seeds_and_episodes(alike), over_episodes(alike)
    assert (both.low, both.high) == (pytest.approx(episodes.low), pytest.approx(episodes.high))


def test_crossed_variance_by_hand():
    """Means 0.25, 0.75 of two seeds and 0.4, 0.6 of two episodes, nothing else.

    Over seeds 0.125 / 2, over episodes 0.02 / 2, interaction none; degrees of freedom one each.
    """
    hits = np.array([[0.15, 0.35], [0.65, 0.85]])
    mean = FrameMean(hits, np.ones(2), scale="line")
    variance = 0.0625 + 0.01
    freedom = variance**2 / (0.0625**2 + 0.01**2)
    interval = over_seeds_and_episodes(mean)
    reach = stats.t.ppf(0.975, freedom) * math.sqrt(variance)
    assert interval.high == pytest.approx(0.5 + reach)
    assert interval.low == pytest.approx(0.5 - reach)


def test_interaction_is_counted_once():
    """Seeds, episodes and their interaction all vary: a two-way table by hand.

    Seed means 0.5, 0.7 and episode means 0.3, 0.5, 1.0 leave -0.1, 0.1, 0 and 0.1, -0.1, 0. Mean
    squares over how many numbers each mean has: seeds 0.02 / 2, episodes 0.13 / 3, interaction
    0.04 / (1 * 2) / (2 * 3), which both of the others hold.
    """
    mean = FrameMean(np.array([[0.1, 0.5, 0.9], [0.5, 0.5, 1.1]]), np.ones(3), scale="line")
    by_seed, by_episode = 0.02 / 2, 0.13 / 3
    variance = by_seed + by_episode - 0.04 / 2 / 6
    freedom = variance**2 / (by_seed**2 / 1 + by_episode**2 / 2)
    interval = over_seeds_and_episodes(mean)
    reach = stats.t.ppf(0.975, freedom) * math.sqrt(variance)
    assert (interval.low, interval.high) == pytest.approx((0.6 - reach, 0.6 + reach))


def left_out_one_by_one(hits, frames):
    """The pooled mean and its jackknife error over episodes, in plain loops."""
    num = len(frames)
    without = [
        sum(h for i, h in enumerate(hits) if i != out)
        / sum(f for i, f in enumerate(frames) if i != out)
        for out in range(num)
    ]
    squares = sum((score - sum(without) / num) ** 2 for score in without)
    return sum(hits) / sum(frames), math.sqrt((num - 1) / num * squares)


def on_the_log_odds(share, error, freedom):
    reach = stats.t.ppf(0.975, freedom) * error / (share * (1 - share))
    odds = math.log(share / (1 - share))
    return [1 / (1 + math.exp(-(odds + sign * reach))) for sign in (-1, 1)]


def test_a_share_of_unequal_episodes_in_plain_loops():
    """On the log-odds; spans what two imagined episodes of 0.4 of the usual length would give."""
    hits, frames = [9.0, 3, 20, 7, 1], [10.0, 4, 22, 15, 6]
    plain = on_the_log_odds(*left_out_one_by_one(hits, frames), 4)
    length = 0.4 * sum(frames) / 5
    more = left_out_one_by_one([*hits, length, 0], [*frames, length, length])
    imagined = on_the_log_odds(*more, 6)
    interval = over_episodes(FrameMean(np.array([hits]), np.array(frames), scale="share"))
    assert interval.low == pytest.approx(min(plain[0], imagined[0]))
    assert interval.high == pytest.approx(max(plain[1], imagined[1]))


def test_many_experiments_at_once_are_as_each_alone():
    hits = np.stack([HITS, HITS[::-1] / 2, np.minimum(HITS + 2, 10)])
    frames = np.stack([FRAMES, FRAMES + np.arange(12), 2 * FRAMES])
    lows, highs = limits(FrameMean(hits, frames, scale="share"), with_seeds=True)
    for low, high, some_hits, some_frames in zip(lows, highs, hits, frames, strict=True):
        alone = over_seeds_and_episodes(FrameMean(some_hits, some_frames, scale="share"))
        assert (low, high) == (pytest.approx(alone.low), pytest.approx(alone.high))


def test_interaction_takes_no_more_than_there_is():
    """Episodes agree on average, so that less than nothing would be left: seeds alone count."""
    hits = np.array([[0.2, 0.8, 0.4], [0.8, 0.2, 0.6]])
    mean = FrameMean(hits, np.ones(3), scale="line")
    # Episode means 0.5 each: no variance over episodes; seed means 0.4667, 0.5333.
    by_seed = np.var([1.4 / 3, 1.6 / 3], ddof=1) / 2
    interval = over_seeds_and_episodes(mean)
    assert interval.high - 0.5 == pytest.approx(12.706 * math.sqrt(by_seed), rel=1e-4)


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_episodes_that_are_all_right_are_not_certain(share):
    """20 of 20 right: about the 0.84 of Clopper and Pearson (1934), from the other side too."""
    interval = over_episodes(FrameMean(np.full((1, 20), share * 10), np.full(20, 10.0), "share"))
    ends = sorted((interval.low, interval.high))
    if share == 0:
        ends = [1 - end for end in reversed(ends)]
    assert ends[1] == 1
    assert 0.80 < ends[0] < 0.92


def test_the_interval_holds_the_score_and_stays_within_bounds():
    for hits in (HITS, np.minimum(HITS + 5, 10), HITS * 0 + 10):
        mean = FrameMean(hits, FRAMES, scale="share")
        score = hits.mean() / 10
        interval = over_seeds_and_episodes(mean)
        assert 0 <= interval.low <= score + 1e-12
        assert score - 1e-12 <= interval.high <= 1


def test_the_level_is_kept():
    mean = FrameMean(HITS, FRAMES, scale="share")
    wide, narrow = over_episodes(mean, level=0.99), over_episodes(mean, level=0.8)
    assert wide.low < narrow.low < narrow.high < wide.high
    assert wide.level == 0.99


def test_an_average_of_two_kinds_of_episodes():
    """Its variance is a quarter of the sum of theirs, its degrees of freedom Satterthwaite's."""
    first, second = (
        FrameMean(HITS[:1], FRAMES, "line"),
        FrameMean(HITS[1:2, :7], FRAMES[:7], "line"),
    )
    both = Average((first, second))
    assert both.strata.tolist() == [0] * 12 + [1] * 7
    errors = np.array([stats.sem(HITS[0] / 10), stats.sem(HITS[1, :7] / 10)]) / 2
    assert standard_error(both).value == pytest.approx(math.hypot(*errors))
    freedom = (errors**2).sum() ** 2 / (errors**4 / [11, 6]).sum()
    mean = (HITS[0].mean() + HITS[1, :7].mean()) / 20
    reach = stats.t.ppf(0.975, freedom) * math.hypot(*errors)
    assert over_episodes(both).high == pytest.approx(mean + reach)


def test_too_few_episodes():
    one = FrameMean(HITS[:, :1], FRAMES[:1], scale="share")
    assert "at least two episodes" in over_episodes(one).reason
    none = FrameMean(HITS[:, :0], FRAMES[:0], scale="share", if_empty="no episode succeeded")
    assert over_seeds_and_episodes(none).reason == "no episode succeeded"
    mixed = Average((FrameMean(HITS, FRAMES, scale="share"), one))
    assert "at least two episodes" in over_episodes(mixed).reason
