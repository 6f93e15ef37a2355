"""Do groups succeed equally often: against SciPy, at its level where counts are small."""

import numpy as np
import pytest
from scipy import stats

from goalward.metrics.uncertainty.equal_rates import (
    CHI_SQUARE,
    PERMUTATION,
    against_the_rest,
    equal_rates,
)


def test_large_counts_are_pearsons_chi_square():
    successes, totals = np.array([12, 28, 20]), np.array([40, 45, 50])
    found = equal_rates(successes, totals)
    expected = stats.chi2_contingency([successes, totals - successes], correction=False)
    assert found.test == CHI_SQUARE
    assert found.p_value == pytest.approx(expected.pvalue)


def test_small_counts_are_permuted_and_agree_with_the_exact_p_value():
    """Two groups given their sum: Fisher's tables, by how far apart they are."""
    found = equal_rates([4, 0], [5, 6])
    tables = np.arange(5)
    probability = stats.hypergeom.pmf(tables, 11, 4, 5)
    apart = np.abs(tables - 5 * 4 / 11)
    exact = probability[apart >= apart[4] - 1e-9].sum()
    assert found.test == PERMUTATION
    assert found.p_value == pytest.approx(exact, abs=0.004)


def test_equal_tasks_of_few_episodes_are_called_different_as_rarely_as_promised():
    """92 tasks of one or two episodes: the chi-square distribution would not do."""
    draws = np.random.default_rng(0)
    totals = np.array([1] * 59 + [2] * 33)
    found = [equal_rates(draws.binomial(totals, 0.55), totals) for _ in range(60)]
    assert {one.test for one in found} == {PERMUTATION}
    # At most 5 % in the long run; 9 of 60 would be seen less than twice in a thousand.
    assert sum(one.differ for one in found) <= 8


def test_where_all_ended_alike_nothing_is_tested():
    assert equal_rates([3, 4], [3, 4]).p_value is None
    assert equal_rates([0, 0], [3, 4]).reason == "all episodes ended alike"
    assert not equal_rates([0, 0], [3, 4]).differ
    assert equal_rates([3], [4]).reason == "one group"


def test_a_task_stands_out_only_after_all_the_others_were_asked_too():
    alone = against_the_rest([1, 14], [8, 16])
    assert max(alone) < 0.05
    among_many = against_the_rest([1, 14] + [5] * 40, [8, 16] + [8] * 40)
    assert min(among_many) > 0.05
    fisher = stats.hypergeom.cdf(1, 24, 15, 8)
    assert alone[0] == pytest.approx(2 * 2 * fisher)
