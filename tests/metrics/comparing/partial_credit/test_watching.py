"""The test of mean scores that may be looked at after every rollout keeps its word."""

import numpy as np
import pytest
from scipy import integrate

from goalward.metrics.comparing.partial_credit.watching import (
    log_e_values,
    score_looks,
    unrefuted_differences,
)
from goalward.metrics.comparing.watching.sequential import looks

SETTLED = np.log(20)


def test_outcomes_alone_give_the_test_of_outcomes():
    draws = np.random.default_rng(0)
    first, second = draws.random((2, 90)) < np.array([[0.4], [0.7]])
    ours, theirs = score_looks(first, second), looks(first, second)
    assert ours.log_e_value == pytest.approx(theirs.log_e_value, abs=1e-10)
    assert ours.settled_at(0.05) == theirs.settled_at(0.05)
    assert ours.p_value == pytest.approx(theirs.p_value)


def test_the_capital_is_the_integral_over_bets():
    differences = np.array([0.5, -0.25, 1.0, 0.75, 0.1, -0.6])
    integral, _ = integrate.quad(lambda bet: np.prod(1 + bet * differences) / 2, -1, 1)
    assert np.exp(log_e_values(differences)[-1]) == pytest.approx(integral)


@pytest.mark.parametrize("name", ["unlike shapes", "harder and harder", "started alike"])
def test_false_alarms_where_means_are_equal_and_nothing_else(name):
    draws = np.random.default_rng(1)
    shape = (4_000, 150)
    if name == "unlike shapes":
        first, second = np.full(shape, 0.9), (draws.random(shape) < 0.9).astype(float)
    elif name == "harder and harder":
        mean = np.linspace(0.95, 0.05, 150)
        first, second = draws.beta(4 * mean, 4 * (1 - mean), (2, *shape))
    else:
        start = draws.random(shape)
        first, second = np.clip(start + draws.uniform(-0.1, 0.1, (2, *shape)), 0, 1)
    alarms = (log_e_values(second - first) >= SETTLED).any(axis=1).mean()
    assert alarms <= 0.05


def test_the_interval_leaves_0_out_exactly_when_the_test_is_settled():
    draws = np.random.default_rng(2)
    settled = set()
    for size in (10, 20, 40, 60):
        differences = np.clip(draws.normal(0.25, 0.4, size), -1, 1)
        lower, upper = unrefuted_differences(differences)
        is_settled = bool(log_e_values(differences)[-1] >= SETTLED)
        settled.add(is_settled)
        assert bool(lower > 0 or upper < 0) == is_settled
        assert lower <= differences.mean() <= upper
    assert settled == {True, False}


def test_the_interval_holds_at_all_looks_at_once():
    draws = np.random.default_rng(3)
    # P(D = 1) = 0.3, P(D = 0.5) = 0.4, P(D = -1) = 0.3.
    missed = 0
    for _ in range(100):
        differences = draws.choice([1.0, 0.5, -1.0], 60, p=[0.3, 0.4, 0.3])
        missed += any(
            not lower <= 0.2 <= upper
            for lower, upper in (
                unrefuted_differences(differences[:look]) for look in (2, 5, 10, 20, 40, 60)
            )
        )
    assert missed <= 5


def test_what_it_decided_for_is_the_side_that_was_ahead():
    first = np.array([1.0] * 12 + [0.0] * 40)
    found = score_looks(first, 1 - first)
    assert found.settled_at(0.05) == 8
    assert found.settled_for(0.05) == -1.0
    assert found.settled_for(1e-30) is None


def test_no_pairs_and_one_without_a_partner():
    empty = score_looks([], [0.5])
    assert (empty.num_pairs, empty.e_value, empty.p_value, empty.settled_at(0.05)) == (
        0,
        1.0,
        1.0,
        None,
    )
    assert [float(limit) for limit in empty.interval()] == [-1, 1]
    assert score_looks([0.1, 0.2, 0.3], [0.5]).num_pairs == 1
    assert score_looks(np.zeros(3000), np.ones(3000)).e_value == pytest.approx(1e300)
