"""What to believe of two policies: against Beta distributions, integrals, and drawn truths."""

import numpy as np
import pytest
from scipy import integrate, stats

from goalward.metrics.comparing.rates import posterior
from goalward.metrics.comparing.rates.posterior import (
    central,
    compare_rates,
    density,
    rate_posterior,
)


def test_one_task_is_a_beta_distribution():
    found = rate_posterior("a", [9], [10])
    assert found.interval(0.9) == pytest.approx(stats.beta.interval(0.9, 10, 2), abs=0.003)
    assert found.mean.mean() == pytest.approx(10 / 12, abs=0.002)


@pytest.mark.parametrize(("a", "b"), [((12, 20), (17, 20)), ((3, 4), (50, 90)), ((0, 5), (0, 50))])
def test_the_second_is_better_by_an_integral(a, b):
    # P(B > A) = integral of density of B times distribution function of A.
    first, second = (stats.beta(x + 1, n - x + 1) for x, n in (a, b))
    exact, _ = integrate.quad(lambda rate: second.pdf(rate) * first.cdf(rate), 0, 1)
    found = compare_rates(
        *(rate_posterior(name, [x], [n]) for name, (x, n) in (("a", a), ("b", b)))
    )
    assert found.second_better == pytest.approx(exact, abs=0.006)
    assert found.difference == pytest.approx(second.mean() - first.mean(), abs=0.003)
    assert len(found.tasks) == 1


def test_tasks_borrow_from_each_other_by_an_integral():
    """The mean rate of one of three tasks, integrated by SciPy over mean and unlikeness."""
    successes, totals = [2, 5, 9], [3, 10, 10]

    def likelihood(mean, unlikeness):
        c = 1 / unlikeness - 1
        return np.prod(
            [
                stats.betabinom.pmf(x, n, mean * c, (1 - mean) * c)
                for x, n in zip(successes, totals, strict=True)
            ]
        )

    def weighed(mean, unlikeness):
        c = 1 / unlikeness - 1
        return likelihood(mean, unlikeness) * (mean * c + 2) / (c + 3)

    nodes, weights = np.polynomial.legendre.leggauss(30)
    grid = [((1 + a) / 2, (1 + b) / 2) for a in nodes for b in nodes]
    both = np.outer(weights, weights).ravel()
    expected = np.dot(both, [weighed(*point) for point in grid]) / np.dot(
        both, [likelihood(*point) for point in grid]
    )
    found = rate_posterior("a", successes, totals)
    assert found.by_task[:, 0].mean() == pytest.approx(expected, abs=0.004)
    # Between what the task alone says, 2 / 3 or (2 + 1) / (3 + 2), and all tasks, 16 / 23.
    assert 0.6 < expected < 0.7


def test_tasks_that_are_alike_borrow_more():
    alike = rate_posterior("a", [1, 30, 31, 29, 30], [2, 60, 60, 60, 60]).by_task[:, 0]
    unlike = rate_posterior("a", [1, 0, 60, 0, 60], [2, 60, 60, 60, 60]).by_task[:, 0]
    # Alone, 1 of 2 is 0.09 to 0.91.
    assert np.ptp(central(alike, 0.95)) < 0.5 < np.ptp(central(unlike, 0.95))


def test_weights_say_how_much_a_task_counts():
    found = rate_posterior("a", [1, 99], [100, 100], [3, 1])
    assert found.mean == pytest.approx(0.75 * found.by_task[:, 0] + 0.25 * found.by_task[:, 1])


def test_intervals_hold_truths_drawn_from_the_prior(monkeypatch):
    """Given the prior, a credible interval holds the truth as often as it says."""
    monkeypatch.setattr(posterior, "NUM_DRAWS", 2_000)
    draws = np.random.default_rng(0)
    held, better = [], []
    for experiment in range(120):
        policies, truths = [], []
        for name in ("a", "b"):
            mean, c = draws.random(), 1 / draws.random() - 1
            rates = draws.beta(mean * c + 1e-9, (1 - mean) * c + 1e-9, 4)
            counts = draws.binomial(8, rates).tolist()
            policies.append(rate_posterior(f"{name}{experiment}", counts, [8] * 4))
            truths.append(rates.mean())
        found = compare_rates(*policies, level=0.8)
        truth = truths[1] - truths[0]
        held.append(found.interval[0] <= truth <= found.interval[1])
        better.append((found.second_better, truth > 0))
    assert 0.7 <= np.mean(held) <= 0.9
    said, was = np.array(better).T
    assert np.mean(said) == pytest.approx(np.mean(was), abs=0.08)
    assert np.mean((said - was) ** 2) < 0.15


def test_a_picture_of_the_density():
    points, heights = density(rate_posterior("a", [9], [10]).mean)
    assert heights.sum() * (points[1] - points[0]) == pytest.approx(1)
    assert points[heights.argmax()] == pytest.approx(0.9, abs=0.04)


@pytest.mark.parametrize("counts", [([], []), ([3], [2]), ([-1], [2]), ([1, 2], [3])])
def test_impossible_counts(counts):
    with pytest.raises(ValueError, match="wanted 0 <= successes <= totals"):
        rate_posterior("a", *counts)


def test_draws_of_one_name_are_not_compared():
    one = rate_posterior("a", [1], [2])
    with pytest.raises(ValueError, match="'a' twice"):
        compare_rates(one, rate_posterior("a", [2], [2]))
