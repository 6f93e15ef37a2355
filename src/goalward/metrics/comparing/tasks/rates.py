"""One success rate per policy over several tasks, and the difference of two.

A policy that met the easy tasks more often than another has the better raw rate for that alone. So
every policy's rate is the mean over tasks by the same weights.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from goalward.metrics.uncertainty import proportions
from goalward.metrics.uncertainty.proportions import ConfidenceLimits
from goalward.rollouts.endings import FloatArray


@dataclass(frozen=True, eq=False)
class TaskRate:
    """A policy's rate over tasks by weights that sum to 1.

    `raw` is whether every rollout counts the same, so that the rate is the raw one.
    """

    rate: float
    effective: float
    raw: bool

    def interval(self, level: float) -> ConfidenceLimits:
        """Wilson's, with as many rollouts of one task as would be as informative."""
        return proportions.wilson(self.rate * self.effective, self.effective, level)


def common_weights(totals: npt.ArrayLike) -> FloatArray:
    """How much each task counts for all policies; totals (policies, tasks).

    One over the sum of one over each policy's rollouts. For two policies these are the weights of
    Mantel and Haenszel, n1 n2 / (n1 + n2); where every policy spread its rollouts alike over the
    tasks, every rollout counts the same.

    >>> common_weights([[10, 10], [10, 40]])
    array([0.38461538, 0.61538462])
    """
    weights = 1 / (1 / np.asarray(totals, dtype=np.float64)).sum(axis=0)
    return weights / weights.sum()


def task_rate(successes: npt.ArrayLike, totals: npt.ArrayLike, weights: npt.ArrayLike) -> TaskRate:
    """The mean of a policy's rates by task.

    Where every rollout counts the same, the interval is Wilson's of the raw counts: it holds more
    than its level if tasks differ, as they vary less than one task of the mean rate would. Else the
    number of rollouts is the one at which a single task would vary as much: by the spread within
    tasks, and never more than if all tasks had the mean rate.

    >>> task_rate([72, 1], [90, 10], [0.5, 0.5]).rate
    0.45
    """
    x, n, w = (np.asarray(values, dtype=np.float64) for values in (successes, totals, weights))
    rate = float((w * x / n).sum())
    if np.allclose(w, n / n.sum(), rtol=1e-9, atol=0):
        return TaskRate(float(x.sum() / n.sum()), float(n.sum()), True)
    effective = 1 / float((w**2 / n).sum())
    spread = rate * (1 - rate)
    if spread > 0:
        # One rollout says nothing of its task's spread: there the mean rate's stands in.
        within = np.where(n > 1, x / n * (1 - x / n) * n / np.maximum(n - 1, 1), spread)
        variance = float((w**2 / n * within).sum())
        effective = min(effective, spread / variance) if variance > 0 else effective
    return TaskRate(min(max(rate, 0.0), 1.0), effective, False)


def difference_of(first: TaskRate, second: TaskRate, level: float) -> ConfidenceLimits:
    """Second minus first, from the intervals of both (Newcombe's way, by any weights)."""
    one, other = first.interval(level), second.interval(level)
    estimate = second.rate - first.rate
    return ConfidenceLimits(
        estimate - np.hypot(second.rate - other.lower, one.upper - first.rate),
        estimate + np.hypot(other.upper - second.rate, first.rate - one.lower),
    )
