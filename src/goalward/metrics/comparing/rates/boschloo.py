"""Boschloo's exact test of two success rates, for many pairs of policies at once."""

# SciPy ships no type stubs.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownArgumentType=false

from functools import lru_cache

import numpy as np
import numpy.typing as npt
from scipy import sparse, special

from goalward.progress import OnProgress, unheard
from goalward.rollouts.endings import FloatArray, IndexArray

# Success rates that are tried as the common one. Spaced evenly in arcsin(sqrt(rate)), where the
# spread of a rate is the same everywhere: 20 to a standard deviation at 500 per policy.
_NUM_RATES = 2001
# A binomial probability further from its mean than so many standard deviations is below 1e-16.
_REACH = 8.5
_CELLS_AT_A_TIME = 1 << 21
# Tails that are equal but for rounding are equal.
_EQUAL = 1 + 1e-9


def boschloo_tests(
    first_successes: npt.ArrayLike,
    first_totals: npt.ArrayLike,
    second_successes: npt.ArrayLike,
    second_totals: npt.ArrayLike,
    on_progress: OnProgress = unheard,
) -> FloatArray:
    """Are two success rates equal? Independent rollouts of one task; exact (Boschloo 1970).

    The p-value of Fisher's test serves as the statistic; the p-value is the largest probability,
    over all common rates, of one as small. Never above Fisher's. Two-sided: twice the smaller.

    The sum over tables goes by the number of successes t in both: given t, the probability is the
    largest tail of the hypergeometric distribution that is not above the observed one; and t is
    binomial. From t to t + 1 that tail's place moves by one success or stays, so that all pairs
    walk along t together. Each of the arguments is an array with an entry per pair.

    >>> boschloo_tests([7, 0], [15, 5], [12, 5], [15, 5]).round(4)
    array([0.0682, 0.002 ])
    """
    counts = (first_successes, first_totals, second_successes, second_totals)
    x1, n1, x2, n2 = np.broadcast_arrays(*(np.atleast_1d(np.asarray(c, np.int64)) for c in counts))
    if not (((x1 >= 0) & (x1 <= n1) & (x2 >= 0) & (x2 <= n2) & (n1 > 0) & (n2 > 0)).all()):
        raise ValueError("wanted 0 <= successes <= totals and totals above 0")
    tables = np.unique(np.stack((x1, n1, x2, n2)), axis=1)
    place = np.searchsorted(_codes(tables), _codes(np.stack((x1, n1, x2, n2))))
    # Few successes in the first, and few in the second: the same question about failures.
    x1, n1, x2, n2 = tables
    sides = np.concatenate((tables, np.stack((n1 - x1, n1, n2 - x2, n2))), axis=1)
    one_sided = _few_in_first(sides, on_progress).reshape(2, -1)
    return np.minimum(1.0, 2 * one_sided.min(axis=0))[place]


def _codes(tables: IndexArray) -> npt.NDArray[np.void]:
    """Each column as one thing that sorts as the columns do."""
    columns = np.ascontiguousarray(tables.T)
    return columns.view([("", columns.dtype)] * 4)[:, 0]


def _few_in_first(tables: IndexArray, on_progress: OnProgress) -> FloatArray:
    """One-sided p-values against fewer successes in the first policy; tables (4, tables)."""
    both = tables[1] + tables[3]
    order = np.argsort(both, kind="stable")
    found = np.ones(len(order))
    for rows in np.array_split(order, -(-len(order) * (both.max() + 1) // _CELLS_AT_A_TIME)):
        largest = _largest_tails(tables[:, rows])
        for size in np.unique(both[rows]).tolist():
            alike = both[rows] == size
            chances = np.asarray(_binomials(size) @ largest[: size + 1, alike])
            found[rows[alike]] = chances.max(axis=0)
        on_progress(int(np.searchsorted(both[order], both[rows[-1]], "right")), len(order))
    return np.minimum(found, 1.0)


def _largest_tails(tables: IndexArray) -> FloatArray:
    """(totals, tables): the largest lower tail not above the observed one, given each total.

    With X_t the first policy's share of t successes, drawn one after the other from n1 + n2
    rollouts, P(X_t+1 <= x) = P(X_t <= x) - P(X_t = x) (n1 - x) / (n1 + n2 - t).
    """
    _, n1, _, n2 = tables
    size = n1 + n2
    log_factorial = special.gammaln(np.arange(size.max() + 1) + 1.0)
    all_ways = log_factorial[n1] + log_factorial[n2] - log_factorial[size]

    def probability(x: IndexArray, total: int) -> FloatArray:
        """P(X_total = x), 0 where that cannot be."""
        second = total - x
        possible = (x >= 0) & (x <= n1) & (second >= 0) & (second <= n2)
        left_first, left_second = n1 - x, n2 - second
        log_found = all_ways + log_factorial[total] + log_factorial[left_first + left_second]
        for part in (x, second, left_first, left_second):
            log_found -= log_factorial[part * possible]
        return np.where(possible, np.exp(np.where(possible, log_found, 0.0)), 0.0)

    observed = _observed_tails(tables, log_factorial)
    most = observed * _EQUAL
    x = np.full(len(n1), -1)
    here, tail = np.zeros(len(n1)), np.zeros(len(n1))
    largest = np.zeros((size.max() + 1, len(n1)))
    for total in range(len(largest)):
        if total:
            left = np.maximum(size - total + 1, 1)
            tail = np.maximum(tail - here * (n1 - x) / left, 0.0)
        further = probability(x + 1, total)
        moves = (tail + further <= most) & (x < n1)
        tail = np.where(moves, tail + further, tail)
        x = x + moves
        here = np.where(moves, further, probability(x, total))
        largest[total] = tail
    # One that is certain refutes nothing.
    largest[:, observed >= 1 - 1e-12] = 1.0
    return largest


def _observed_tails(tables: IndexArray, log_factorial: FloatArray) -> FloatArray:
    """P(at most as many successes in the first as there were | successes in both)."""
    found = np.zeros(tables.shape[1])
    for table, (a, m, b, n) in enumerate(tables.T.tolist()):
        total = a + b
        x = np.arange(max(0, total - n), int(a) + 1)
        log_chance = log_factorial[m] - log_factorial[x] - log_factorial[m - x]
        log_chance += log_factorial[n] - log_factorial[total - x] - log_factorial[n - total + x]
        log_chance -= log_factorial[m + n] - log_factorial[total] - log_factorial[m + n - total]
        found[table] = np.exp(log_chance).sum()
    return found


@lru_cache(maxsize=4)
def _binomials(size: int) -> sparse.csr_array:
    """(rates, totals): probabilities of each total of `size` rollouts at each common rate."""
    rates = np.sin(np.linspace(0, np.pi / 2, _NUM_RATES + 2)[1:-1]) ** 2
    reach = _REACH * np.sqrt(size * rates * (1 - rates)) + _REACH**2 / 2
    low = np.maximum(np.floor(size * rates - reach), 0).astype(np.int64)
    high = np.minimum(np.ceil(size * rates + reach), size).astype(np.int64)
    lengths = high - low + 1
    starts = np.concatenate(([0], np.cumsum(lengths)))
    total: IndexArray = np.arange(int(starts[-1])) - np.repeat(starts[:-1] - low, lengths)
    rate = np.repeat(rates, lengths)
    chance = np.exp(_log_choices(size)[total] + special.xlogy(total, rate)
                    + special.xlog1py(size - total, -rate))  # fmt: skip
    return sparse.csr_array((chance, total, starts), shape=(_NUM_RATES, size + 1))


def _log_choices(n: int) -> FloatArray:
    """Logarithms of the binomial coefficients n over 0, 1, ..., n."""
    k = np.arange(n + 1)
    return special.gammaln(n + 1) - special.gammaln(k + 1) - special.gammaln(n - k + 1)
