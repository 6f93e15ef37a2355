"""Is one policy better than another by as much in every task? Tests that hold at any counts."""

# SciPy ships no type stubs.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false

from collections.abc import Sequence

import numpy as np
from scipy import special

from goalward.metrics.comparing.rates.exact_tests import hypergeometric
from goalward.metrics.uncertainty.equal_rates import EqualRates
from goalward.rollouts.endings import FloatArray, IndexArray
from goalward.seeds import generator

BRESLOW_DAY = "Breslow-Day"
ZELEN = "Zelen, exact by draws"
# With fewer expected in some cell the chi-square distribution is not the right one.
_LEAST_EXPECTED = 5.0
NUM_DRAWS = 9_999


def equal_odds(
    first_successes: Sequence[int],
    first_totals: Sequence[int],
    second_successes: Sequence[int],
    second_totals: Sequence[int],
    *,
    num_draws: int = NUM_DRAWS,
) -> EqualRates:
    """Could the ratio of odds be the same in every task? Independent rollouts.

    Breslow and Day's statistic against the chi-square distribution where every cell is expected to
    hold five; else Zelen's test: given the successes of each task and those of the first policy in
    all, every table's chance is known whatever the common ratio is, and p is the chance of one as
    unlikely, by draws: (1 + as unlikely) / (1 + draws). Tasks in which all ended alike say nothing.

    >>> found = equal_odds([9, 1], [10, 10], [2, 8], [10, 10])
    >>> found.test, found.p_value < 0.001
    ('Zelen, exact by draws', True)
    """
    tables = np.array([first_successes, first_totals, second_successes, second_totals]).T
    total, both = tables[:, 0] + tables[:, 2], tables[:, 1] + tables[:, 3]
    tables = tables[(total > 0) & (total < both)]
    if len(tables) < 2:
        return EqualRates("", None, "fewer than two tasks with successes and others")
    expected, variance, cells = _expected(tables)
    if cells.min() >= _LEAST_EXPECTED:
        apart = ((tables[:, 0] - expected) ** 2 / variance).sum()
        # Tarone's correction, as the common ratio is estimated.
        apart -= (tables[:, 0] - expected).sum() ** 2 / variance.sum()
        return EqualRates(BRESLOW_DAY, float(special.chdtrc(len(tables) - 1, max(apart, 0.0))))
    return EqualRates(ZELEN, _zelen(tables, num_draws))


def _expected(tables: IndexArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Successes of the first at the ratio of Mantel and Haenszel, their variance, all cells."""
    x1, n1, x2, n2 = tables.T.astype(np.float64)
    both, total = n1 + n2, x1 + x2
    for_first = (x1 * (n2 - x2) / both).sum()
    for_second = (x2 * (n1 - x1) / both).sum()
    ratio = (for_first + 1e-9) / (for_second + 1e-9)
    # x (n2 - total + x) = ratio (n1 - x) (total - x), the root that lies within the table.
    square, line = 1 - ratio, n2 - total + ratio * (n1 + total)
    constant = -ratio * n1 * total
    # In the form that also holds for a ratio of 1.
    root = np.sqrt(np.maximum(line**2 - 4 * square * constant, 0))
    x = np.asarray(-2 * constant / (line + root), dtype=np.float64)
    cells = np.maximum(np.stack((x, n1 - x, total - x, n2 - total + x)), 1e-12)
    return x, 1 / (1 / cells).sum(axis=0), cells


def _zelen(tables: IndexArray, num_draws: int) -> float:
    shares = [hypergeometric(n1, n2, x1 + x2) for x1, n1, x2, n2 in tables.tolist()]
    lowest = [low for low, _ in shares]
    chances = [chance / chance.sum() for _, chance in shares]
    # Chances of the first policy's successes over the first 0, 1, 2, ... tasks.
    sums: list[FloatArray] = [np.ones(1)]
    for chance in chances:
        sums.append(np.convolve(sums[-1], chance).astype(np.float64))
    own = [int(x1) - low for x1, low in zip(tables[:, 0], lowest, strict=True)]
    with np.errstate(divide="ignore"):
        logs = [np.log(chance) for chance in chances]
    observed = sum(float(log[x]) for log, x in zip(logs, own, strict=True))
    draws = generator(0, "equal odds")
    left = np.full(num_draws, sum(own))
    drawn = np.zeros(num_draws)
    for chance, before, log in zip(chances[::-1], sums[-2::-1], logs[::-1], strict=True):
        x = _draw_shares(left, chance, before, draws.random(num_draws))
        drawn += log[x]
        left = left - x
    # Tables that are equally likely but for rounding are.
    return float((1 + (drawn <= observed + 1e-9).sum()) / (1 + num_draws))


def _draw_shares(
    left: IndexArray, chance: FloatArray, before: FloatArray, luck: FloatArray
) -> IndexArray:
    """How many of the successes that are left fall to one task, given chances of all others."""
    found = np.zeros(len(left), dtype=np.int64)
    x = np.arange(len(chance))
    for successes in np.unique(left).tolist():
        rest = successes - x
        possible = (rest >= 0) & (rest < len(before))
        weight = np.where(possible, chance * before[np.where(possible, rest, 0)], 0.0)
        rows = left == successes
        found[rows] = np.searchsorted(np.cumsum(weight) / weight.sum(), luck[rows], "right")
    return np.minimum(found, len(chance) - 1)
