"""Which frames count as positive, by each rule, with ties and without."""

import numpy as np
import pytest

from goalward.errors import GoalwardError
from goalward.exports.positive import PositiveRule, positive_frames


def labels(rule, advantage, *, is_open=None, tasks=None):
    advantage = np.array(advantage, dtype=float)
    is_open = np.ones(len(advantage), bool) if is_open is None else np.array(is_open, bool)
    tasks = np.zeros(len(advantage), int) if tasks is None else np.array(tasks)
    found = positive_frames(PositiveRule.from_text(rule), advantage, is_open, tasks)
    return found.is_positive.astype(int).tolist()


def test_each_rule():
    advantage = [-2, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8]
    assert labels("top:0.3", advantage) == [0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1]
    # The 30th percentile is 1: what lies above it.
    assert labels("percentile:30", advantage) == [0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1]
    assert labels("above:0", advantage) == [0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1]
    assert labels("above:-1.5", advantage) == [0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]


def test_each_task_has_its_own_top():
    tasks = [0] * 4 + [1] * 4
    advantage = [10, 11, 12, 13, -4, -3, -2, -1]
    assert labels("task-top:0.5", advantage, tasks=tasks) == [0, 0, 1, 1, 0, 0, 1, 1]
    assert labels("top:0.5", advantage, tasks=tasks) == [1, 1, 1, 1, 0, 0, 0, 0]


def test_ties_are_all_positive_with_top_and_none_is_with_above_or_percentile():
    assert labels("top:0.2", [0, 1, 1, 1, 1]) == [0, 1, 1, 1, 1]
    assert labels("percentile:80", [0, 1, 1, 1, 1]) == [0, 0, 0, 0, 0]
    for rule, wanted in (("top:0.3", 1), ("task-top:0.3", 1), ("percentile:30", 0)):
        assert labels(rule, [5.0] * 6) == [wanted] * 6
    assert labels("above:5", [5.0] * 6) == [0] * 6


def test_the_last_digit_does_not_break_a_tie():
    third = 0.1 + 0.2 - 0.3
    assert third != 0
    assert labels("top:0.3", [0, third, -third, 0, 0]) == [1] * 5
    assert labels("above:0", [0, third, -third, 0, 0]) == [0] * 5


def test_frames_at_the_goal_do_not_move_the_threshold():
    advantage, is_open = [-4, -3, -2, -1, 0, 0, 0, 0, 0, 0], [1, 1, 1, 1, 0, 0, 0, 0, 0, 0]
    assert labels("top:0.5", advantage, is_open=is_open) == [0, 0, 1, 1, 1, 1, 1, 1, 1, 1]
    assert labels("top:0.5", [0, 0], is_open=[0, 0]) == [1, 1]


def test_all_and_the_best():
    assert labels("top:1", [1, 2, 3]) == [1, 1, 1]
    assert labels("top:0", [1, 2, 3]) == [0, 0, 1]


@pytest.mark.parametrize(
    "text",
    ["", "top", "top:", "top:30", "top:-1", "best:1", "percentile:101", "above:nan", "above:inf"],
)
def test_a_rule_that_is_none(text):
    with pytest.raises(GoalwardError, match="there are top:0.3 and task-top:0.3"):
        PositiveRule.from_text(text)
