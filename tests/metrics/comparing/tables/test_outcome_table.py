"""What a table says about its policies."""

import pytest

from goalward import Outcome
from goalward.metrics.comparing.tables.outcome_table import (
    EpisodeOutcome,
    OutcomeTable,
    PolicyOutcomes,
)


def policy(*tasks):
    """A text per task: 1 is a success, 0 a time-out."""
    return PolicyOutcomes(
        "a",
        tuple(
            EpisodeOutcome(
                str(i), Outcome.SUCCESS if c == "1" else Outcome.TIME_OUT, 9, task, None, None, ""
            )
            for task, ended in zip("xyz", tasks, strict=False)
            for i, c in enumerate(ended)
        ),
    )


def test_counts():
    found = policy("110", "00")
    assert found.tasks == ("x", "y")
    assert (found.counts("x"), found.counts("y"), found.num_successes) == ((2, 3), (0, 2), 2)
    assert found.has_steps
    assert OutcomeTable((found, policy("1", "1", "1"))).tasks == ("x", "y", "z")


@pytest.mark.parametrize(
    ("tasks", "is_sorted"),
    [
        # 2 of 184,756 orders of ten successes and ten others are in blocks; of five each, 2 of 252.
        (["1" * 10 + "0" * 10], True),
        (["0" * 10 + "1" * 10], True),
        (["1" * 5 + "0" * 5], False),
        # Twice 2 of 252 is rarer than once in 10,000.
        (["1" * 5 + "0" * 5] * 2, True),
        (["1" * 10 + "0" * 10, "101"], False),
        (["1" * 50], False),
    ],
)
def test_rows_sorted_by_outcome(tasks, is_sorted):
    assert policy(*tasks).sorted_by_outcome is is_sorted
