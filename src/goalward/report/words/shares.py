"""Shares and rates in words."""

from goalward.metrics.policy_answers import Rate
from goalward.metrics.score import Interval


def percent(value: float | None) -> str:
    """
    >>> percent(0.4567), percent(None)
    ('46 %', 'unknown')
    """
    return "unknown" if value is None else f"{100 * value:.0f} %"


def span_words(interval: Interval) -> str:
    if interval.low is None or interval.high is None:
        return f"no interval: {interval.reason}"
    return (
        f"{100 * interval.level:.0f} % interval {percent(interval.low)} to {percent(interval.high)}"
    )


def rate_words(rate: Rate) -> str:
    return f"{percent(rate.value)} ({rate.count} of {rate.total}; {span_words(rate.interval)})"
