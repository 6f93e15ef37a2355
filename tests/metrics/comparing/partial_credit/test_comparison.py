"""Policies compared by their scores, from the table to the verdict."""

import numpy as np
import pytest

from goalward import GoalwardError
from goalward.metrics.comparing.comparison import compare
from goalward.metrics.comparing.partial_credit.mean_interval import mean_by_task, mean_interval
from goalward.metrics.comparing.partial_credit.permutation import permutation_test, sign_flip_test
from goalward.metrics.comparing.tables.outcome_file import read_outcomes

RUBRIC = [0.0, 0.25, 0.5, 0.75, 1.0]


def table(tmp_path, header, rows):
    lines = [header, *(",".join(map(str, row)) for row in rows)]
    (tmp_path / "all.csv").write_text("\n".join(lines))
    return read_outcomes([tmp_path / "all.csv"])


def drawn(rng, size, ahead=0.0):
    chance = np.array([0.3, 0.2, 0.2, 0.2, 0.1]) + ahead * np.array([-0.2, -0.1, 0, 0.1, 0.2])
    return rng.choice(RUBRIC, size, p=chance)


def test_means_intervals_test_and_letters(tmp_path):
    rng = np.random.default_rng(0)
    old, new = drawn(rng, 40), drawn(rng, 40, 1.0)
    rows = [(p, s, int(s == 1)) for p, some in (("old", old), ("new", new)) for s in some]
    found = compare(table(tmp_path, "policy,score,success", rows))
    assert not found.scores_only
    first, second = found.scores.policies
    assert first.mean == pytest.approx(old.mean())
    assert first.interval == pytest.approx(tuple(map(float, mean_interval(old))))
    (pair,) = found.scores.pairs
    assert pair.p_value == permutation_test([old], [new]).p_value
    assert (pair.better, pair.test) == ("new", "permutations, exact")
    assert (first.letters, second.letters) == ("b", "a")


def test_shared_starts_pair_scores(tmp_path):
    rng = np.random.default_rng(1)
    start = drawn(rng, 30)
    new = np.minimum(start + 0.25 * (rng.random(30) < 0.4), 1)
    rows = [(p, i, s) for i in range(30) for p, s in (("old", start[i]), ("new", new[i]))]
    (pair,) = compare(table(tmp_path, "policy,initial_state,score", rows)).scores.pairs
    assert pair.test == "sign flips, exact"
    assert pair.p_value == sign_flip_test(start, new).p_value
    assert pair.better == "new"


def test_unbalanced_tasks_are_weighted_as_rates_are(tmp_path):
    """The one met the easy task more often; in either task both are alike."""
    rows = [
        (policy, task, score)
        for policy, counts in (("a", (40, 10)), ("b", (10, 40)))
        for (task, scores), count in zip(
            (("easy", (1.0, 0.75)), ("hard", (0.0, 0.25))), counts, strict=True
        )
        for i in range(count)
        for score in [scores[i % 2]]
    ]
    found = compare(table(tmp_path, "policy,task,score", rows))
    a, b = found.scores.policies
    assert a.mean == pytest.approx(b.mean) == pytest.approx(0.5)
    easy, hard = np.tile([1.0, 0.75], 20), np.tile([0.0, 0.25], 5)
    wanted = mean_by_task([easy, hard], [0.5, 0.5])
    assert a.interval == pytest.approx(tuple(map(float, wanted)))
    assert found.scores.pairs[0].better is None
    assert found.scores.pairs[0].test == "permutations within tasks, exact"


def test_equal_means_of_unlike_spreads_are_not_told_apart(tmp_path):
    """60 scores of 0.5 against 20 of 0 or 1: permutations alone would tell them apart."""
    rows = [*[("steady", 0.5)] * 60, *[("risky", 1.0)] * 14, *[("risky", 0.0)] * 6]
    (pair,) = compare(table(tmp_path, "policy,score", rows)).scores.pairs
    assert pair.p_value < 0.05
    assert pair.interval[0] < 0 < pair.interval[1]
    assert pair.better is None


def test_a_table_of_scores_alone(tmp_path):
    rng = np.random.default_rng(2)
    rows = [
        (p, f"{rng.beta(k, 2):.3f}") for _ in range(30) for p, k in (("weak", 1), ("strong", 4))
    ]
    found = compare(table(tmp_path, "policy,progress", rows))
    assert found.scores_only
    assert [policy.policy for policy in found.best_first] == ["strong", "weak"]
    (pair,) = found.scores.pairs
    assert (pair.better, pair.settled_for) == ("strong", "strong")
    with pytest.raises(GoalwardError, match="^budget=.*: wanted a column success or outcome"):
        compare(table(tmp_path, "policy,progress", rows), budget=50)


def test_many_policies_are_corrected_together(tmp_path):
    """Six of ten against three of ten scores of 1 is clear for one pair, not for ten."""
    counts = {"a": 8, "b": 1, "c": 4, "d": 4, "e": 4}
    rows = [(p, float(i < n), int(i < n)) for p, n in counts.items() for i in range(10)]
    few = [row for row in rows if row[0] in "ab"]
    (alone,) = compare(table(tmp_path, "policy,score,success", few)).scores.pairs
    among = compare(table(tmp_path, "policy,score,success", rows)).scores.pairs[0]
    assert alone.p_value == among.p_value < 0.05
    assert (alone.better, among.better) == ("a", None)


def test_counts_and_wide_tables_say_outcomes(tmp_path):
    counts = table(tmp_path, "policy,successes,trials", [("a", 3, 5), ("b", 4, 5)])
    assert not counts.scores_only
