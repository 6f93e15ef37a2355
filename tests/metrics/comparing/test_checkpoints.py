"""Checkpoints of one training: order, trend, the best ones, where it got worse."""

import numpy as np
import pytest
from rollout_files.outcomes import outcome_rows, table_of

from goalward import GoalwardError
from goalward.metrics.comparing.checkpoints import steps_in_names, trend
from goalward.metrics.comparing.comparison import compare
from goalward.metrics.comparing.tables.outcome_file import read_outcomes
from goalward.metrics.uncertainty.proportions import wilson


def trained(tmp_path, successes, total=80, **columns):
    rows = [outcome_rows(name, x, total, **columns) for name, x in successes.items()]
    return compare(table_of(tmp_path, *rows), ordered=True)


def test_order_goes_by_the_number_and_not_by_the_letters(tmp_path):
    found = trained(tmp_path, {"step_8k": 40, "step_10k": 66, "step_500": 20}).checkpoints
    assert found.order == ("step_500", "step_8k", "step_10k")
    assert found.steps == (500, 8_000, 10_000)
    assert (found.best, found.as_good) == ("step_10k", ("step_10k",))
    assert found.regressions == ()
    assert not found.by_scores


def test_what_got_worse_is_told_apart_from_what_may_have(tmp_path):
    found = trained(tmp_path, {"s1": 40, "s2": 70, "s3": 30, "s4": 27}).checkpoints
    (worse,) = found.regressions
    assert (worse.before, worse.after) == ("s2", "s3")
    assert worse.difference == pytest.approx(-0.5)
    assert worse.adjusted_p_value < 0.001


def test_one_that_got_better_and_lies_first_in_the_file_is_no_regression(tmp_path):
    found = trained(tmp_path, {"s2": 70, "s1": 30}).checkpoints
    assert found.order == ("s1", "s2")
    assert found.regressions == ()


def test_those_that_cannot_be_told_from_the_best(tmp_path):
    found = trained(tmp_path, {"s1": 20, "s2": 66, "s3": 69}).checkpoints
    assert (found.best, found.as_good) == ("s3", ("s2", "s3"))


def test_the_trend_is_the_line_of_least_squares(tmp_path):
    found = trained(tmp_path, {"s1": 8, "s2": 24, "s10": 72}).checkpoints
    slope = np.polyfit([1, 2, 10], [0.1, 0.3, 0.9], 1)[0]
    assert found.change == pytest.approx(9 * slope)
    low, high = found.change_interval
    assert low < found.change < high


def test_the_trend_of_two_is_the_interval_of_their_difference():
    """Newcombe's, which is made the same way of the same limits."""
    limits = [tuple(map(float, wilson(x, 50))) for x in (20, 35)]
    change, (low, high) = trend([1, 5], [0.4, 0.7], limits)
    below, above = np.array(limits)[:, 0], np.array(limits)[:, 1]
    assert change == pytest.approx(0.3)
    assert low == pytest.approx(0.3 - np.hypot(0.7 - below[1], above[0] - 0.4))
    assert high == pytest.approx(0.3 + np.hypot(above[1] - 0.7, 0.4 - below[0]))


def test_a_column_says_the_step(tmp_path):
    rows = [
        outcome_rows(name, x, 40, training_step=lambda _, step=step: step)
        for name, x, step in (("last", 30, 900), ("first", 10, 100))
    ]
    found = compare(table_of(tmp_path, *rows), ordered=True).checkpoints
    assert (found.order, found.steps) == (("first", "last"), (100, 900))


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (("last", "best"), "no training step can be read from the names 'last', 'best'"),
        (("a1_2", "a2_3"), "no training step can be read"),
    ],
)
def test_names_that_say_no_step(tmp_path, names, message):
    with pytest.raises(GoalwardError, match=message):
        trained(tmp_path, dict.fromkeys(names, 10), 20)


def test_two_policies_of_one_step(tmp_path):
    with pytest.raises(GoalwardError, match="'a' and 'b' are both of training step 5; wanted one"):
        trained(tmp_path, {"a": 10, "b": 12}, 20, training_step=lambda _: 5)


def test_steps_with_a_letter_behind_that_is_no_unit():
    assert steps_in_names(["v2_30ms", "v2_40ms"]) == [30.0, 40.0]
    assert steps_in_names(["m1.5M", "m2m"]) == [1.5e6, 2e6]


def test_scores_alone_order_checkpoints_too(tmp_path):
    scores = {"s1": 0.2, "s2": 0.8, "s3": 0.3}
    lines = ["policy,score"]
    rng = np.random.default_rng(0)
    for name, mean in scores.items():
        lines += [f"{name},{np.clip(rng.normal(mean, 0.1), 0, 0.99):.2f}" for _ in range(30)]
    (tmp_path / "all.csv").write_text("\n".join(lines))
    found = compare(read_outcomes([tmp_path / "all.csv"]), ordered=True).checkpoints
    assert found.by_scores
    assert (found.best, found.as_good) == ("s2", ("s2",))
    assert [one.after for one in found.regressions] == ["s3"]
