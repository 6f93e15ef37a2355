"""Policies that are checkpoints of one training: the trend, the best ones, where it got worse."""

import re
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from goalward.errors import GoalwardError
from goalward.metrics.comparing.rates.exact_tests import holm
from goalward.metrics.comparing.result import PairComparison
from goalward.metrics.comparing.special_results import (
    Checkpoints,
    Limits,
    PairScores,
    Regression,
)
from goalward.metrics.comparing.tables.outcome_table import OutcomeTable

_NUMBER = re.compile(r"(\d+(?:\.\d+)?)([kKmM](?![a-zA-Z]))?")
_TIMES = {"": 1.0, "k": 1e3, "m": 1e6}


def checkpoints_of(
    table: OutcomeTable,
    means: Sequence[float],
    limits: Sequence[Limits],
    pairs: Sequence[PairComparison] | Sequence[PairScores],
    level: float,
) -> Checkpoints:
    """The policies of a table in the order of their training steps, by rates or by mean scores.

    The best checkpoint and those not told from it go by the verdicts about all pairs, which hold at
    once; so the truly best one is among them with the probability `level`. Whether one is worse
    than the one before goes by Holm over neighbours alone.
    """
    steps = _steps_of(table)
    order = [int(place) for place in np.argsort(steps, kind="stable")]
    names = [table.policies[place].policy for place in order]
    x = np.array([steps[place] for place in order])
    ordered = [means[place] for place in order]
    change, change_limits = trend(x, ordered, [limits[place] for place in order])
    best = names[int(np.argmax(ordered))]
    worse = {
        pair.second if pair.better == pair.first else pair.first
        for pair in pairs
        if pair.better == best
    }
    return Checkpoints(
        order=tuple(names),
        steps=tuple(x.tolist()),
        change=change,
        change_interval=change_limits,
        best=best,
        as_good=tuple(name for name in names if name not in worse),
        regressions=_regressions(names, pairs, level),
        by_scores=any(isinstance(pair, PairScores) for pair in pairs),
    )


def trend(
    x: Sequence[float] | np.ndarray, means: Sequence[float], limits: Sequence[Limits]
) -> tuple[float, Limits]:
    """How far the straight line through means climbs from the first x to the last, with interval.

    Least squares make it a sum of the means with fixed weights; the distances of the means from
    their own limits add up as the sides of a right triangle do (Zou, Huang and Zhang 2009), so that
    rates of 0 and 1 are no trouble.

    >>> limits = [(0.0, 0.2), (0.3, 0.5), (0.8, 1.0)]
    >>> change, (low, high) = trend([0, 1, 2], [0.1, 0.4, 0.9], limits)
    >>> round(change, 3), round(low, 3), round(high, 3)
    (0.8, 0.659, 0.941)
    """
    places = np.asarray(x, dtype=np.float64)
    away = places - places.mean()
    weights = away * (places[-1] - places[0]) / (away**2).sum()
    found = np.array(means)
    below = found - np.array([low for low, _ in limits])
    above = np.array([high for _, high in limits]) - found
    change = float((weights * found).sum())
    down = np.where(weights > 0, below, above)
    up = np.where(weights > 0, above, below)
    return change, (
        change - float(np.sqrt(((weights * down) ** 2).sum())),
        change + float(np.sqrt(((weights * up) ** 2).sum())),
    )


def _regressions(
    names: Sequence[str],
    pairs: Sequence[PairComparison] | Sequence[PairScores],
    level: float,
) -> tuple[Regression, ...]:
    by_names = {frozenset((pair.first, pair.second)): pair for pair in pairs}
    met = [by_names[frozenset(two)] for two in pairwise(names)]
    found: list[Regression] = []
    for (before, after), pair, adjusted in zip(
        pairwise(names), met, holm([pair.p_value for pair in met]), strict=True
    ):
        difference = pair.difference if pair.second == after else -pair.difference
        told = adjusted <= 1 - level
        if isinstance(pair, PairComparison) and pair.budget is not None:
            told = pair.better == before
        if told and difference < 0:
            found.append(Regression(before, after, difference, adjusted))
    return tuple(found)


def _steps_of(table: OutcomeTable) -> list[float]:
    """By the column for it, or by the one number in the names that is not the same in all."""
    given = [policy.training_step for policy in table.policies]
    names = [policy.policy for policy in table.policies]
    known = [step for step in given if step is not None]
    steps = known if len(known) == len(given) else steps_in_names(names)
    if len(set(steps)) < len(steps):
        twice = next(step for step in steps if steps.count(step) > 1)
        both = [name for name, step in zip(names, steps, strict=True) if step == twice]
        raise GoalwardError(
            f"ordered: {' and '.join(map(repr, both[:2]))} are both of training step {twice:g}; "
            "wanted one policy per checkpoint"
        )
    return steps


def steps_in_names(names: Sequence[str]) -> list[float]:
    """The number that tells names apart.

    >>> steps_in_names(["run7/step_5k", "run7/step_10k"])
    [5000.0, 10000.0]
    """
    numbers = [
        [float(digits) * _TIMES[unit.lower()] for digits, unit in _NUMBER.findall(name)]
        for name in names
    ]
    if len({len(own) for own in numbers}) == 1 and numbers[0]:
        differing = [column for column in zip(*numbers, strict=True) if len(set(column)) > 1]
        if len(differing) == 1:
            return list(differing[0])
    raise GoalwardError(
        f"ordered: no training step can be read from the names {', '.join(map(repr, names[:3]))}; "
        "wanted one number in each that tells them apart, as step_5000, or a column training_step"
    )
