"""Are two success rates equal? Tests that keep their error at any number of rollouts.

And Holm's adjustment, for whoever tests more than once.
"""

# SciPy ships no type stubs.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false

from collections.abc import Sequence

import numpy as np
from scipy import special, stats

from goalward.rollouts.endings import FloatArray, IndexArray

# Success rates that Boschloo's test tries as the common one. Spaced evenly in arcsin(sqrt(rate)),
# where the spread of a rate is the same everywhere: 20 to a standard deviation at 500 per policy.
_NUM_RATES = 2001
_CELLS_AT_A_TIME = 1 << 22


def boschloo_test(
    first_successes: int, first_total: int, second_successes: int, second_total: int
) -> float:
    """Are two success rates equal? Independent rollouts of one task; exact (Boschloo 1970).

    The p-value of Fisher's test serves as the statistic; the p-value is the largest probability,
    over all common rates, of one as small. Never above Fisher's. Two-sided: twice the smaller.

    The sum over tables goes by the number of successes t in both: given t, the probability is the
    largest tail of the hypergeometric distribution that is not above the observed one; and t is
    binomial. That costs 0.1 s at 500 rollouts per policy, where `scipy.stats.boschloo_exact`, which
    agrees to five digits, takes 3 s; and all rates are tried, so that none is missed.

    >>> round(boschloo_test(7, 15, 12, 15), 4)
    0.0682
    """
    x1, n1, x2, n2 = first_successes, first_total, second_successes, second_total
    if not (0 <= x1 <= n1 and 0 <= x2 <= n2 and n1 > 0 and n2 > 0):
        raise ValueError("wanted 0 <= successes <= totals and totals above 0")
    one_sided = _few_in_first(x1, n1, x2, n2), _few_in_first(n1 - x1, n1, n2 - x2, n2)
    return min(1.0, 2 * min(one_sided))


def mcnemar_test(only_first: int, only_second: int) -> float:
    """Are two success rates equal? Paired rollouts; exact (McNemar 1947, binomial).

    Only pairs that one policy alone wins count; under equality each policy wins half of them. As
    pairs are within tasks, tasks need no further care.

    >>> mcnemar_test(1, 7)
    0.0703125
    """
    tail = stats.binom.cdf(min(only_first, only_second), only_first + only_second, 0.5)
    return min(1.0, 2 * float(tail))


def stratified_test(
    first_successes: Sequence[int],
    first_totals: Sequence[int],
    second_successes: Sequence[int],
    second_totals: Sequence[int],
) -> float:
    """Are two success rates equal in every task? Independent rollouts of several tasks; exact.

    The exact form of the Cochran-Mantel-Haenszel test: the first policy's successes over all tasks,
    given how many successes each task saw. Under equality each task's share is hypergeometric, and
    the sum's distribution is their convolution. Two-sided: twice the smaller tail.

    >>> round(stratified_test([3, 6, 5], [6, 6, 6], [0, 2, 6], [6, 6, 6]), 4)
    0.0399
    """
    probability, lowest = np.ones(1), 0
    for x1, n1, x2, n2 in zip(
        first_successes, first_totals, second_successes, second_totals, strict=True
    ):
        fewest, most = max(0, x1 + x2 - n2), min(n1, x1 + x2)
        share = stats.hypergeom.pmf(np.arange(fewest, most + 1), n1 + n2, x1 + x2, n1)
        probability, lowest = np.convolve(probability, share), lowest + fewest
    position = sum(first_successes) - lowest
    tails = probability[: position + 1].sum(), probability[position:].sum()
    return min(1.0, 2 * float(min(tails)))


def holm(p_values: Sequence[float]) -> list[float]:
    """p-values of several comparisons, so that one false alarm in all of them is as rare (1979).

    >>> [round(p, 3) for p in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p_values, kind="stable")
    sizes = np.arange(len(order), 0, -1)
    adjusted = np.maximum.accumulate(np.minimum(np.asarray(p_values)[order] * sizes, 1.0))
    found = np.empty(len(order))
    found[order] = adjusted
    return found.tolist()


def _few_in_first(x1: int, n1: int, x2: int, n2: int) -> float:
    """Boschloo's one-sided p-value against fewer successes in the first policy."""
    both = n1 + n2
    observed = _lower_tails(n1, n2, np.array([x1 + x2]))[x1, 0]
    largest = np.zeros(both + 1)
    for totals in _in_parts(both + 1, _CELLS_AT_A_TIME // (n1 + 1)):
        tails = _lower_tails(n1, n2, totals)
        # Tails that are equal but for rounding are equal.
        largest[totals] = np.where(tails <= observed * (1 + 1e-9), tails, 0.0).max(axis=0)
    rates = np.sin(np.linspace(0, np.pi / 2, _NUM_RATES + 2)[1:-1]) ** 2
    total = np.arange(both + 1)
    log_choices = _log_choices(both)
    worst = 0.0
    for part in _in_parts(len(rates), _CELLS_AT_A_TIME // (both + 1)):
        rate = rates[part, np.newaxis]
        log_binomial = log_choices + total * np.log(rate) + (both - total) * np.log1p(-rate)
        worst = max(worst, float((np.exp(log_binomial) @ largest).max()))
    return min(1.0, worst)


def _lower_tails(n1: int, n2: int, totals: IndexArray) -> FloatArray:
    """P(at most so many successes in the first, rows | total, columns) if both are equally good."""
    first = np.arange(n1 + 1)[:, np.newaxis]
    second = totals - first
    possible = (second >= 0) & (second <= n2)
    log_probability = _log_choices(n1)[:, np.newaxis] + _log_choices(n2)[second * possible]
    log_probability -= _log_choices(n1 + n2)[totals]
    log_probability[~possible] = -np.inf
    return np.cumsum(np.exp(log_probability), axis=0)


def _log_choices(n: int) -> FloatArray:
    """Logarithms of the binomial coefficients n over 0, 1, ..., n."""
    k = np.arange(n + 1)
    return special.gammaln(n + 1) - special.gammaln(k + 1) - special.gammaln(n - k + 1)


def _in_parts(size: int, part: int) -> list[IndexArray]:
    return np.array_split(np.arange(size), -(-size // max(part, 1)))
