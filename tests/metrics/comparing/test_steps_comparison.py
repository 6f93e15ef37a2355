"""Steps of policies that time out, never succeed, or say nothing about steps."""

import pytest
from rollout_files.outcomes import outcome_rows, table_of

from goalward.metrics.comparing.comparison import compare
from goalward.metrics.comparing.steps_comparison import success_curves


def compared(tmp_path, *rows, **options):
    return compare(table_of(tmp_path, *rows), **options)


def test_a_policy_that_never_succeeds_has_no_steps_to_compare(tmp_path):
    found = compared(tmp_path, outcome_rows("a", 0, 30), outcome_rows("b", 25, 30))
    assert found.pairs[0].better == "b"
    assert found.pairs[0].steps is None
    assert found.policies[0].mean_steps == 100
    assert found.policies[0].mean_steps_interval is None


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
