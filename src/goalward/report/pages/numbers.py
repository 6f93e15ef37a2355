"""Numbers as a page reads them: finite ones, or null and the reason beside it."""

from math import isfinite
from typing import Any

from goalward.metrics.policy_answers import Rate
from goalward.metrics.score import Interval, Score


def number(value: float | None) -> float | None:
    """A finite number with six digits, or None: JSON has no infinity.

    >>> number(0.123456789), number(float("inf")), number(None)
    (0.123457, None, None)
    """
    return None if value is None or not isfinite(value) else float(f"{value:.6g}")


def estimate(score: Score, interval: Interval) -> dict[str, Any]:
    """A number with its interval; where one of them is missing, why.

    >>> estimate(Score(0.5), Interval(0.25, 0.75))
    {'value': 0.5, 'low': 0.25, 'high': 0.75, 'level': 0.95, 'reason': ''}
    >>> estimate(Score(None, "no seed"), Interval(None, None, reason="one seed"))["reason"]
    'no seed'
    """
    return {
        "value": number(score.value),
        "low": number(interval.low),
        "high": number(interval.high),
        "level": interval.level,
        "reason": score.reason or interval.reason,
    }


def share(rate: Rate) -> dict[str, Any]:
    """How many of how many, and the rate with its interval."""
    score = Score(rate.value, "" if rate.total else "nothing was counted")
    return {"count": rate.count, "total": rate.total} | estimate(score, rate.interval)
