"""What more time is expected to bring: each episode by its own clock, and how sure that is."""

import math

import numpy as np
import pytest
from scipy import stats

from goalward.metrics import expected_share
from goalward.metrics import more_time as module
from goalward.metrics.expected_share import share_spread
from goalward.metrics.more_time import EXTRA_TIME, LateEpisode, Verdict, more_time
from goalward.rollouts.endings import Endings
from goalward.values.chances import ChanceTable

S, T, F = "success", "time_out", "failure"


def recorded(*episodes):
    """(outcome, frames) per episode."""
    lengths = np.array([length for _, length in episodes])
    goals = np.array([length - 1 if outcome == S else -1 for outcome, length in episodes])
    return Endings(np.cumsum(lengths), goals, np.array([one == F for one, _ in episodes]))


def chances(endings, at_end, num_steps, methods=("m",)):
    """`at_end` (methods, seeds, members, episodes, points); frames before the end say nothing."""
    at_end = np.array(at_end, dtype=np.float32)
    within = np.zeros((len(methods), endings.num_frames, len(num_steps)), dtype=np.float32)
    within[:, endings.episode_ends - 1] = np.nanmean(at_end, axis=(1, 2))
    return ChanceTable(
        methods=methods,
        episode_ids=tuple(str(i) for i in range(endings.num_episodes)),
        episode_tasks=("",) * endings.num_episodes,
        episode_ends=endings.episode_ends,
        num_steps=np.array(num_steps),
        within=within,
        at_end=at_end,
    )


def certain(endings, steps, methods=("m",)):
    """One network per method that is sure of so many steps to go from every end."""
    points = np.arange(0, 601)
    steps = np.broadcast_to(steps, (len(methods), endings.num_episodes))
    return chances(endings, (steps[..., None] <= points)[:, None, None], points, methods)


def expected(endings, table, held_out=None):
    held_out = np.ones(endings.num_episodes, dtype=bool) if held_out is None else held_out
    return more_time(table, endings, np.array(held_out))


# ---- clocks -------------------------------------------------------------------------------------


def test_every_episode_has_its_own_clock():
    """All need 100 more steps. Of clocks of 40, 80, 100, 120 and 160 steps three are enough.

    By the longest clock all of them would be.
    """
    endings = recorded((S, 50), (T, 41), (T, 81), (T, 101), (T, 121), (T, 161))
    found = expected(endings, certain(endings, 100))
    assert [one.num_steps for one in found.late] == [40, 80, 100, 120, 160]
    assert [one.chance for one in found.late] == [0, 0, 1, 1, 1]
    assert [one.episode for one in found.late] == [1, 2, 3, 4, 5]
    assert found.twice.share.value == pytest.approx(0.6)
    assert found.twice.rate.value == pytest.approx((1 + 5 * 0.6) / 6)


def test_the_curve_gives_shares_of_the_own_clock():
    """100 more steps: with half of 161 frames' clock not yet, with twice that of 81 and on."""
    endings = recorded((S, 50), (T, 41), (T, 81), (T, 161), (T, 401))
    found = expected(endings, certain(endings, 100))
    assert tuple(one.extra for one in found.curve) == (0.25, 0.5, 1, 2, math.inf) == EXTRA_TIME
    assert [one.share.value for one in found.curve] == [0.25, 0.25, 0.5, 0.75, 1.0]
    assert found.twice is found.curve[2]


def test_more_time_never_brings_less_and_no_chance_leaves_its_bounds():
    draws = np.random.default_rng(0)
    for _ in range(50):
        kinds = draws.choice([S, T, T, F], 12)
        endings = recorded((S, 5), (T, 9), *((kind, draws.integers(1, 50)) for kind in kinds))
        said = np.sort(draws.random((1, 3, 4, endings.num_episodes, 6)), axis=-1)
        said = np.where(draws.random(said.shape[:-1])[..., None] < 0.2, np.round(said), said)
        found = expected(endings, chances(endings, np.sort(said), [0, 3, 9, 20, 60, 150]))
        for which in ("share", "rate"):
            values = [getattr(one, which).value for one in found.curve]
            assert values == sorted(values)
            for one in found.curve:
                interval = getattr(one, f"{which}_interval")
                assert 0 <= interval.low <= getattr(one, which).value <= interval.high <= 1


# ---- who counts ---------------------------------------------------------------------------------


def test_failures_are_no_time_outs():
    endings = recorded((S, 9), (F, 9), (T, 9), (F, 3))
    found = expected(endings, certain(endings, [0, 0, 5, 0]))
    assert [one.episode for one in found.late] == [2]
    assert found.twice.rate.value == pytest.approx(2 / 4)


def test_the_share_of_those_held_out_stands_for_all_that_timed_out():
    """Of three time-outs two are held out, and of them one has a chance."""
    endings = recorded((S, 9), (T, 9), (T, 9), (T, 9))
    table = certain(endings, [0, 5, 5, 99])
    found = expected(endings, table, [True, False, True, True])
    assert [one.episode for one in found.late] == [2, 3]
    assert found.twice.rate.value == pytest.approx((1 + 3 * 0.5) / 4)


@pytest.mark.parametrize(
    ("episodes", "held_out", "reason"),
    [
        ([(S, 9), (S, 4), (F, 3)], [True] * 3, "no episode timed out"),
        ([(T, 9), (T, 4), (F, 3)], [True] * 3, "no episode succeeded"),
        ([(S, 9), (T, 4), (F, 3)], [True, False, True], "no timed-out episode was held out"),
    ],
)
def test_where_nothing_can_be_said_it_says_why(episodes, held_out, reason):
    endings = recorded(*episodes)
    found = expected(endings, certain(endings, 5), held_out)
    assert (found.late, found.others) == ((), ())
    for one in found.curve:
        assert one.share.reason == one.share_interval.reason == reason
        if reason == "no episode timed out":
            # More time changes nothing. Beta(2 + 1/2, 1 + 1/2 + 1/2): one might have timed out.
            assert one.rate.value == pytest.approx(2 / 3)
            assert (one.rate_interval.low, one.rate_interval.high) == pytest.approx(
                stats.beta.ppf([0.025, 0.975], 2.5, 2)
            )
        else:
            assert one.rate.reason == one.rate_interval.reason == reason


def test_an_episode_of_one_frame_had_no_clock():
    """Once more of nothing is no time: of such a time-out nothing is said, only of the others."""
    endings = recorded((S, 1), (T, 1))
    found = expected(endings, certain(endings, 5))
    assert found.late == ()
    assert {one.share.reason for one in found.curve} == {
        "time-outs of a single frame have no clock"
    }
    endings = recorded((S, 1), (T, 1), (T, 11))
    found = expected(endings, certain(endings, 5))
    assert [one.episode for one in found.late] == [2]
    assert [one.share.value for one in found.curve] == [0, 1, 1, 1, 1]


# ---- verdicts -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("chance", "verdict"),
    [
        (1.0, Verdict.ON_ITS_WAY),
        (0.8, Verdict.ON_ITS_WAY),
        (0.79, Verdict.CANNOT_TELL),
        (0.5, Verdict.CANNOT_TELL),
        (0.21, Verdict.CANNOT_TELL),
        (0.2, Verdict.STUCK),
        (0.0, Verdict.STUCK),
    ],
)
def test_a_verdict_is_given_far_from_one_half_alone(chance, verdict):
    assert LateEpisode(0, 9, chance).verdict is verdict


def test_those_with_a_verdict_come_with_the_best_chance_first():
    endings = recorded((S, 9), *[(T, 9)] * 4)
    ends = np.repeat(np.array([0.5, 0.85, 0.95, 0.85, 0.1])[:, None], 2, axis=1)
    found = expected(endings, chances(endings, ends[None, None, None], [0, 30]))
    assert [one.episode for one in found.called(Verdict.ON_ITS_WAY)] == [2, 1, 3]
    assert [one.episode for one in found.called(Verdict.STUCK)] == [4]
    assert found.called(Verdict.CANNOT_TELL) == ()


# ---- how sure -----------------------------------------------------------------------------------


@pytest.mark.parametrize("chance", [0.0, 1.0])
def test_all_alike_are_not_certain_and_not_all_over_the_place(chance):
    """24 that all look stuck: up to a fifth or so may not be, but not nearly all."""
    endings = recorded((S, 9), *[(T, 9)] * 24)
    table = chances(endings, np.full((1, 5, 1, 25, 2), chance), [0, 30])
    interval = expected(endings, table).twice.share_interval
    away = interval.high if chance == 0 else 1 - interval.low
    assert 0.15 < away < 0.35
    assert (interval.low if chance == 0 else 1 - interval.high) == 0


def test_what_all_networks_get_wrong_is_part_of_it(monkeypatch):
    """With 10,000 episodes half of whom succeed nothing else is left: 1.96 * 0.13 either way."""
    endings = recorded((S, 2), *[(T, 2)] * 10_000)
    table = chances(endings, np.full((1, 1, 1, 10_001, 2), 0.5), [0, 30])
    interval = expected(endings, table).twice.share_interval
    assert (interval.low, interval.high) == pytest.approx((0.5 - 0.255, 0.5 + 0.255), abs=0.001)
    monkeypatch.setattr(expected_share, "STRUCTURAL_ERROR", 0.0)
    interval = expected(endings, table).twice.share_interval
    assert interval.high - interval.low < 0.002


def test_the_interval_of_the_rate_is_that_of_outcomes_and_share_together():
    """A million time-outs: the rate is the share. No time-out that matters: it is Jeffreys'."""
    middle, deviation = share_spread(np.full((1, 1, 4), 0.25))
    counts = (0, 10**6, 0)
    late = module._expected(1.0, np.full((1, 1, 4), 0.25), counts, 0.95).rate_interval
    wanted = np.clip(stats.norm.ppf([0.025, 0.975], middle, deviation), 0, 1)
    assert (late.low, late.high) == pytest.approx(wanted, abs=0.01)
    early = module._expected(1.0, np.zeros((1, 1, 4)), (10, 0, 10), 0.95).rate_interval
    wanted = stats.beta.ppf([0.025, 0.975], 10.5, 10.5)
    assert (early.low, early.high) == pytest.approx(wanted, abs=0.03)


def test_the_same_table_has_the_same_interval():
    endings = recorded((S, 9), (T, 9), (T, 30))
    once, again = (expected(endings, certain(endings, 20)).twice for _ in range(2))
    assert once == again


def test_methods_disagree_whose_share_lies_outside_the_interval():
    """The first says a half; with 20 episodes and one network that is 0.31 to 0.69 or so."""
    endings = recorded((S, 9), *[(T, 9)] * 20)
    shares = {"first": 0.5, "alike": 0.55, "far": 0.1, "near": 1.0}
    said = np.array(list(shares.values()))[:, None, None, None, None] * np.ones((1, 1, 1, 21, 2))
    found = expected(endings, chances(endings, said, [0, 30], tuple(shares)))
    assert [one.method for one in found.others] == ["alike", "far", "near"]
    assert [one.share for one in found.others] == pytest.approx([0.55, 0.1, 1.0])
    assert [one.disagrees for one in found.others] == [False, True, True]
