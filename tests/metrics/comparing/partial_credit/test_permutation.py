"""Permutation tests of scores: against enumeration, SciPy, and the exact tests of outcomes."""

from itertools import combinations, product

import numpy as np
import pytest
from scipy import stats

from goalward.metrics.comparing.partial_credit import permutation
from goalward.metrics.comparing.partial_credit.permutation import permutation_test, sign_flip_test
from goalward.metrics.comparing.rates.exact_tests import mcnemar_test, stratified_test


def enumerated(first, second):
    """Every way to hand scores out within tasks, one by one."""
    sums = [
        [
            sum(pool[i] for i in chosen)
            for pool in [[*a, *b]]
            for chosen in combinations(range(len(pool)), len(b))
        ]
        for a, b in zip(first, second, strict=True)
    ]
    totals = np.array([sum(ways) for ways in product(*sums)])
    observed = sum(map(sum, second))
    tails = (totals >= observed - 1e-9).mean(), (totals <= observed + 1e-9).mean()
    return min(1.0, 2 * min(tails))


def test_all_ways_within_tasks():
    first = [[0.0, 0.25, 0.5, 0.5], [0.75, 1.0, 0.0]]
    second = [[0.5, 1.0, 0.75], [1.0, 1.0]]
    found = permutation_test(first, second)
    assert found.is_exact
    assert found.p_value == pytest.approx(enumerated(first, second))


def test_scores_in_hundredths_are_counted_too():
    draws = np.random.default_rng(0)
    first, second = (draws.integers(0, 101, (2, 4)) / 100).tolist()
    found = permutation_test([first], [second])
    assert found.is_exact
    assert found.p_value == pytest.approx(enumerated([first], [second]))


def test_outcomes_alone_give_the_exact_test_by_task():
    def scores(successes, totals):
        return [[1.0] * x + [0.0] * (n - x) for x, n in zip(successes, totals, strict=True)]

    counts = [3, 6, 5], [6, 7, 9], [0, 2, 9], [6, 6, 11]
    found = permutation_test(scores(*counts[:2]), scores(*counts[2:]))
    assert found.p_value == pytest.approx(stratified_test(*counts))


def test_pairs_of_outcomes_give_mcnemars_test():
    first = [1.0] * 3 + [0.0] * 11 + [1.0] * 6
    second = [0.0] * 3 + [1.0] * 11 + [1.0] * 6
    assert sign_flip_test(first, second).p_value == pytest.approx(mcnemar_test(3, 11))


def test_scores_off_any_lattice_by_draws_agree_with_scipy():
    draws = np.random.default_rng(1)
    first, second = draws.random(5), draws.random(6) * 0.7 + 0.3
    found = permutation_test([first], [second])
    exact = stats.permutation_test(
        (second, first), lambda a, b: a.mean() - b.mean(), n_resamples=np.inf
    )
    assert not found.is_exact
    assert found.p_value == pytest.approx(exact.pvalue, abs=0.015)


def test_draws_count_the_observed_way_in(monkeypatch):
    monkeypatch.setattr(permutation, "NUM_DRAWS", 99)
    found = permutation_test([np.linspace(0, 0.3, 12) ** 2], [1 - np.linspace(0, 0.3, 12) ** 2])
    # None of 99 ways is as extreme: 2 (0 + 1) / (99 + 1).
    assert (found.p_value, found.is_exact) == (0.02, False)


@pytest.mark.parametrize("size", [6, 9])
def test_signs_off_any_lattice_one_by_one(size):
    draws = np.random.default_rng(size)
    first, second = draws.random(size), draws.random(size) ** 0.3
    differences = second - first
    sums = np.array([np.dot(signs, differences) for signs in product((1, -1), repeat=size)])
    tails = (sums >= differences.sum() - 1e-9).mean(), (sums <= differences.sum() + 1e-9).mean()
    found = sign_flip_test(first, second)
    assert found.is_exact
    assert found.p_value == pytest.approx(2 * min(tails))


def test_many_signs_by_draws_agree_with_the_count_of_all():
    draws = np.random.default_rng(5)
    first, second = draws.integers(0, 2, (2, 60)) / 2
    second = np.minimum(second + draws.integers(0, 2, 60) / 4, 1)
    exact = sign_flip_test(first, second)
    # A hair off the lattice, nothing else changes.
    drawn = sign_flip_test(first, np.clip(second - np.pi * 1e-6 * (1 + np.arange(60)), 0, 1))
    assert (exact.is_exact, drawn.is_exact) == (True, False)
    assert drawn.p_value == pytest.approx(exact.p_value, abs=0.02)


def test_equal_scores_are_no_difference():
    assert permutation_test([[0.5] * 4], [[0.5] * 6]).p_value == 1.0
    assert sign_flip_test([0.5, 0.1], [0.5, 0.1]).p_value == 1.0


def test_false_alarms_of_alike_policies():
    draws = np.random.default_rng(2)
    scores = draws.choice([0, 0.5, 1], (400, 24), p=[0.2, 0.3, 0.5])
    alarms = [permutation_test([row[:10]], [row[10:]]).p_value <= 0.05 for row in scores]
    assert np.mean(alarms) <= 0.05 + 2.5 * np.sqrt(0.05 * 0.95 / 400)


def test_scores_that_are_no_pairs():
    with pytest.raises(ValueError, match="3 and 2 scores are no pairs"):
        sign_flip_test([0.1, 0.2, 0.3], [0.1, 0.2])
