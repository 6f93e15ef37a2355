"""Steps of policies that time out, never succeed, or say nothing about steps."""

import pytest
from rollout_files.outcomes import outcome_rows, table_of
from scipy import stats

from goalward.metrics.comparing.comparison import compare
from goalward.metrics.comparing.steps.comparison import success_curves


def compared(tmp_path, *rows, **options):
    return compare(table_of(tmp_path, *rows), **options)


def test_a_policy_that_never_succeeds_has_no_steps_to_compare(tmp_path):
    found = compared(tmp_path, outcome_rows("a", 0, 30), outcome_rows("b", 25, 30))
    assert found.pairs[0].better == "b"
    assert found.pairs[0].steps is None
    assert found.policies[0].mean_steps == 100
    assert found.policies[0].mean_steps_interval is None


def test_means_and_their_intervals_by_hand(tmp_path):
    """Steps 50, 51, 52 and a time-out at 100; 30, 31, 32, 33: t intervals, cut to the horizon."""
    found = compared(
        tmp_path, outcome_rows("a", 3, 4), outcome_rows("b", 4, 4, steps=30), level=0.9
    )
    slow, fast = [50, 51, 52, 100], [30, 31, 32, 33]
    a, b = found.policies
    assert (a.mean_steps, b.mean_steps) == pytest.approx((63.25, 31.5))
    # Student's table: 2.353 for 3 degrees of freedom.
    reach = 2.3534 * stats.sem(slow)
    assert a.mean_steps_interval == pytest.approx((63.25 - reach, 63.25 + reach), abs=0.01)
    wide = compared(tmp_path, outcome_rows("a", 3, 4), outcome_rows("b", 4, 4, steps=30))
    assert wide.policies[0].mean_steps_interval[1] == 100
    steps = found.pairs[0].steps
    assert (steps.first_mean, steps.second_mean) == pytest.approx((63.25, 31.5))
    welch = stats.ttest_ind(fast, slow, equal_var=False).confidence_interval(0.9)
    assert steps.interval == pytest.approx((welch.low, welch.high))


def test_tasks_in_equal_shares_are_compared(tmp_path):
    """Twice as many rollouts of either task are no other mixture; one more of one of them is."""

    def rows(policy, easy, hard):
        return [
            {**row, "task": task, "episode": f"{task} {row['episode']}"}
            for task, total in (("easy", easy), ("hard", hard))
            for row in outcome_rows(policy, total // 2 + 1, total)
        ]

    same = compared(tmp_path, rows("a", 6, 3), rows("b", 12, 6))
    assert same.pairs[0].steps is not None
    other = compared(tmp_path, rows("a", 6, 3), rows("b", 12, 7))
    assert other.pairs[0].steps is None
    assert "are spread differently over the tasks" in other.notes[0]


def test_time_outs_before_the_horizon_are_noted(tmp_path):
    rows = outcome_rows("a", 5, 10) + outcome_rows("b", 5, 10)
    next(row for row in rows if not row["success"])["steps"] = 12
    found = compared(tmp_path, rows)
    assert found.notes[0].startswith("a: 1 of its time-outs came before step 100")


def test_without_steps_only_rates_are_compared(tmp_path):
    rows = [
        {key: value for key, value in row.items() if key != "steps"}
        for row in outcome_rows("a", 5, 10) + outcome_rows("b", 5, 10)
    ]
    found = compared(tmp_path, rows)
    assert found.horizon is None
    assert found.policies[0].mean_steps is found.pairs[0].steps is None
    assert found.notes == ("steps are not compared: no column steps for a, b",)


def test_curves(tmp_path):
    table = table_of(tmp_path, outcome_rows("a", 3, 4), outcome_rows("b", 0, 4))
    curves = success_curves(table, 100)
    assert curves["a"].steps.tolist() == [0, 50, 51, 52, 100, 100]
    assert curves["a"].share == pytest.approx([0, 0.25, 0.5, 0.75, 0.75, 0.75])
    assert curves["b"].share.max() == 0
