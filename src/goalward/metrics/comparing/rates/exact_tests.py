"""Are two success rates equal? Tests that keep their error at any number of rollouts.

And Holm's adjustment, for whoever tests more than once.
"""

# SciPy ships no type stubs.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false

from collections.abc import Sequence

import numpy as np
from scipy import special

from goalward.metrics.comparing.rates.boschloo import boschloo_tests
from goalward.rollouts.endings import FloatArray, IndexArray


def boschloo_test(
    first_successes: int, first_total: int, second_successes: int, second_total: int
) -> float:
    """Are two success rates equal? Independent rollouts of one task; exact (Boschloo 1970).

    See `boschloo.py`, which tests many pairs at once.

    >>> round(boschloo_test(7, 15, 12, 15), 4)
    0.0682
    """
    counts = first_successes, first_total, second_successes, second_total
    return float(boschloo_tests(*counts)[0])


def mcnemar_test(only_first: int, only_second: int) -> float:
    """Are two success rates equal? Paired rollouts; exact (McNemar 1947, binomial).

    Only pairs that one policy alone wins count; under equality each policy wins half of them. As
    pairs are within tasks, tasks need no further care.

    >>> mcnemar_test(1, 7)
    0.0703125
    """
    tail = special.bdtr(min(only_first, only_second), only_first + only_second, 0.5)
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
        fewest, share = hypergeometric(n1, n2, x1 + x2)
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


def hypergeometric(first: int, second: int, total: int) -> tuple[int, FloatArray]:
    """The fewest of `total` successes that the first can have, and the chances from there on.

    A hundred times as fast as `scipy.stats.hypergeom.pmf`, which agrees to eleven digits.
    """
    fewest, most = max(0, total - second), min(first, total)
    x = np.arange(fewest, most + 1)
    log_chance = _log_choices(first, x) + _log_choices(second, total - x)
    return fewest, np.exp(log_chance - _log_choices(first + second, np.array(total)))


def _log_choices(n: int, k: IndexArray) -> FloatArray:
    return special.gammaln(n + 1) - special.gammaln(k + 1) - special.gammaln(n - k + 1)
