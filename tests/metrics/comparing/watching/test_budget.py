"""The test for a known end: exact, and as sharp as can be hoped for."""

from itertools import product

import numpy as np
import pytest
from rollout_files.outcomes import outcome_rows, table_of

from goalward import GoalwardError
from goalward.metrics.comparing.comparison import compare
from goalward.metrics.comparing.watching.budget import budget_looks, wanted_leads
from goalward.report.words.comparing.summary import how, verdict


def settled(first, second, budget, alpha=0.05):
    lead = np.cumsum(second.astype(int) - first.astype(int), axis=1)
    return np.abs(lead) >= wanted_leads(first != second, budget, alpha)


@pytest.mark.parametrize(
    "coins", ["1111111111", "1011011101", "0000011111", "1111100000", "1010101010"]
)
def test_every_walk_is_counted_and_no_more_than_the_error_is_spent(coins):
    """All signs of all coins, which are equally likely if the policies are equally good."""
    there = np.array([c == "1" for c in coins])
    signs = np.array(list(product((-1, 1), repeat=int(there.sum()))))
    lead = np.zeros((len(signs), len(there)), dtype=int)
    lead[:, there] = signs
    for alpha in (0.05, 0.3):
        wanted = wanted_leads(there[np.newaxis], 10, alpha)
        alarms = (np.abs(np.cumsum(lead, axis=1)) >= wanted).cumsum(axis=1) > 0
        spent = alarms.mean(axis=0)
        assert (spent <= alpha * np.arange(1, 11) / 10 + 1e-12).all()
        # One more sign could not have been called settled within what is left.
        assert spent[-1] > 0 or 2.0 ** (1 - there.sum()) > alpha


@pytest.mark.parametrize("rate", [0.1, 0.5, 0.9])
def test_false_alarms_of_2_000_null_experiments(rate):
    rng = np.random.default_rng(0)
    alarms = settled(*(rng.random((2, 2_000, 100)) < rate), 100).any(axis=1).mean()
    assert alarms <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 2_000)


def test_a_difference_of_ten_points_is_settled_by_200():
    """0.85 against 0.95 in at least 85 % of cases; without a known end it is 72 %."""
    rng = np.random.default_rng(1)
    first, second = rng.random((2, 600, 200)) < np.array([0.85, 0.95])[:, None, None]
    assert settled(first, second, 200).any(axis=1).mean() >= 0.85


def test_rollouts_beyond_the_budget_do_not_count():
    first, second = np.zeros(30, dtype=bool), np.ones(30, dtype=bool)
    assert len(budget_looks(first, second, 20).lead) == 20
    first[:20] = second[:20]
    assert budget_looks(first, second, 20).settled_at is None


def test_it_is_settled_for_who_leads_when_it_is():
    one, other = np.ones(12, dtype=bool), np.zeros(12, dtype=bool)
    assert budget_looks(other, one, 20).settled_for_second
    found = budget_looks(one, other, 20)
    # 2 * 2^-k for k of k is within 0.05 k / 20 first at 7: 0.0156 of 0.0175.
    assert (found.settled_at, found.settled_for_second) == (7, False)


def compared(tmp_path, first, second, budget, total=40):
    rows = outcome_rows("a", first, total), outcome_rows("b", second, total)
    return compare(table_of(tmp_path, *rows), budget=budget)


def test_a_budget_decides_who_is_better(tmp_path):
    found = compared(tmp_path, 10, 36, 100)
    (pair,) = found.pairs
    assert pair.better == pair.budget.settled_for == "b"
    words = verdict(pair, found)[0]
    assert words.startswith(
        f"b is better than a: settled after {pair.budget.settled_at} of at most"
    )
    assert "100 of each, looking after every rollout; 90 % against 25 %" in words
    assert "p = " not in words
    assert "walks of the lead, exact" in how(found)
    low, _ = pair.watched.interval
    assert low > 0
    assert [policy.letters for policy in found.policies] == ["b", "a"]


def test_what_is_open_says_how_it_stands(tmp_path):
    found = compared(tmp_path, 24, 28, 100)
    (pair,) = found.pairs
    assert (pair.better, pair.budget.num_pairs, pair.budget.settled_at) == (None, 40, None)
    assert pair.budget.lead == 4
    assert 4 < pair.budget.wanted_lead < 20
    assert 0.05 < pair.budget.chance < 0.6
    words = " ".join(verdict(pair, found))
    assert "Cannot tell b from a yet, after 40 of 100 of each: 70 % against 60 %" in words
    assert f"won 4 more pairs than the other, {pair.budget.wanted_lead} wanted now" in words
    assert f"settled by 100 in {100 * pair.budget.chance:.0f} % of all cases" in words
    spent = compared(tmp_path, 24, 28, 40)
    assert "The budget is spent" in " ".join(verdict(spent.pairs[0], spent))


def test_budgets_that_make_no_sense(tmp_path):
    for budget in (0, 10_001):
        with pytest.raises(GoalwardError, match="must be from 1 to 10,000 rollouts of each"):
            compared(tmp_path, 5, 6, budget)
    (tmp_path / "counts.csv").write_text("policy,successes,rollouts\na,5,10\nb,6,10\n")
    from goalward.metrics.comparing.tables.outcome_file import read_outcomes

    with pytest.raises(GoalwardError, match="^budget=50: counts do not say in which order"):
        compare(read_outcomes([tmp_path / "counts.csv"]), budget=50)


def test_rollouts_beyond_the_budget_are_named(tmp_path):
    """Their rates are told beside a test that does not look at them."""
    beyond = "and the budget is 10: the test looks at the first 10, rates and intervals at all"
    notes = compared(tmp_path, 24, 28, 10).notes
    assert [note for note in notes if beyond in note] == [
        f"{policy} has 40 rollouts {beyond}" for policy in "ab"
    ]
    assert not any("the budget is" in note for note in compared(tmp_path, 24, 28, 40).notes)
