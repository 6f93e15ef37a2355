"""How likely one policy is better than another, for those who want a probability of that.

The answer rests on a prior. With one task: every success rate is as likely as every other before
the first rollout, Beta(1, 1). With several: the rates of a policy in its tasks scatter around its
own mean rate,

    rate in task k ~ Beta(mean * c, (1 - mean) * c),      1 / (1 + c) = unlikeness of tasks

and mean and unlikeness are evenly likely anywhere between 0 and 1. Unlikeness 0 is one rate for all
tasks, 1 is tasks that always or never succeed; the rollouts say which, and tasks with few rollouts
borrow from the others accordingly (partial pooling). Policies are independent of each other.
"""

# SciPy ships no type stubs.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special

from goalward.rollouts.endings import FloatArray
from goalward.seeds import generator

Limits = tuple[float, float]

# Independent draws, no chain: the standard error of a probability is 0.0016 at most.
NUM_DRAWS = 100_000
# Midpoints of mean and of unlikeness; with half as many P(better) moves by less than 0.001.
_NUM_MEANS, _NUM_UNLIKENESSES = 100, 60


@dataclass(frozen=True, eq=False)
class RatePosterior:
    """What to believe of one policy: draws of its rates (draws, tasks), and of their mean."""

    policy: str
    by_task: FloatArray
    mean: FloatArray

    def interval(self, level: float = 0.95) -> Limits:
        """Holds the mean rate with the probability `level`, given the prior."""
        return central(self.mean, level)


@dataclass(frozen=True)
class TaskBelief:
    """One task: how likely the second policy is better there, and by how much."""

    second_better: float
    difference: float
    interval: Limits


@dataclass(frozen=True)
class Belief:
    """How likely the second policy is better, and by how much: second minus first.

    Rates are means over tasks by the given weights; `tasks` are in the order of the counts, and
    their numbers are borrowed from each other as the module says.
    """

    second_better: float
    first_rate: float
    second_rate: float
    difference: float
    interval: Limits
    level: float
    tasks: tuple[TaskBelief, ...]


def rate_posterior(
    policy: str,
    successes: Sequence[int],
    totals: Sequence[int],
    weights: npt.ArrayLike | None = None,
) -> RatePosterior:
    """Draws from what to believe of a policy with so many successes by task.

    `weights` say how much each task counts in the mean (None: all alike). Draws depend on the
    policy's name, so that those of two are independent.

    >>> float(rate_posterior("old", [9], [10]).mean.mean().round(2))    # Beta(10, 2): 10 / 12
    0.83
    """
    x, n = (np.asarray(count, dtype=np.float64) for count in (successes, totals))
    if x.shape != n.shape or x.ndim != 1 or not len(x) or (x < 0).any() or (x > n).any():
        raise ValueError("wanted 0 <= successes <= totals, one of each by task")
    draws = generator(0, "posterior", policy)
    if len(x) == 1:
        only = draws.beta(x + 1, n - x + 1, NUM_DRAWS)
        return RatePosterior(policy, only[:, np.newaxis], only)
    mean, concentration, chance = _hyperposterior(x, n)
    # A cell is drawn, then a point in it: rates do not stand on the grid.
    cell = draws.choice(len(chance), NUM_DRAWS, p=chance)
    m = mean[cell] + draws.uniform(-0.5, 0.5, NUM_DRAWS) / _NUM_MEANS
    c = concentration[cell]
    rates = np.empty((NUM_DRAWS, len(x)))
    for task in range(len(x)):
        rates[:, task] = draws.beta(m * c + x[task], (1 - m) * c + n[task] - x[task])
    share = np.ones(len(x)) if weights is None else np.asarray(weights, dtype=np.float64)
    return RatePosterior(policy, rates, rates @ (share / share.sum()))


def compare_rates(first: RatePosterior, second: RatePosterior, level: float = 0.95) -> Belief:
    """What to believe of two policies with the same tasks and weights.

    >>> old, new = rate_posterior("old", [12], [20]), rate_posterior("new", [17], [20])
    >>> round(compare_rates(old, new).second_better, 2)
    0.96
    """
    if first.policy == second.policy:
        raise ValueError(f"{first.policy!r} twice: draws of one name are not independent")
    difference = second.mean - first.mean
    by_task = second.by_task - first.by_task
    return Belief(
        second_better=float((difference > 0).mean()),
        first_rate=float(first.mean.mean()),
        second_rate=float(second.mean.mean()),
        difference=float(difference.mean()),
        interval=central(difference, level),
        level=level,
        tasks=tuple(
            TaskBelief(float((one > 0).mean()), float(one.mean()), central(one, level))
            for one in by_task.T
        ),
    )


def central(draws: FloatArray, level: float) -> Limits:
    """The middle of the draws: as many are below as above."""
    lower, upper = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2]).tolist()
    return lower, upper


def density(draws: FloatArray, num_points: int = 201) -> tuple[FloatArray, FloatArray]:
    """Rates from 0 to 1 and how densely the draws lie there, for a picture; the area is 1."""
    counts, edges = np.histogram(draws, bins=num_points - 1, range=(0.0, 1.0), density=True)
    return (edges[:-1] + edges[1:]) / 2, np.asarray(counts, dtype=np.float64)


def _hyperposterior(x: FloatArray, n: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Means, concentrations and their probabilities, over all cells of the grid.

    Cells are alike a priori, so that the probability goes with the beta-binomial likelihood.
    """
    mean = (np.arange(_NUM_MEANS) + 0.5) / _NUM_MEANS
    unlikeness = (np.arange(_NUM_UNLIKENESSES) + 0.5) / _NUM_UNLIKENESSES
    m, u = (side.ravel() for side in np.meshgrid(mean, unlikeness, indexing="ij"))
    c = 1 / u - 1
    log_likelihood = np.zeros(len(m))
    for successes, total in zip(x.tolist(), n.tolist(), strict=True):
        log_likelihood += special.betaln(m * c + successes, (1 - m) * c + total - successes)
        log_likelihood -= special.betaln(m * c, (1 - m) * c)
    chance = np.exp(log_likelihood - log_likelihood.max())
    return m, c, chance / chance.sum()
