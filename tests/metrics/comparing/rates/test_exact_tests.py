"""Exact tests against published examples, and against SciPy's."""

import numpy as np
import pytest
from scipy import stats

from goalward.metrics.comparing.rates.exact_tests import (
    boschloo_test,
    holm,
    mcnemar_test,
    stratified_test,
)


def test_boschloo_as_in_the_documentation_of_scipy():
    # scipy.stats.boschloo_exact: 74 of 117 professors and 31 of 63 scientists, one-sided 0.0355.
    assert boschloo_test(31, 63, 74, 117) == pytest.approx(2 * 0.03556, abs=1e-4)
    # scipy.stats.barnard_exact has 7 of 15 against 12 of 15 vaccinated; Boschloo's for these.
    assert boschloo_test(7, 15, 12, 15) == pytest.approx(0.0682, abs=1e-4)


@pytest.mark.parametrize("sizes", [(8, 11), (20, 20), (40, 25)])
def test_boschloo_agrees_with_scipy_and_never_exceeds_fisher(sizes):
    rng = np.random.default_rng(0)
    for _ in range(5):
        x1, x2 = rng.binomial(sizes, rng.uniform(0.1, 0.9, 2)).tolist()
        p_value = boschloo_test(x1, sizes[0], x2, sizes[1])
        table = [[x1, x2], [sizes[0] - x1, sizes[1] - x2]]
        assert p_value == pytest.approx(stats.boschloo_exact(table).pvalue, rel=2e-5)
        tails = [stats.fisher_exact(table, alternative=a).pvalue for a in ("less", "greater")]
        assert p_value <= min(1, 2 * min(tails)) + 1e-12


def test_boschloo_of_rates_at_the_edge():
    assert boschloo_test(0, 5, 0, 5) == 1
    assert boschloo_test(5, 5, 5, 5) == 1
    assert boschloo_test(0, 5, 5, 5) == boschloo_test(5, 5, 0, 5) == pytest.approx(2 / 2**10)
    with pytest.raises(ValueError, match="successes"):
        boschloo_test(3, 2, 0, 1)


def test_boschloo_takes_large_tables_in_parts(monkeypatch):
    whole = boschloo_test(30, 60, 41, 60)
    monkeypatch.setattr("goalward.metrics.comparing.rates.boschloo._CELLS_AT_A_TIME", 500)
    assert boschloo_test(30, 60, 41, 60) == pytest.approx(whole, rel=1e-12)


def test_mcnemar_in_textbooks():
    # Agresti (1990), Categorical Data Analysis, p. 350: approval of the prime minister, 150 changed
    # to no and 86 to yes, z = -4.17; the exact test is the binomial one.
    assert mcnemar_test(86, 150) == pytest.approx(stats.binomtest(86, 236).pvalue)
    assert mcnemar_test(86, 150) == pytest.approx(2 * stats.norm.sf(4.17), rel=0.3)
    # Fagerland, Lydersen and Laake (2013), BMC Medical Research Methodology 13:91: airway
    # hyper-responsiveness in 21 children, 7 against 1: exact conditional p = 0.0703.
    assert mcnemar_test(1, 7) == pytest.approx(0.0703, abs=5e-5)
    assert mcnemar_test(0, 0) == mcnemar_test(4, 4) == 1


def test_stratified_test_of_agresti():
    # Agresti (1990), pp. 231-237, penicillin and rabbits, as in R's mantelhaen.test(exact = TRUE):
    # p = 0.040; the second and the last dose alone decide nothing.
    cured, treated = [0, 3, 6, 5, 2], [6, 6, 6, 6, 2]
    late_cured, late_treated = [0, 0, 2, 6, 5], [5, 6, 6, 6, 5]
    p_value = stratified_test(cured, treated, late_cured, late_treated)
    assert p_value == pytest.approx(0.03994, abs=5e-6)
    assert stratified_test(late_cured, late_treated, cured, treated) == pytest.approx(p_value)


def test_one_stratum_is_fisher():
    table = [[9, 4], [3, 8]]
    tails = [stats.fisher_exact(table, alternative=a).pvalue for a in ("less", "greater")]
    assert stratified_test([9], [12], [4], [12]) == pytest.approx(2 * min(tails))


def test_holm_by_hand():
    # Sorted 0.01, 0.02, 0.03, 0.5: times 4, 3, 2, 1, and never falling.
    assert holm([0.5, 0.01, 0.03, 0.02]) == pytest.approx([0.5, 0.04, 0.06, 0.06])
    assert holm([0.4, 0.4, 0.9]) == [1, 1, 1]
    assert holm([]) == []
