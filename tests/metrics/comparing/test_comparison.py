"""Comparisons of small tables."""

import json

import pytest
from rollout_files.outcomes import outcome_rows, table_of

from goalward import GoalwardError
from goalward.metrics.comparing.comparison import compare
from goalward.metrics.comparing.rates.exact_tests import (
    boschloo_test,
    holm,
    mcnemar_test,
    stratified_test,
)
from goalward.metrics.comparing.sample_size import (
    pairs_for_power,
    rollouts_for_power,
    until_settled,
)
from goalward.metrics.comparing.tables.outcome_file import read_outcomes
from goalward.metrics.comparing.watching.sequential import difference_interval


def compared(tmp_path, *rows, **options):
    return compare(table_of(tmp_path, *rows), **options)


def test_two_policies_apart(tmp_path):
    found = compared(tmp_path, outcome_rows("old", 20, 40), outcome_rows("new", 36, 40, steps=30))
    pair = found.pairs[0]
    assert (pair.first, pair.second, pair.better) == ("old", "new", "new")
    assert (pair.first_rate, pair.second_rate) == (0.5, 0.9)
    assert pair.difference == pytest.approx(0.4)
    assert (pair.test, pair.interval_method) == ("Boschloo, exact", "Newcombe")
    assert pair.p_value == pair.adjusted_p_value == boschloo_test(20, 40, 36, 40)
    assert pair.until_settled is pair.rollouts_for_power is None
    assert [p.letters for p in found.policies] == ["b", "a"]
    assert found.policies[0].rate_interval == pytest.approx((0.3520, 0.6480), abs=1e-4)
    assert (found.paired, found.horizon, found.notes) == (False, 100, ())
    # 20 rollouts of 50 to 56 steps and 20 of 100; 36 of 30 to 36 and 4 of 100.
    assert found.policies[0].mean_steps == pytest.approx((20 * 50 + 2 * 21 + 15 + 20 * 100) / 40)
    assert pair.steps.difference == pytest.approx(
        found.policies[1].mean_steps - found.policies[0].mean_steps
    )
    assert json.loads(json.dumps(found.as_dict()))["pairs"][0]["better"] == "new"


def test_what_cannot_be_told_yet_says_how_much_more(tmp_path):
    found = compared(tmp_path, outcome_rows("a", 14, 20), outcome_rows("b", 17, 20))
    pair = found.pairs[0]
    assert pair.better is None
    assert {p.letters for p in found.policies} == {"a"}
    assert 80 < pair.rollouts_for_power < 180
    assert 40 < pair.until_settled.median < pair.until_settled.nine_in_ten < 600


def test_how_much_more_follows_from_the_rates_and_the_number_of_pairs(tmp_path):
    """Three policies: each pair is asked at a third of the error."""
    rows = [outcome_rows(name, wins, 20) for name, wins in (("a", 14), ("b", 17), ("c", 16))]
    pair = compared(tmp_path, *rows, level=0.9).pairs[0]
    alpha = 0.1 / 3
    assert pair.rollouts_for_power == rollouts_for_power([0.7], [0.85], [1.0], alpha=alpha)
    # Who met whom is chance; one alone wins 0.7 * 0.15 and 0.85 * 0.3 of the pairs.
    wins, losses = wins_and_losses(rows[0], rows[1])
    assert pair.until_settled == until_settled(
        0.7 * 0.15, 0.85 * 0.3, wins=wins, losses=losses, alpha=alpha
    )
    interval = difference_interval(wins, losses, 20, 0.9)
    assert pair.watched.interval == pytest.approx((float(interval.lower), float(interval.upper)))


def wins_and_losses(first, second):
    """Of the i-th rollouts of two policies: how often only the second or only the first won."""
    ended = [(a["success"], b["success"]) for a, b in zip(first, second, strict=True)]
    return ended.count((False, True)), ended.count((True, False))


def test_how_much_more_where_states_are_shared(tmp_path):
    """Of ten states the second alone solves three and the first alone one."""
    first = outcome_rows("a", 5, 10, initial_state=lambda i: i)
    second = outcome_rows("b", 7, 10, initial_state=lambda i: (i + 1) % 10)
    pair = compared(tmp_path, first, second).pairs[0]
    assert (pair.only_first, pair.only_second) == (1, 3)
    assert pair.rollouts_for_power == pairs_for_power(0.1, 0.3, alpha=1 - 0.95)
    assert pair.until_settled == until_settled(0.1, 0.3, wins=3, losses=1, alpha=1 - 0.95)


def test_how_much_more_over_tasks(tmp_path):
    """Rates of 0.5 and 0.25, against 0.75 in both tasks, which count alike."""

    def rows(policy, *wins):
        return [
            {**row, "task": task}
            for task, successes in zip("xy", wins, strict=True)
            for row in outcome_rows(policy, successes, 8)
        ]

    first, second = rows("a", 4, 2), rows("b", 6, 6)
    pair = compared(tmp_path, first, second).pairs[0]
    wins, losses = wins_and_losses(first, second)
    alone = (0.5 * 0.25 + 0.25 * 0.25) / 2, (0.75 * 0.5 + 0.75 * 0.75) / 2
    assert pair.better is None
    assert pair.until_settled == until_settled(*alone, wins=wins, losses=losses, alpha=1 - 0.95)


def test_letters_go_by_the_rate_and_not_by_the_number_of_successes(tmp_path):
    found = compared(tmp_path, outcome_rows("many", 20, 60), outcome_rows("few", 12, 12))
    assert {p.policy: p.letters for p in found.policies} == {"many": "b", "few": "a"}


def test_initial_states_pair_episodes_and_make_it_sharper(tmp_path):
    # The second wins the same states as the first and six more, whatever the order of the rows.
    first = outcome_rows("a", 20, 40, initial_state=lambda i: i)
    second = outcome_rows("b", 26, 40, initial_state=lambda i: i)[::-1]
    found = compared(tmp_path, first, second)
    pair = found.pairs[0]
    assert found.paired
    assert found.num_matched == 40
    assert (pair.only_first, pair.only_second) == (0, 6)
    assert pair.p_value == mcnemar_test(0, 6) == 2 / 2**6
    assert pair.better == "b"
    apart = compared(tmp_path, first, second, paired=False).pairs[0]
    assert apart.test == "Boschloo, exact"
    assert apart.better is None
    assert apart.interval[0] < 0 < pair.interval[0]


def test_tasks_are_compared_within_themselves(tmp_path):
    # Simpson: b is better at either task, but met the hard one more often.
    def rows(policy, task, successes, total):
        return [{**row, "task": task} for row in outcome_rows(policy, successes, total)]

    found = compared(
        tmp_path,
        rows("a", "easy", 72, 90),
        rows("a", "hard", 1, 10),
        rows("b", "easy", 10, 10),
        rows("b", "hard", 36, 90),
    )
    pair = found.pairs[0]
    assert found.policies[0].raw_rate == 0.73 > found.policies[1].raw_rate == 0.46
    # Both tasks met 90 and 10 rollouts: they count alike, in every number that is shown.
    assert found.policies[0].rate == pair.first_rate == pytest.approx((0.8 + 0.1) / 2)
    assert found.policies[1].rate == pair.second_rate == pytest.approx((1.0 + 0.4) / 2)
    assert found.weighted
    assert [policy.policy for policy in found.best_first] == ["b", "a"]
    assert [policy.letters for policy in found.policies] == ["b", "a"]
    assert pair.test.startswith("Cochran-Mantel-Haenszel")
    assert pair.p_value == stratified_test([72, 1], [90, 10], [10, 36], [10, 90])
    assert pair.better == "b"
    assert pair.steps is None
    assert "spread differently over the tasks" in found.notes[0]
    assert pair.watched.num_pairs == 20
    assert found.policies[0].tasks == {"easy": (72, 90), "hard": (1, 10)}


@pytest.mark.parametrize(("successes", "rate"), [(0, 0), (12, 1)])
def test_nothing_is_claimed_where_all_end_alike(tmp_path, successes, rate):
    found = compared(tmp_path, outcome_rows("a", successes, 12), outcome_rows("b", successes, 12))
    pair = found.pairs[0]
    assert (pair.first_rate, pair.second_rate) == (rate, rate)
    assert (pair.p_value, pair.better) == (1, None)
    assert pair.until_settled is pair.rollouts_for_power is None
    assert pair.watched.e_value == 1
    assert pair.interval[0] < 0 < pair.interval[1]
    assert found.policies[0].letters == "a"


def test_many_policies_are_corrected_together(tmp_path):
    found = compared(
        tmp_path, outcome_rows("a", 20, 40), outcome_rows("b", 28, 40), outcome_rows("c", 40, 40)
    )
    assert [(p.first, p.second) for p in found.pairs] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert [p.adjusted_p_value for p in found.pairs] == holm([p.p_value for p in found.pairs])
    assert found.pairs[1].adjusted_p_value == pytest.approx(3 * found.pairs[1].p_value)
    assert found.pairs[0].watched.wanted_e_value == pytest.approx(60)
    assert [p.letters for p in found.policies] == ["b", "b", "a"]


def test_what_is_clear_for_one_pair_need_not_be_for_three(tmp_path):
    """20 and 29 of 40 differ at 5 % if nobody else was compared."""
    rows = [outcome_rows(name, wins, 40) for name, wins in (("a", 20), ("b", 29), ("c", 25))]
    assert compared(tmp_path, *rows[:2]).pairs[0].better == "b"
    found = compared(tmp_path, *rows)
    assert found.pairs[0].p_value < 0.05 < found.pairs[0].adjusted_p_value
    assert [pair.better for pair in found.pairs] == [None] * 3
    assert {policy.letters for policy in found.policies} == {"a"}


def test_rows_sorted_by_outcome_fool_nobody(tmp_path):
    def rows(policy, successes):
        return sorted(outcome_rows(policy, successes, 40), key=lambda row: not row["success"])

    found = compared(tmp_path, rows("a", 20), rows("b", 28))
    assert found.pairs[0].watched is found.pairs[0].until_settled is None
    assert found.pairs[0].rollouts_for_power > 40
    assert found.notes[0].startswith("the rows of a are sorted by outcome")
    # A handful in two blocks may well be chance.
    assert compared(tmp_path, rows("a", 39), rows("b", 38)).pairs[0].watched is not None


def test_the_lowest_level_is_one_half(tmp_path):
    found = compared(tmp_path, outcome_rows("a", 5, 10), outcome_rows("b", 5, 10), level=0.5)
    assert found.level == 0.5


@pytest.mark.parametrize("level", [0.05, 1.0, 95])
def test_levels_that_make_no_sense(tmp_path, level):
    with pytest.raises(GoalwardError, match="^level=.*: must be at least 0.5 and below 1"):
        compared(tmp_path, outcome_rows("a", 5, 10), outcome_rows("b", 5, 10), level=level)


def test_published_results_of_four_policies(real_files):
    folder = real_files / "libero10_openvla_results"
    found = compare(read_outcomes(sorted(folder.glob("*.csv"))))
    assert found.paired
    assert (found.num_matched, found.horizon) == (500, 520)
    assert [p.successes for p in found.policies] == [3, 470, 466, 474]
    assert [p.letters for p in found.policies] == ["b", "a", "a", "a"]
