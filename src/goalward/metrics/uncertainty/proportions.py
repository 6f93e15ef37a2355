"""Intervals for a success rate and for the difference of two.

Everything broadcasts: counts may be numbers or arrays of many experiments. Where counts are split
by task, the tasks are the last axis.
"""

# SciPy ships no type stubs.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import special

from goalward.rollouts.endings import FloatArray

# Halving [-1, 1] so often leaves less than the spacing of floats around 0.1.
_HALVINGS = 56


class ConfidenceLimits(NamedTuple):
    """Two limits, each a number in an array of the shape that the counts broadcast to."""

    lower: FloatArray
    upper: FloatArray


def wilson(
    successes: npt.ArrayLike, totals: npt.ArrayLike, level: float = 0.95
) -> ConfidenceLimits:
    """The rates that a score test at this level would not reject (Wilson 1927).

    Covers close to the level on average, above or below it by a few points where the counts are
    small. 9 of 10 is a wide interval:

    >>> [round(float(limit), 3) for limit in wilson(9, 10)]
    [0.596, 0.982]
    """
    successes, totals = _counts(successes, totals)
    return _wilson(successes / totals, totals, _normal_quantile(level))


def clopper_pearson(
    successes: npt.ArrayLike, totals: npt.ArrayLike, level: float = 0.95
) -> ConfidenceLimits:
    """The rates that neither exact one-sided binomial test would reject (Clopper, Pearson 1934).

    Never covers less than the level, whatever the rate; the price is that it mostly covers more.

    >>> [round(float(limit), 3) for limit in clopper_pearson(9, 10)]
    [0.555, 0.997]
    """
    successes, totals = _counts(successes, totals)
    tail = (1 - level) / 2
    failures = totals - successes
    lower = special.betaincinv(np.maximum(successes, 0.5), failures + 1, tail)
    upper = special.betaincinv(successes + 1, np.maximum(failures, 0.5), 1 - tail)
    return ConfidenceLimits(
        np.where(successes == 0, 0.0, lower), np.where(failures == 0, 1.0, upper)
    )


def difference(
    first_successes: npt.ArrayLike,
    first_totals: npt.ArrayLike,
    second_successes: npt.ArrayLike,
    second_totals: npt.ArrayLike,
    level: float = 0.95,
) -> ConfidenceLimits:
    """Difference of two rates, second minus first, from independent rollouts of one task.

    Newcombe's hybrid score interval (1998, method 10), from the Wilson limits l and u of each:

        lower = d - sqrt((p2 - l2)^2 + (u1 - p1)^2),   upper = d + sqrt((u2 - p2)^2 + (p1 - l1)^2)

    >>> [round(float(limit), 4) for limit in difference(48, 80, 56, 70)]
    [0.0524, 0.3339]
    """
    x1, n1 = _counts(first_successes, first_totals)
    x2, n2 = _counts(second_successes, second_totals)
    z = _normal_quantile(level)
    first, second = _wilson(x1 / n1, n1, z), _wilson(x2 / n2, n2, z)
    estimate = x2 / n2 - x1 / n1
    return ConfidenceLimits(
        estimate - np.hypot(x2 / n2 - second.lower, first.upper - x1 / n1),
        estimate + np.hypot(second.upper - x2 / n2, x1 / n1 - first.lower),
    )


def task_weights(first_totals: npt.ArrayLike, second_totals: npt.ArrayLike) -> FloatArray:
    """How much each task (last axis) counts in a comparison: n1 n2 / (n1 + n2), summing to 1.

    Mantel and Haenszel's weights. Neither policy gains from having met the easy tasks more often,
    and where both ran every task equally often, every rollout counts the same.

    >>> task_weights([10, 10], [10, 40])
    array([0.38461538, 0.61538462])
    """
    n1, n2 = (np.asarray(totals, dtype=np.float64) for totals in (first_totals, second_totals))
    weights = n1 * n2 / (n1 + n2)
    return weights / weights.sum(axis=-1, keepdims=True)


def difference_by_task(
    first_successes: npt.ArrayLike,
    first_totals: npt.ArrayLike,
    second_successes: npt.ArrayLike,
    second_totals: npt.ArrayLike,
    level: float = 0.95,
) -> ConfidenceLimits:
    """Difference of two rates from independent rollouts of several tasks (the last axis).

    The estimate d is the mean of the tasks' differences by `task_weights`; the limits are those
    of Klingenberg (2014): the D with (d - D)^2 = z^2 (P D + Q) / W^2, where (P D + Q) / W^2 is the
    variance of d if every task had the difference D (Sato 1989). Tasks may be many and small. If
    the tasks differ in their difference, it covers more than its level.

    Where within each task all rollouts of both policies ended alike, that variance is 0; the
    interval then is Newcombe's from the totals over tasks.
    """
    x1, n1 = _counts(first_successes, first_totals)
    x2, n2 = _counts(second_successes, second_totals)
    both = n1 + n2
    estimate = (task_weights(n1, n2) * (x2 / n2 - x1 / n1)).sum(axis=-1)
    w = (n1 * n2 / both).sum(axis=-1)
    p = ((n2**2 * x1 - n1**2 * x2 + n1 * n2 * (n1 - n2) / 2) / both**2).sum(axis=-1)
    q = ((x2 * (n1 - x1) + x1 * (n2 - x2)) / (2 * both)).sum(axis=-1)
    z = _normal_quantile(level)
    shift = z**2 * p / (2 * w**2)
    square = (estimate + shift) ** 2 - estimate**2 + z**2 * q / w**2
    half_width = np.sqrt(np.maximum(square, 0))
    pooled = difference(x1.sum(axis=-1), n1.sum(axis=-1), x2.sum(axis=-1), n2.sum(axis=-1), level)
    return ConfidenceLimits(
        np.where(q == 0, pooled.lower, np.maximum(estimate + shift - half_width, -1)),
        np.where(q == 0, pooled.upper, np.minimum(estimate + shift + half_width, 1)),
    )


def paired_difference(
    only_first: npt.ArrayLike,
    only_second: npt.ArrayLike,
    pairs: npt.ArrayLike,
    level: float = 0.95,
) -> ConfidenceLimits:
    """Difference of two rates, second minus first, from paired rollouts (Tango 1998).

    `only_first` counts the pairs in which the first policy alone succeeded. The limits are the
    differences d that the score test does not reject:

        (only_second - only_first - pairs d)^2 = z^2 pairs (2 q(d) + d (1 - d))

    where q(d) is the most likely share of pairs that only the first wins, if d is the difference.

    >>> [round(float(limit), 3) for limit in paired_difference(7, 1, 21)]
    [-0.517, -0.026]
    """
    losses, wins, pairs = np.broadcast_arrays(
        *(np.asarray(count, dtype=np.float64) for count in (only_first, only_second, pairs))
    )
    z = _normal_quantile(level)

    def score(difference: FloatArray) -> FloatArray:
        # q solves 2 pairs q^2 + linear q - losses d (1 - d) = 0.
        linear = (2 * pairs - wins + losses) * difference - wins - losses
        constant = losses * difference * (1 - difference)
        square = np.maximum(linear**2 + 8 * pairs * constant, 0)
        share = (np.sqrt(square) - linear) / (4 * pairs)
        variance = pairs * (2 * share + difference * (1 - difference))
        return (wins - losses - pairs * difference) / np.sqrt(np.maximum(variance, 1e-300))

    lower = _where_it_falls_below(score, z, wins.shape)
    upper = _where_it_falls_below(score, -z, wins.shape)
    return ConfidenceLimits(
        np.where(losses == pairs, -1.0, lower),
        np.where(wins == pairs, 1.0, upper),
    )


def _where_it_falls_below(
    falling: Callable[[FloatArray], FloatArray], level: float, shape: tuple[int, ...]
) -> FloatArray:
    """Where a falling function of numbers in [-1, 1] passes a level, by halving."""
    left, right = np.full(shape, -1.0), np.full(shape, 1.0)
    for _ in range(_HALVINGS):
        middle = (left + right) / 2
        above = falling(middle) > level
        left, right = np.where(above, middle, left), np.where(above, right, middle)
    return (left + right) / 2


def _wilson(rate: FloatArray, totals: FloatArray, z: float) -> ConfidenceLimits:
    shrink = 1 + z**2 / totals
    centre = (rate + z**2 / (2 * totals)) / shrink
    half_width = z / shrink * np.sqrt(rate * (1 - rate) / totals + z**2 / (4 * totals**2))
    # At rates of 0 and 1 the limit is exact; rounding must not leave it a hair outside.
    lower = np.where(rate == 0, 0.0, centre - half_width)
    return ConfidenceLimits(lower, np.where(rate == 1, 1.0, centre + half_width))


def _counts(successes: npt.ArrayLike, totals: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    x, n = np.asarray(successes, dtype=np.float64), np.asarray(totals, dtype=np.float64)
    if not (np.all(n > 0) and np.all(x >= 0) and np.all(x <= n)):
        raise ValueError("wanted 0 <= successes <= totals and totals above 0")
    return x, n


def _normal_quantile(level: float) -> float:
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1, got {level}")
    return float(special.ndtri((1 + level) / 2))
