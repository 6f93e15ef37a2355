"""Sample sizes against the tests that they are for."""

import numpy as np
import pytest

from goalward.metrics.comparing.rates.exact_tests import (
    boschloo_test,
    mcnemar_test,
    stratified_test,
)
from goalward.metrics.comparing.sample_size import (
    UntilSettled,
    pairs_for_power,
    rollouts_for_power,
    until_settled,
)
from goalward.metrics.comparing.watching.sequential import log_e_value


@pytest.mark.parametrize(("first", "second"), [(0.6, 0.8), (0.5, 0.8), (0.85, 0.97)])
def test_one_task_with_the_test_itself(first, second):
    size = rollouts_for_power([first], [second], [1.0])
    rng = np.random.default_rng(0)
    counts = zip(rng.binomial(size, first, 500), rng.binomial(size, second, 500), strict=True)
    found = np.mean([boschloo_test(int(a), size, int(b), size) <= 0.05 for a, b in counts])
    assert 0.75 <= found <= 0.86


def test_fleiss():
    # Fleiss (1981), Statistical Methods for Rates and Proportions, eq. 3.14: (z_a sqrt(2pq) +
    # z_b sqrt(p1 q1 + p2 q2))^2 / d^2 = 81.2 for 0.6 against 0.8 at 5 % and 80 %.
    assert rollouts_for_power([0.6], [0.8], [1.0]) == pytest.approx(82, abs=4)


def test_several_tasks_with_the_test_itself():
    first, second = np.array([0.2, 0.5, 0.8]), np.array([0.35, 0.65, 0.95])
    size = rollouts_for_power(first, second, [1 / 3] * 3)
    totals = [round(size / 3)] * 3
    rng = np.random.default_rng(0)
    counts = zip(
        rng.binomial(totals, first, (1000, 3)).tolist(),
        rng.binomial(totals, second, (1000, 3)).tolist(),
        strict=True,
    )
    found = np.mean([stratified_test(a, totals, b, totals) <= 0.05 for a, b in counts])
    assert 0.76 <= found <= 0.85


@pytest.mark.parametrize("shares", [(0.1, 0.25), (0.0, 0.1), (0.02, 0.06)])
def test_pairs_with_the_test_itself(shares):
    size = pairs_for_power(*shares)
    rng = np.random.default_rng(0)
    pairs = rng.multinomial(size, [*shares, 1 - sum(shares)], 3_000).tolist()
    found = np.mean([mcnemar_test(a, b) <= 0.05 for a, b, _ in pairs])
    assert 0.77 <= found <= 0.83


def test_pairs_that_the_second_always_wins():
    """Six wins of six are as rare as 2 / 64; an error of exactly that is still found by six."""
    assert pairs_for_power(0.0, 1.0) == 6
    assert pairs_for_power(0.0, 1.0, alpha=2 / 64) == 6
    assert pairs_for_power(1.0, 0.0, alpha=2 / 65) == 7


def test_sequential_from_the_start_and_from_the_middle():
    found = until_settled(0.1, 0.4)
    # The same by plain simulation of every pair.
    rng = np.random.default_rng(7)
    kinds = rng.random((4_000, 300))
    wins, losses = np.cumsum(kinds < 0.4, axis=1), np.cumsum(kinds > 0.9, axis=1)
    reached = log_e_value(wins, losses) >= np.log(20)
    after = np.where(reached.any(axis=1), reached.argmax(axis=1) + 1, np.inf)
    assert found.median == pytest.approx(np.median(after), abs=4)
    assert found.nine_in_ten == pytest.approx(np.quantile(after, 0.9), abs=9)
    assert until_settled(0.1, 0.4, wins=8, losses=2).median < found.median
    assert until_settled(0.1, 0.4, wins=20).median == 0
    assert until_settled(0.1, 0.4, alpha=0.01).median > found.median


def test_no_difference_is_never_found():
    assert pairs_for_power(0.1, 0.1) is None
    assert rollouts_for_power([0.5], [0.5], [1.0]) is None
    assert until_settled(0.1, 0.1) == UntilSettled(None, None)


def test_more_than_anybody_runs():
    assert rollouts_for_power([0.9], [0.901], [1.0]) is None
    assert pairs_for_power(0.01, 0.011) is None
    assert until_settled(0.05, 0.051) == UntilSettled(None, None)
