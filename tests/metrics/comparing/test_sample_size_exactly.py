"""Sample sizes by counting every outcome, and simulated ones to the last rollout."""

from math import comb

import pytest

from goalward.metrics.comparing.rates.exact_tests import mcnemar_test
from goalward.metrics.comparing.sample_size import (
    UntilSettled,
    pairs_for_power,
    rollouts_for_power,
    until_settled,
)


def power_of_mcnemar(num_pairs, only_first, only_second, alpha):
    """The chance of all numbers of pairs that one policy alone wins at which the test rejects."""
    return sum(
        comb(num_pairs, a)
        * comb(num_pairs - a, b)
        * only_first**a
        * only_second**b
        * (1 - only_first - only_second) ** (num_pairs - a - b)
        for a in range(num_pairs + 1)
        for b in range(num_pairs + 1 - a)
        if mcnemar_test(a, b) <= alpha
    )


@pytest.mark.parametrize(
    ("shares", "alpha", "power", "size"),
    [((0.05, 0.35), 0.05, 0.9, 44), ((0.05, 0.35), 0.2, 0.8, 23), ((0.5, 0.1), 0.02, 0.6, 28)],
)
def test_pairs_by_counting_every_outcome(shares, alpha, power, size):
    assert pairs_for_power(*shares, alpha=alpha, power=power) == size
    assert power_of_mcnemar(size, *shares, alpha) >= power
    assert power_of_mcnemar(size - 1, *shares, alpha) < power


@pytest.mark.parametrize(
    ("shares", "options", "median", "nine_in_ten"),
    [
        ((0.1, 0.4), {}, 40, 85),
        ((0.1, 0.4), {"alpha": 0.01}, 59, 112),
        ((0.3, 0.05), {"wins": 2, "losses": 4}, 44, 78),
        ((0.1, 0.4), {"wins": 8, "losses": 2}, 22, 56),
        ((0.05, 0.2), {"wins": 3, "losses": 8}, 185, 281),
        ((0.02, 0.06), {}, 384, 851),
        ((0.2, 0.3), {}, 413, 911),
        ((0.0, 1.0), {}, 8, 8),
        ((0.1, 0.12), {}, 5398, None),
    ],
)
def test_near_what_a_thousand_simulations_gave(shares, options, median, nine_in_ten):
    """Simulated pair by pair, once; the quick answer is within a fifth of each."""
    found = until_settled(*shares, **options)
    assert found.median == pytest.approx(median, rel=0.2)
    if nine_in_ten is None:
        assert found.nine_in_ten is None
    else:
        assert found.nine_in_ten == pytest.approx(nine_in_ten, rel=0.2)


def test_sizes_near_those_of_four_thousand_simulations():
    """They gave 81, 18 and 172."""
    assert rollouts_for_power([0.6], [0.8], [1.0]) == 82
    assert rollouts_for_power([0.6], [0.8], [1.0], alpha=0.2, power=0.5) == 18
    assert rollouts_for_power([0.2, 0.5], [0.4, 0.6], [0.5, 0.5]) == 172


def test_what_is_settled_needs_nothing_more():
    assert until_settled(0.1, 0.4, wins=20) == UntilSettled(0, 0)
    assert until_settled(0.4, 0.1, losses=20) == UntilSettled(0, 0)
