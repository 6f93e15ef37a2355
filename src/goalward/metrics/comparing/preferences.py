"""Which policy people prefer, when each comparison says only who won, or that it was a tie.

Bradley and Terry's model with Davidson's ties (1970): each policy has a strength, and

    P(i beats j) = s_i / all,   P(tie) = t sqrt(s_i s_j) / all,   all = s_i + s_j + t sqrt(s_i s_j)

Strengths are told as logarithms that sum to 0. A policy that won every comparison would be
infinitely strong; so half a win each way is added for every strength that is estimated, spread over
the pairs that met. For two policies that is the correction of Firth (1993).
"""

# SciPy ships no type stubs.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy import special

from goalward.errors import GoalwardError
from goalward.metrics.comparing.rates.exact_tests import holm
from goalward.rollouts.endings import FloatArray, IndexArray

Limits = tuple[float, float]

_MOST_STEPS = 200
_PRECISION = 1e-10


@dataclass(frozen=True)
class Preference:
    """One comparison of two policies: the winner's name, None for a tie."""

    first: str
    second: str
    winner: str | None


@dataclass(frozen=True)
class Strength:
    """One policy: its log strength, and the best and worst place it may have among all.

    `places` come from the pairs that are told apart (Holm over all pairs at the level): one place
    behind every policy that is told to be stronger, and before every one told to be weaker.
    """

    policy: str
    wins: int
    losses: int
    ties: int
    log_strength: float
    interval: Limits
    places: tuple[int, int]


@dataclass(frozen=True)
class PairPreference:
    """How often the second beats the first when one of them wins, with interval and p-value.

    `adjusted_p_value` is Holm's over all pairs, `preferred` the policy that is told to be
    stronger by it, None if that cannot be told.
    """

    first: str
    second: str
    second_wins: float
    interval: Limits
    p_value: float
    adjusted_p_value: float
    preferred: str | None


@dataclass(frozen=True)
class PreferenceRanking:
    """All policies, the strongest first, and every pair of them.

    `tie_chance` is how often two equally strong policies tie.
    """

    level: float
    num_comparisons: int
    tie_chance: float
    policies: tuple[Strength, ...]
    pairs: tuple[PairPreference, ...]


def rank_by_preferences(
    preferences: Iterable[Preference], level: float = 0.95
) -> PreferenceRanking:
    """Strengths of all policies with intervals, from comparisons of two at a time.

    >>> wins = [Preference("old", "new", "new")] * 12 + [Preference("old", "new", "old")] * 3
    >>> found = rank_by_preferences(wins)
    >>> [policy.policy for policy in found.policies], round(found.pairs[0].second_wins, 3)
    (['new', 'old'], 0.781)
    """
    given = list(preferences)
    policies = _checked(given)
    index = {policy: i for i, policy in enumerate(policies)}
    wins, ties = np.zeros((len(policies),) * 2), np.zeros((len(policies),) * 2)
    for one in given:
        i, j = index[one.first], index[one.second]
        if one.winner is None:
            ties[min(i, j), max(i, j)] += 1
        else:
            winner = index[one.winner]
            wins[winner, j if winner == i else i] += 1
    strength, log_tie, covariance = _fitted(wins, ties)
    pairs = _pairs(policies, strength, covariance, level)
    z = float(special.ndtri((1 + level) / 2))
    tie_counts = (ties + ties.T).sum(axis=1)
    found = [
        Strength(
            policy=policy,
            wins=int(wins[i].sum()),
            losses=int(wins[:, i].sum()),
            ties=int(tie_counts[i]),
            log_strength=float(strength[i]),
            interval=_around(float(strength[i]), z * float(np.sqrt(covariance[i, i]))),
            places=_places(policy, len(policies), pairs),
        )
        for i, policy in enumerate(policies)
    ]
    return PreferenceRanking(
        level=level,
        num_comparisons=len(given),
        tie_chance=0.0 if log_tie is None else float(special.expit(log_tie - np.log(2))),
        policies=tuple(sorted(found, key=lambda one: -one.log_strength)),
        pairs=pairs,
    )


def _checked(preferences: Sequence[Preference]) -> list[str]:
    """The policies; comparisons that cannot be used together are an error that names them."""
    if not preferences:
        raise GoalwardError("no comparisons: wanted at least one of two policies")
    for one in preferences:
        if one.first == one.second:
            raise GoalwardError(f"{one.first!r} is compared with itself")
        if one.winner not in (None, one.first, one.second):
            raise GoalwardError(
                f"{one.winner!r} won a comparison of {one.first!r} and {one.second!r}"
            )
    groups: list[set[str]] = []
    for one in preferences:
        met = [group for group in groups if group & {one.first, one.second}]
        groups = [group for group in groups if group not in met]
        groups.append({one.first, one.second}.union(*met))
    if len(groups) > 1:
        told = "; ".join(", ".join(sorted(group)) for group in groups)
        raise GoalwardError(
            f"{len(groups)} groups of policies never met each other, so that nothing compares "
            f"them: {told}"
        )
    return list(dict.fromkeys(name for one in preferences for name in (one.first, one.second)))


def _fitted(wins: FloatArray, ties: FloatArray) -> tuple[FloatArray, float | None, FloatArray]:
    """Log strengths, the logarithm of t (None without ties), and the strengths' covariance.

    By Newton's steps on the log-likelihood, which is concave; each is halved until it gains.
    """
    num = len(wins)
    first, second = _pairs_that_met(wins, ties)
    half = 0.5 * (num - 1) / len(first)
    counts = np.stack([wins[first, second] + half, wins[second, first] + half, ties[first, second]])
    has_ties = bool(ties.sum() > 0)
    # Each outcome's logit is linear in the parameters: strengths, then log t. Of the strengths one
    # direction is free, and 0 is its sum.
    rows = np.arange(len(first))
    design = np.zeros((3, len(first), num + has_ties))
    design[0, rows, first] = design[1, rows, second] = 1.0
    design[2, rows, first] = design[2, rows, second] = 0.5
    if has_ties:
        design[2, :, num] = 1.0
    else:
        design, counts = design[:2], counts[:2]
    fixed = np.zeros((num + has_ties,) * 2)
    fixed[:num, :num] = 1.0
    parameters: FloatArray = np.zeros(num + has_ties)
    value = _log_likelihood(design, counts, parameters)
    information = fixed
    for _ in range(_MOST_STEPS):
        chance = special.softmax(design @ parameters, axis=0)
        total = counts.sum(axis=0)
        gradient = np.einsum("opk,op->k", design, counts - total * chance)
        mean = np.einsum("opk,op->pk", design, chance)
        spread = np.einsum("opk,opl,op->kl", design, design, total * chance)
        information = spread - np.einsum("pk,pl,p->kl", mean, mean, total) + fixed
        step = np.asarray(np.linalg.solve(information, gradient), dtype=np.float64)
        share = 1.0
        while (gain := _log_likelihood(design, counts, parameters + share * step)) < value - 1e-12:
            share /= 2
        parameters, value = np.add(parameters, share * step), gain
        if np.abs(step).max() < _PRECISION:
            break
    centred = np.eye(num) - 1 / num
    covariance = centred @ np.linalg.inv(information)[:num, :num] @ centred
    return centred @ parameters[:num], float(parameters[num]) if has_ties else None, covariance


def _log_likelihood(design: FloatArray, counts: FloatArray, parameters: FloatArray) -> float:
    logit = design @ parameters
    return float((counts * (logit - special.logsumexp(logit, axis=0))).sum())


def _pairs_that_met(wins: FloatArray, ties: FloatArray) -> tuple[IndexArray, IndexArray]:
    met = np.triu(wins + wins.T + ties, k=1) > 0
    first, second = np.nonzero(met)
    return first, second


def _pairs(
    policies: Sequence[str], strength: FloatArray, covariance: FloatArray, level: float
) -> tuple[PairPreference, ...]:
    z = float(special.ndtri((1 + level) / 2))
    indices = list(combinations(range(len(policies)), 2))
    ahead = [float(strength[j] - strength[i]) for i, j in indices]
    spread = [
        float(np.sqrt(covariance[i, i] + covariance[j, j] - 2 * covariance[i, j]))
        for i, j in indices
    ]
    p_values = [float(2 * special.ndtr(-abs(a) / s)) for a, s in zip(ahead, spread, strict=True)]
    found: list[PairPreference] = []
    for (i, j), a, s, p, adjusted in zip(
        indices, ahead, spread, p_values, holm(p_values), strict=True
    ):
        lower, upper = _around(a, z * s)
        stronger = policies[j] if a > 0 else policies[i]
        found.append(
            PairPreference(
                first=policies[i],
                second=policies[j],
                second_wins=float(special.expit(a)),
                interval=(float(special.expit(lower)), float(special.expit(upper))),
                p_value=p,
                adjusted_p_value=adjusted,
                preferred=stronger if adjusted <= 1 - level else None,
            )
        )
    return tuple(found)


def _places(policy: str, num: int, pairs: Sequence[PairPreference]) -> tuple[int, int]:
    told = [pair.preferred for pair in pairs if policy in (pair.first, pair.second)]
    weaker = told.count(policy)
    stronger = sum(preferred is not None for preferred in told) - weaker
    return 1 + stronger, num - weaker


def _around(middle: float, distance: float) -> Limits:
    return middle - distance, middle + distance
