"""Scores as JSON: what is not defined has a reason and no number."""

from typing import Any

from goalward.metrics.score import Interval, Score
from goalward.metrics.scores.card import CardRow
from goalward.metrics.uncertainty.significance import MethodTests


def score_json(score: Score) -> dict[str, Any]:
    """
    >>> score_json(Score(None, "no episode succeeded"))
    {'value': None, 'reason': 'no episode succeeded'}
    """
    return {"value": score.value} | ({"reason": score.reason} if score.reason else {})


def interval_json(interval: Interval) -> dict[str, Any]:
    if interval.low is None:
        return {"reason": interval.reason}
    return {"low": interval.low, "high": interval.high, "level": interval.level}


def row_json(row: CardRow) -> dict[str, Any]:
    mean = row.over_seeds.mean
    entry: dict[str, Any] = {
        "mean": mean.value,
        "sd": row.over_seeds.standard_deviation.value,
        "interval": interval_json(row.interval),
        "by_seed": [score.value for score in row.by_seed],
    }
    return entry | ({"reason": mean.reason} if mean.reason else {})


def tests_json(tests: MethodTests) -> dict[str, Any]:
    return {
        f"{pair.first} against {pair.second}": {
            "p_adjusted": pair.adjusted,
            "differs": pair.differs,
        }
        for pair in tests.pairs
    }
