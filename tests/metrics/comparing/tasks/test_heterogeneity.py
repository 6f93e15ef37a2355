"""Whether the difference is the same in all tasks."""

from itertools import product
from math import comb, prod

import numpy as np
import pytest
from scipy import stats

from goalward.metrics.comparing.tasks import heterogeneity
from goalward.metrics.comparing.tasks.heterogeneity import BRESLOW_DAY, ZELEN, equal_odds


def test_zelen_by_counting_every_table():
    """Three tasks of 4 to 6 rollouts: all ways to deal the successes out, by their chances."""
    x1, n1, x2, n2 = [4, 1, 2], [5, 6, 4], [1, 5, 2], [4, 6, 5]
    totals = [a + b for a, b in zip(x1, x2, strict=True)]

    def ways(shares):
        return prod(
            comb(m, x) * comb(n, t - x)
            for x, m, n, t in zip(shares, n1, n2, totals, strict=True)
            if 0 <= t - x <= n
        ) * all(0 <= t - x <= n for x, t, n in zip(shares, totals, n2, strict=True))

    tables = [s for s in product(*(range(m + 1) for m in n1)) if sum(s) == sum(x1) and ways(s)]
    in_all = sum(map(ways, tables))
    exact = sum(ways(s) for s in tables if ways(s) <= ways(x1)) / in_all
    found = equal_odds(x1, n1, x2, n2)
    assert found.test == ZELEN
    assert found.p_value == pytest.approx(exact, abs=0.015)


def test_breslow_and_day_by_the_textbook():
    """With a ratio of odds that solves each table's quadratic equation, and Tarone's correction."""
    x1, n1, x2, n2 = (np.array(v) for v in ([40, 20, 60], [100] * 3, [60, 45, 65], [100] * 3))
    both = n1 + n2
    ratio = (x1 * (n2 - x2) / both).sum() / (x2 * (n1 - x1) / both).sum()
    expected = []
    for a, m, b, n in zip(x1, n1, x2, n2, strict=True):
        t = a + b
        roots = np.roots([1 - ratio, n - t + ratio * (m + t), -ratio * m * t])
        expected.append(next(r for r in roots.real if max(0, t - n) <= r <= min(m, t)))
    e = np.array(expected)
    t = x1 + x2
    variance = 1 / (1 / e + 1 / (n1 - e) + 1 / (t - e) + 1 / (n2 - t + e))
    statistic = ((x1 - e) ** 2 / variance).sum() - (x1 - e).sum() ** 2 / variance.sum()
    found = equal_odds(x1, n1, x2, n2)
    assert found.test == BRESLOW_DAY
    assert found.p_value == pytest.approx(stats.chi2.sf(statistic, 2))


def test_false_alarms_at_small_and_large_counts():
    rng = np.random.default_rng(0)
    first = np.array([0.2, 0.5, 0.8, 0.9])
    odds = 2 * first / (1 - first)
    second = odds / (1 + odds)
    for n in (8, 150):
        found = [
            equal_odds(rng.binomial(n, first), [n] * 4, rng.binomial(n, second), [n] * 4,
                       num_draws=199)
            for _ in range(400)
        ]  # fmt: skip
        alarms = np.mean([f.p_value is not None and f.p_value <= 0.05 for f in found])
        assert alarms <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 400)


def test_tasks_that_all_end_alike_say_nothing():
    found = equal_odds([5, 0, 3], [5, 5, 6], [5, 0, 2], [5, 5, 6])
    assert (found.p_value, found.differ) == (None, False)


def test_many_draws_agree_with_the_large_sample_test():
    tables = np.array([[30, 60, 40, 60], [20, 60, 41, 60], [33, 60, 35, 60]])
    by_draws = heterogeneity._zelen(tables, 9_999)
    assert by_draws == pytest.approx(equal_odds(*tables.T).p_value, abs=0.03)
