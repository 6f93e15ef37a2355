"""How many of the episodes that timed out are expected to succeed with more time, and which.

Every episode has a clock of its own: one that took n steps is given n more ("twice the time"), one
that took 40 steps is not judged by what 160 would have brought it. All that is said is expected,
from chances that networks give at the frame where the clock ran out; nobody saw what came next.
"""

# pyright: standard
# (scipy ships no type stubs)

import math
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from scipy import special

from goalward.metrics.expected_share import (
    expected_share,
    interval_around,
    one_answer,
    share_spread,
)
from goalward.metrics.score import Interval, Score, no_interval
from goalward.rollouts.endings import BoolArray, Endings, FloatArray
from goalward.seeds import generator
from goalward.values.chances import ChanceTable

# Chances from here on are called on their way, and those up to the other one stuck; between them
# nobody can tell.
ON_ITS_WAY_FROM = 0.8
STUCK_UP_TO = 0.2
# Of an episode's own clock; inf: however long it takes.
EXTRA_TIME = (0.25, 0.5, 1.0, 2.0, math.inf)
TWICE = 1.0
# Nobody who reads "0 %" and "0 % to 97 %" sees that one lies outside the other.
_HALF_A_PERCENT = 0.005
_NUM_DRAWS = 20_000


class Verdict(StrEnum):
    """What is said of one episode, and only where its chance is far from one half."""

    ON_ITS_WAY = "on_its_way"
    STUCK = "stuck"
    CANNOT_TELL = "cannot_tell"


@dataclass(frozen=True)
class LateEpisode:
    """A timed-out episode that was held out: `chance` is that of success in `num_steps` more.

    `num_steps` is its own clock, the steps that it took; `episode` its position among all.

    >>> LateEpisode(7, num_steps=160, chance=0.85).verdict
    <Verdict.ON_ITS_WAY: 'on_its_way'>
    """

    episode: int
    num_steps: int
    chance: float

    @property
    def verdict(self) -> Verdict:
        if self.chance >= ON_ITS_WAY_FROM:
            return Verdict.ON_ITS_WAY
        return Verdict.STUCK if self.chance <= STUCK_UP_TO else Verdict.CANNOT_TELL


@dataclass(frozen=True)
class Expected:
    """What so much more time is expected to bring: `extra` times each episode's own clock.

    share = mean over held-out time-outs of P(K <= extra * own clock)
    rate  = (successes + time-outs * share) / all
    """

    extra: float
    share: Score
    """Of the held-out time-outs, those expected to succeed."""
    share_interval: Interval
    """Of that share."""
    rate: Score
    """Of all episodes, those expected to have succeeded by then."""
    rate_interval: Interval
    """Of that rate."""


@dataclass(frozen=True)
class OtherShare:
    """The share that another method expects with twice the time, and whether it disagrees.

    It disagrees if its share lies outside the interval of the method that speaks.
    """

    method: str
    """Who says so."""
    share: float
    """What it expects."""
    disagrees: bool
    """Whether that lies outside the interval of the method that speaks."""


@dataclass(frozen=True)
class MoreTime:
    """What more time is expected to bring, by the method that speaks, and what others say.

    `curve` rises with extra time, twice the time among it; `late` are the timed-out episodes that
    were held out, without those of a single frame: their clock again is no time at all. Without a
    success there is nothing to learn from, and nothing is said.
    """

    curve: tuple[Expected, ...]
    late: tuple[LateEpisode, ...] = ()
    others: tuple[OtherShare, ...] = ()
    """What the other methods expect with twice the time."""

    @property
    def twice(self) -> Expected:
        """With each episode's own clock once more."""
        return next(found for found in self.curve if found.extra == TWICE)

    def called(self, verdict: Verdict) -> tuple[LateEpisode, ...]:
        """The late episodes with this verdict, the best chance first."""
        found = [one for one in self.late if one.verdict is verdict]
        return tuple(sorted(found, key=lambda one: (-one.chance, one.episode)))


def more_time(
    chances: ChanceTable, endings: Endings, held_out: BoolArray, level: float = 0.95
) -> MoreTime:
    """What the first method of a table expects of more time; outcomes are those of all episodes.

    >>> table = ChanceTable(
    ...     methods=("m",), episode_ids=("a", "b"), episode_tasks=("", ""),
    ...     episode_ends=np.array([3, 5]), num_steps=np.array([0, 1, 3]),
    ...     within=np.tile(np.float32([0.0, 0.5, 0.75]), (1, 5, 1)),
    ...     at_end=np.tile(np.float32([0.0, 0.5, 0.75]), (1, 1, 1, 2, 1)),
    ... )
    >>> endings = Endings(np.array([3, 5]), np.array([2, -1]))
    >>> found = more_time(table, endings, np.array([True, True]))
    >>> found.late[0].num_steps, found.twice.share.value, found.twice.rate.value
    (1, 0.5, 0.75)
    """
    timed_out = ~endings.success & ~endings.failures
    counts = (int(endings.success.sum()), int(timed_out.sum()), int(endings.failures.sum()))
    judged = timed_out & held_out
    late = np.flatnonzero(judged & (endings.lengths > 1))
    reason = ""
    if counts[1] == 0:
        reason = "no episode timed out"
    elif counts[0] == 0:
        reason = "no episode succeeded"
    elif not judged.any():
        reason = "no timed-out episode was held out"
    elif len(late) == 0:
        reason = "time-outs of a single frame have no clock"
    if reason:
        return MoreTime(tuple(_unexpected(extra, counts, reason, level) for extra in EXTRA_TIME))

    def said(method: str, extra: float) -> FloatArray:
        return chances.within_steps_at_end(method, _extra_steps(chances, extra))[:, :, late]

    speaking, *others = chances.methods
    curve = tuple(_expected(extra, said(speaking, extra), counts, level) for extra in EXTRA_TIME)
    twice = next(found for found in curve if found.extra == TWICE)
    by_episode = one_answer(said(speaking, TWICE))
    shares = {method: float(one_answer(said(method, TWICE)).mean()) for method in others}
    return MoreTime(
        curve=curve,
        late=tuple(
            LateEpisode(int(position), int(chances.clocks[position]), float(chance))
            for position, chance in zip(late, by_episode, strict=True)
        ),
        others=tuple(
            OtherShare(method, share, not _inside(share, twice.share_interval))
            for method, share in shares.items()
        ),
    )


def chances_with_twice(chances: ChanceTable) -> FloatArray:
    """What every network of the first method expects of each episode given its own clock again.

    At its last frame, whether it timed out or not: (seeds, members, episodes).
    """
    return chances.within_steps_at_end(chances.methods[0], _extra_steps(chances, TWICE))


def _extra_steps(chances: ChanceTable, extra: float) -> FloatArray:
    """So many more steps for each episode, by its own clock."""
    if math.isinf(extra):
        return np.full(len(chances.clocks), np.inf)
    return extra * chances.clocks.astype(np.float64)


def _inside(share: float, interval: Interval) -> bool:
    """Whether a share lies in an interval, as both are told: in whole percent.

    >>> _inside(0.0, Interval(0.004, 0.9)), _inside(0.0, Interval(0.02, 0.9))
    (True, False)
    """
    low, high = interval.low or 0.0, 1.0 if interval.high is None else interval.high
    return low - _HALF_A_PERCENT <= share <= high + _HALF_A_PERCENT


# ---- how sure ---------------------------------------------------------------------------------


def _expected(
    extra: float, by_network: FloatArray, counts: tuple[int, int, int], level: float
) -> Expected:
    """The share with its interval, and the rate that follows, with outcomes drawn beside it."""
    told, interval = expected_share(by_network, level)
    middle, deviation = share_spread(by_network)
    share = told.value or 0.0
    edges = np.array([(1 - level) / 2, (1 + level) / 2])
    num_success, num_late, num_failure = counts
    rate = (num_success + num_late * share) / sum(counts)
    draws = generator(0, "more time")
    outcomes = draws.dirichlet(np.array([num_success, num_late, num_failure]) + 0.5, _NUM_DRAWS)
    shares = np.clip(draws.normal(middle, deviation, _NUM_DRAWS), 0, 1)
    rates = outcomes[:, 0] + outcomes[:, 1] * shares
    return Expected(
        extra=extra,
        share=told,
        share_interval=interval,
        rate=Score(rate),
        rate_interval=interval_around(rate, np.quantile(rates, edges), level),
    )


def _unexpected(extra: float, counts: tuple[int, int, int], reason: str, level: float) -> Expected:
    """Where nothing can be said of time-outs; without any, more time changes nothing."""
    none, no_limits = Score(None, reason), no_interval(reason, level)
    total = sum(counts)
    if counts[1] or not total:
        return Expected(extra, none, no_limits, none, no_limits)
    rate = counts[0] / total
    edges = np.array([(1 - level) / 2, (1 + level) / 2])
    # A time-out might still have been among them: Jeffreys' half for each of the two.
    limits = special.betaincinv(counts[0] + 0.5, counts[2] + 1.0, edges)
    return Expected(extra, none, no_limits, Score(rate), interval_around(rate, limits, level))
