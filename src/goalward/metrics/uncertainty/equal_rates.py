"""Do several groups of episodes succeed equally often? And which of them stands out?"""

# pyright: standard
# (scipy ships no type stubs)

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special, stats

from goalward.metrics.comparing.rates.exact_tests import holm
from goalward.rollouts.endings import FloatArray, IndexArray
from goalward.seeds import generator

ALPHA = 0.05
CHI_SQUARE = "chi-square test"
PERMUTATION = "permutation test"
# Cochran's rule: with fewer expected in a cell the chi-square distribution is not the right one.
_LEAST_EXPECTED = 5.0
_NUM_PERMUTATIONS = 9_999
_COUNTS_AT_A_TIME = 1 << 21


@dataclass(frozen=True)
class EqualRates:
    """Whether groups have one common rate: the test that was made and its p value.

    None and the reason where there is nothing to test.
    """

    test: str
    """Its name."""
    p_value: float | None
    """How likely rates so different are if all are the same."""
    reason: str = ""
    """Why there is none."""

    @property
    def differ(self) -> bool:
        """Whether the rates lie further apart than chance would put them."""
        return self.p_value is not None and self.p_value <= ALPHA


def equal_rates(successes: Sequence[int], totals: Sequence[int]) -> EqualRates:
    """Pearson's statistic over groups, sum of (x - n p)^2 / (n p (1 - p)), p the common rate.

    Against the chi-square distribution where at least five successes and five others are expected
    in every group; else against 9,999 permutations of the outcomes over all episodes, which keeps
    its level at any counts: p = (1 + as far apart) / 10,000.

    >>> found = equal_rates([12, 28], [40, 40])
    >>> found.test, round(found.p_value, 5), found.differ
    ('chi-square test', 0.00035, True)
    >>> equal_rates([1, 0], [1, 2]).test
    'permutation test'
    """
    x, n = np.asarray(successes, dtype=np.int64), np.asarray(totals, dtype=np.int64)
    rate = x.sum() / n.sum()
    if len(n) < 2 or rate in (0.0, 1.0):
        reason = "one group" if len(n) < 2 else "all episodes ended alike"
        return EqualRates("", None, reason)
    observed = float(_pearson(x, n, rate))
    if (n * min(rate, 1 - rate)).min() >= _LEAST_EXPECTED:
        return EqualRates(CHI_SQUARE, float(special.chdtrc(len(n) - 1, observed)))
    draws = generator(0, "equal rates")
    as_far = 0
    for part in _parts(len(n)):
        drawn = draws.multivariate_hypergeometric(n, int(x.sum()), size=part, method="marginals")
        # Tables that are equal but for rounding are equal.
        as_far += int((_pearson(drawn, n, rate) >= observed * (1 - 1e-9)).sum())
    return EqualRates(PERMUTATION, (1 + as_far) / (1 + _NUM_PERMUTATIONS))


def against_the_rest(successes: Sequence[int], totals: Sequence[int]) -> list[float]:
    """Could each group be as good as all the others together? p values, adjusted over groups.

    Exact: given the successes in all, those of a group are hypergeometric; two-sided as twice the
    smaller tail; Holm's adjustment, so that one false alarm among a thousand groups is as rare.

    >>> [round(p, 4) for p in against_the_rest([0, 9, 9], [9, 10, 10])]
    [0.0, 0.1155, 0.1155]
    """
    x, n = np.asarray(successes), np.asarray(totals)
    below = stats.hypergeom.cdf(x, n.sum(), x.sum(), n)
    above = stats.hypergeom.sf(x - 1, n.sum(), x.sum(), n)
    return holm(np.minimum(1.0, 2 * np.minimum(below, above)).tolist())


def _pearson(successes: IndexArray, totals: IndexArray, rate: float) -> FloatArray:
    apart = (successes - totals * rate) ** 2 / (totals * rate * (1 - rate))
    return np.asarray(apart.sum(axis=-1))


def _parts(num_groups: int) -> list[int]:
    """How many permutations to draw at a time."""
    most = max(_COUNTS_AT_A_TIME // num_groups, 1)
    whole, rest = divmod(_NUM_PERMUTATIONS, most)
    return [most] * whole + [rest] * (rest > 0)
