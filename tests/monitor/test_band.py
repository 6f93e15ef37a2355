"""The bound on false alarms holds on episodes of the same kind, and bad ones are noticed."""

from dataclasses import replace

import numpy as np
import pytest

from goalward.errors import GoalwardError
from goalward.monitor.band import Band, band_of, conformal_rank


def success(generator):
    """A value that falls to the goal at a pace of its own, with noise that lasts."""
    length = int(generator.integers(20, 60))
    noise = np.cumsum(generator.normal(0, 0.03, length))
    return np.linspace(0.6, -0.95, length) + noise


def late_success(generator):
    """Nothing happens until the value falls, early in some episodes and late in others."""
    wait, noise = int(generator.integers(1, 60)), generator.normal(0, 0.05, 75)
    return np.concatenate([np.full(wait, 0.5), np.linspace(0.5, -0.9, 15)]) + noise[: wait + 15]


def test_literal_numbers():
    """Two curves that agree give the shape, the furthest of the other four its width."""
    band = band_of([np.array([0.5, 0.0])] * 6, level=0.5)
    assert band is not None
    assert band.num_calibration == 4
    # Smoothed over five frames that repeat the ends: 3 or 2 of the 5 are the first.
    assert band.centre == pytest.approx((0.3, 0.2))
    assert band.spread == pytest.approx((0.05, 0.05))
    assert band.width == pytest.approx(4.0)
    # Of the frames 0.5, 0, 0.5, 0: their mean and one deviation.
    assert band.ceiling == pytest.approx(0.5)
    assert [band.limit(frame) for frame in (0, 1, 99)] == pytest.approx([0.5, 0.4, 0.4])
    assert replace(band, ceiling=0.45).limit(0) == 0.45
    assert replace(band, ceiling=None).limit(0) == pytest.approx(0.5)


# With 40 successes to calibrate by, the 39th and the 33rd distance are the limits.
@pytest.mark.parametrize(("level", "rate"), [(0.05, 2 / 41), (0.2, 8 / 41)])
@pytest.mark.parametrize("kind", [success, late_success])
def test_successes_stay_inside_as_often_as_promised(kind, level, rate):
    """Over many bands and fresh successes each, for band and ceiling together."""
    generator = np.random.default_rng(0)
    rates = []
    for seed in range(150):
        band = band_of([kind(generator) for _ in range(60)], level, seed=seed)
        assert band is not None
        assert band.level == level
        fresh = [kind(generator) for _ in range(20)]
        rates.append(np.mean([band.first_alarm(curve) is not None for curve in fresh]))
    assert np.mean(rates) == pytest.approx(rate, abs=2 * np.std(rates) / np.sqrt(len(rates)))


@pytest.mark.parametrize("level", [0.05, 0.2])
def test_what_no_success_ever_looked_like_is_an_alarm_at_any_frame(level):
    """Where a band over time is wide."""
    generator = np.random.default_rng(3)
    lost = np.concatenate([np.full(30, 0.5), np.full(60, 0.95)])
    noticed, by_band = [], []
    for seed in range(150):
        band = band_of([late_success(generator) for _ in range(60)], level, seed=seed)
        assert band is not None
        noticed.append(band.first_alarm(lost) == 30)
        by_band.append(replace(band, ceiling=None).first_alarm(lost) == 30)
    assert np.mean(noticed) > 0.95
    assert np.mean(by_band) < 0.5


def test_an_episode_that_stalls_is_noticed():
    generator = np.random.default_rng(1)
    band = band_of([success(generator) for _ in range(60)])
    assert band is not None
    stalled = np.concatenate([success(generator)[:12], np.full(80, 0.4)])
    first = band.first_alarm(stalled)
    assert first is not None
    assert 12 <= first < 60


def test_too_few_for_the_level_give_the_least_there_is():
    generator = np.random.default_rng(2)
    band = band_of([success(generator) for _ in range(12)], 0.05)
    assert band is not None
    assert band.num_calibration == 9
    assert band.level == pytest.approx(0.1)
    assert band.asked == 0.05
    assert band_of([success(generator) for _ in range(5)]) is None


def test_a_share_is_a_share():
    with pytest.raises(GoalwardError, match=r"^false_alarms=5: must lie between 0 and 1, 0.05 for"):
        band_of([], 5)


def test_ranks():
    assert [conformal_rank(n, 0.1) for n in (8, 9, 10, 19)] == [None, 9, 10, 18]


def test_stored_and_read_back():
    band = Band((0.1,), (0.2,), 1.0, 0.05, 0.05, 19, True)
    assert Band.from_dict({**vars(band), "centre": [0.1], "spread": [0.2]}) == band
    # As monitors of before there was a ceiling have it.
    older = {name: value for name, value in vars(band).items() if name != "ceiling"}
    assert Band.from_dict({**older, "centre": [0.1], "spread": [0.2]}) == band
