"""Strengths from preferences: against closed forms, a search, and drawn truths."""

from itertools import combinations

import numpy as np
import pytest
from scipy import optimize

from goalward import GoalwardError
from goalward.metrics.comparing.preferences import Preference, rank_by_preferences


def met(first, second, first_wins, second_wins, ties=0):
    return (
        [Preference(first, second, first)] * first_wins
        + [Preference(second, first, second)] * second_wins
        + [Preference(first, second, None)] * ties
    )


def test_two_policies_have_half_a_win_more_each():
    found = rank_by_preferences(met("a", "b", 3, 12))
    pair = found.pairs[0]
    assert pair.second_wins == pytest.approx(12.5 / 16)
    # The logarithm of the odds has the variance 1 / 3.5 + 1 / 12.5.
    distance = 1.959964 * np.sqrt(1 / 3.5 + 1 / 12.5)
    logit = np.log(12.5 / 3.5)
    assert np.log(np.divide(pair.interval, np.subtract(1, pair.interval))) == pytest.approx(
        [logit - distance, logit + distance], rel=1e-6
    )
    assert [p.log_strength for p in found.policies] == pytest.approx([logit / 2, -logit / 2])
    assert pair.p_value == pytest.approx(0.0353, abs=1e-4)
    assert pair.preferred == "b"


def test_a_clean_sweep_has_a_finite_answer():
    found = rank_by_preferences([*met("a", "b", 8, 0), *met("b", "c", 8, 0), *met("a", "c", 8, 0)])
    assert [policy.policy for policy in found.policies] == ["a", "b", "c"]
    assert all(np.isfinite(policy.interval).all() for policy in found.policies)
    assert found.policies[0].log_strength < 5


def test_many_comparisons_without_ties_agree_with_maximum_likelihood():
    # `choix.ilsr_pairwise` 0.4.1 finds these log strengths for the counts below.
    expected = [-0.94360585, 0.1601607, 0.78344515]
    many = 1_000
    preferences = [
        *met("0", "1", 3 * many, 7 * many),
        *met("0", "2", 1 * many, 9 * many),
        *met("1", "2", 4 * many, 6 * many),
    ]
    found = {p.policy: p.log_strength for p in rank_by_preferences(preferences).policies}
    assert [found[name] for name in "012"] == pytest.approx(expected, abs=1e-3)


def test_ties_by_searching_the_likelihood():
    counts = {("a", "b"): (4, 6, 5), ("a", "c"): (2, 8, 3), ("b", "c"): (5, 5, 7)}
    names = ["a", "b", "c"]

    def negative(parameters):
        strength = dict(zip(names, np.exp([*parameters[:2], 0.0]), strict=True))
        total = 0.0
        for (i, j), (won, lost, tied) in counts.items():
            tie = np.exp(parameters[2]) * np.sqrt(strength[i] * strength[j])
            everything = strength[i] + strength[j] + tie
            # Two strengths are free and three pairs met: a third of a win each way.
            total += (won + 1 / 3) * np.log(strength[i] / everything)
            total += (lost + 1 / 3) * np.log(strength[j] / everything)
            total += tied * np.log(tie / everything)
        return -total

    best = optimize.minimize(negative, np.zeros(3), tol=1e-10).x
    found = rank_by_preferences(
        [one for (i, j), (won, lost, tied) in counts.items() for one in met(i, j, won, lost, tied)]
    )
    strength = {p.policy: p.log_strength for p in found.policies}
    assert strength["a"] - strength["c"] == pytest.approx(best[0], abs=1e-4)
    assert strength["b"] - strength["c"] == pytest.approx(best[1], abs=1e-4)
    # Equally strong policies tie with t / (2 + t).
    assert found.tie_chance == pytest.approx(np.exp(best[2]) / (2 + np.exp(best[2])), abs=1e-4)
    assert {p.policy: (p.wins, p.losses, p.ties) for p in found.policies} == {
        "a": (6, 14, 8),
        "b": (11, 9, 12),
        "c": (13, 7, 10),
    }


def test_ties_alone():
    found = rank_by_preferences(met("a", "b", 0, 0, 10))
    assert found.pairs[0].second_wins == pytest.approx(0.5)
    assert 0.5 < found.tie_chance < 1


def test_policies_that_never_met_are_compared_through_others():
    found = rank_by_preferences([*met("a", "b", 15, 5), *met("b", "c", 15, 5)])
    pair = next(pair for pair in found.pairs if (pair.first, pair.second) == ("a", "c"))
    direct = next(pair for pair in found.pairs if (pair.first, pair.second) == ("a", "b"))
    assert pair.second_wins < direct.second_wins < 0.5
    assert [p.places for p in found.policies] == [(1, 2), (1, 3), (2, 3)]


def test_groups_that_never_met_are_named():
    with pytest.raises(GoalwardError, match="2 groups .* never met.*: a, b; c, d"):
        rank_by_preferences([*met("a", "b", 3, 2), *met("c", "d", 1, 1)])


@pytest.mark.parametrize(
    ("preference", "said"),
    [
        (Preference("a", "a", "a"), "'a' is compared with itself"),
        (Preference("a", "b", "c"), "'c' won a comparison of 'a' and 'b'"),
    ],
)
def test_impossible_comparisons(preference, said):
    with pytest.raises(GoalwardError, match=said):
        rank_by_preferences([preference])


def test_no_comparisons():
    with pytest.raises(GoalwardError, match="no comparisons"):
        rank_by_preferences([])


def test_intervals_hold_the_truth_and_places_do_too():
    draws = np.random.default_rng(0)
    truth = {"a": 0.0, "b": 0.5, "c": 1.0, "d": 2.0}
    held, placed = [], []
    for _ in range(150):
        preferences = []
        for i, j in combinations(truth, 2):
            a, b = np.exp(truth[i]), np.exp(truth[j])
            tie = 0.5 * np.sqrt(a * b)
            counts = draws.multinomial(12, np.array([a, b, tie]) / (a + b + tie))
            preferences += met(i, j, *counts.tolist())
        found = rank_by_preferences(preferences)
        middle = np.mean(list(truth.values()))
        held += [p.interval[0] <= truth[p.policy] - middle <= p.interval[1] for p in found.policies]
        place = {name: 4 - i for i, name in enumerate(truth)}
        placed.append(all(p.places[0] <= place[p.policy] <= p.places[1] for p in found.policies))
    assert np.mean(held) >= 0.93
    assert np.mean(placed) >= 0.95
