"""Policies compared by their scores: the numbers of `special_results.ScoreComparison`."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from goalward.metrics.comparing.base import Base
from goalward.metrics.comparing.pairing import Meeting
from goalward.metrics.comparing.partial_credit.mean_interval import (
    difference_by_task,
    mean_by_task,
    mean_interval,
    paired_difference_interval,
)
from goalward.metrics.comparing.partial_credit.permutation import (
    PermutationTest,
    permutation_test,
    sign_flip_test,
)
from goalward.metrics.comparing.partial_credit.watching import ScoreLooks, score_looks
from goalward.metrics.comparing.rates.exact_tests import holm
from goalward.metrics.comparing.special_results import (
    Limits,
    PairScores,
    PolicyScore,
    ScoreComparison,
)
from goalward.metrics.comparing.tables.outcome_table import OutcomeTable
from goalward.metrics.uncertainty.letters import compact_letters
from goalward.metrics.uncertainty.proportions import ConfidenceLimits, task_weights
from goalward.rollouts.endings import FloatArray


@dataclass(frozen=True, eq=False)
class ScoresMet:
    """Scores of two policies, tested; all that is kept until all pairs are.

    `uneven`: not as many rollouts of either. Then permutations of unlike spreads would call equal
    means unlike (docs/comparing.md), and the interval has to leave 0 out, too.
    """

    first: str
    second: str
    means: tuple[float, float]
    interval: Limits
    test: PermutationTest
    test_name: str
    looks: ScoreLooks | None
    uneven: bool


def scores_met(meeting: Meeting, base: Base, level: float, known_order: bool) -> ScoresMet:
    """Means over the base of all policies if this pair met there, their difference and its test."""
    first, second = meeting.first, meeting.second
    paired = first.scores[meeting.together[:, 0]], second.scores[meeting.together[:, 1]]
    looks = score_looks(*paired, level=level) if known_order else None
    by_task = _by_task(meeting)
    if meeting.paired:
        means = float(paired[0].mean()), float(paired[1].mean())
        limits = paired_difference_interval(*paired, level=level)
        test, name = sign_flip_test(*paired), "sign flips"
    else:
        weights = task_weights(*([len(one) for one in side] for side in by_task))
        if base.is_that_of(meeting):
            place = [base.tasks.index(task) for task in meeting.tasks]
            weights = base.weights[place]
        means = _weighted(by_task[0], weights), _weighted(by_task[1], weights)
        limits = difference_by_task(*by_task, weights, level)
        test, name = permutation_test(*by_task), "permutations"
        name += " within tasks" * (len(by_task[0]) > 1)
    name += ", exact" if test.is_exact else ", by draws"
    uneven = any(len(a) != len(b) for a, b in zip(*by_task, strict=True))
    names = first.policy, second.policy
    return ScoresMet(*names, means, _limits(limits), test, name, looks, uneven)


def compare_scores(
    table: OutcomeTable, base: Base, met: Sequence[ScoresMet], level: float
) -> ScoreComparison | None:
    """All policies and pairs, p-values for all pairs at once; None where there are no scores."""
    if not met:
        return None
    found: list[tuple[str, float, Limits]] = []
    for number, policy in enumerate(table.policies):
        rows = base.rows[number]
        scores, index = policy.scores[rows], policy.task_index[rows]
        if base.rates[number].raw:
            mean, limits = float(scores.mean()), mean_interval(scores, level)
        else:
            of_task = [scores[index == policy.tasks.index(task)] for task in base.tasks]
            mean = _weighted(of_task, base.weights)
            limits = mean_by_task(of_task, base.weights, level)
        found.append((policy.policy, mean, _limits(limits)))
    adjusted = holm([one.test.p_value for one in met])
    alpha = (1 - level) / len(met)
    pairs = tuple(_pair(one, p, level, alpha) for one, p in zip(met, adjusted, strict=True))
    told_apart = {frozenset((pair.first, pair.second)) for pair in pairs if pair.better}
    order = [name for name, _, _ in sorted(found, key=lambda one: -one[1])]
    letters = compact_letters(order, told_apart)
    policies = tuple(PolicyScore(*one, letters=letters[one[0]]) for one in found)
    return ScoreComparison(policies, pairs)


def _pair(one: ScoresMet, adjusted: float, level: float, alpha: float) -> PairScores:
    difference = one.means[1] - one.means[0]
    difference = 0.0 if abs(difference) < 1e-12 else difference
    names = one.first, one.second
    ahead = None if one.looks is None else one.looks.settled_for(alpha)
    told = adjusted <= 1 - level and difference != 0
    if one.uneven:
        told = told and not one.interval[0] <= 0 <= one.interval[1]
    return PairScores(
        first=one.first,
        second=one.second,
        first_mean=one.means[0],
        second_mean=one.means[1],
        difference=difference,
        interval=one.interval,
        test=one.test_name,
        p_value=one.test.p_value,
        adjusted_p_value=adjusted,
        better=names[difference > 0] if told else None,
        e_value=None if one.looks is None else one.looks.e_value,
        settled_at=None if one.looks is None else one.looks.settled_at(alpha),
        settled_for=None if ahead is None else names[ahead > 0],
    )


def _by_task(meeting: Meeting) -> tuple[list[FloatArray], list[FloatArray]]:
    sides: tuple[list[FloatArray], list[FloatArray]] = ([], [])
    for side, policy, rows in zip(
        sides, (meeting.first, meeting.second), meeting.rows, strict=True
    ):
        index = policy.task_index[rows]
        for task in meeting.tasks:
            side.append(policy.scores[rows[index == policy.tasks.index(task)]])
    return sides


def _weighted(by_task: Sequence[FloatArray], weights: FloatArray) -> float:
    means = np.array([scores.mean() for scores in by_task])
    return float((weights * means).sum())


def _limits(interval: ConfidenceLimits) -> Limits:
    return float(interval.lower), float(interval.upper)
