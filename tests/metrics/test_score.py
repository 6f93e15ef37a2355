"""A score or an interval is there, or says why not."""

import math

import pytest

from goalward.metrics.score import Interval, Score


def test_a_score_is_a_number_or_a_reason():
    assert Score(0.5).defined
    assert not Score(None, "no episodes").defined
    assert Score(math.inf).value == math.inf


@pytest.mark.parametrize(("value", "reason"), [(None, ""), (0.5, "why"), (math.nan, "")])
def test_never_both_neither_or_nan(value, reason):
    with pytest.raises(ValueError):
        Score(value, reason)


@pytest.mark.parametrize(
    ("low", "high", "reason"),
    [(None, None, ""), (0.1, None, ""), (0.1, 0.2, "why"), (0.2, 0.1, ""), (math.nan, 0.1, "")],
)
def test_an_interval_has_two_ends_in_order_or_a_reason(low, high, reason):
    with pytest.raises(ValueError):
        Interval(low, high, reason=reason)
