"""Intervals for a mean score and for the difference of two: scores are in [0, 1], in any shape.

No distribution of the scores is assumed. Arrays may lead with axes of many experiments; rollouts
are the last one.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from goalward.metrics.comparing.partial_credit.random_weights import upper_quantile
from goalward.metrics.uncertainty.proportions import ConfidenceLimits, task_weights
from goalward.rollouts.endings import FloatArray


def mean_interval(
    scores: npt.ArrayLike, level: float = 0.95, *, unseen: npt.ArrayLike = 1.0
) -> ConfidenceLimits:
    """The mean of scores, (..., rollouts) to (...): Gaffke's interval (2005).

    The upper limit is the quantile of the randomly weighted mean of the scores and one more score
    of 1; the lower one has a score of 0 instead. So it knows that a score never seen may come, and
    narrows where scores are alike. For scores of 0 and 1 alone it is Clopper and Pearson's. That it
    covers whatever the distribution is proven there, not in general; nobody knows of an exception
    (Learned-Miller and Thomas 2020), and docs/comparing.md has measurements. `unseen` (...) is
    how many rollouts the score that was never seen counts for; below 1 nothing is promised.

    >>> [round(float(limit), 3) for limit in mean_interval([1.0] * 9 + [0.0])]
    [0.555, 0.997]
    >>> [round(float(limit), 3) for limit in mean_interval([0.5, 0.75] * 5)]
    [0.423, 0.756]
    """
    numbers, counts = _as_counts(checked_scores(scores))
    tail = (1 - level) / 2
    one = np.ones((*numbers.shape[:-1], 1))
    weight = np.asarray(unseen, dtype=np.float64)[..., np.newaxis] * one
    with_one = np.concatenate([counts, weight], axis=-1)
    upper = upper_quantile(np.concatenate([numbers, one], axis=-1), with_one, tail)
    lower = 1 - upper_quantile(np.concatenate([1 - numbers, one], axis=-1), with_one, tail)
    return ConfidenceLimits(lower, upper)


def paired_difference_interval(
    first: npt.ArrayLike, second: npt.ArrayLike, level: float = 0.95
) -> ConfidenceLimits:
    """The mean difference, second minus first, of scores in pairs: `mean_interval` on [-1, 1].

    >>> first, second = [0.5, 0.25, 0.0, 0.75] * 5, [1.0, 0.75, 0.5, 0.75] * 5
    >>> [round(float(limit), 3) for limit in paired_difference_interval(first, second)]
    [0.127, 0.506]
    """
    a, b = checked_scores(first), checked_scores(second)
    lower, upper = mean_interval((1 + b - a) / 2, level)
    return ConfidenceLimits(2 * lower - 1, 2 * upper - 1)


def difference_interval(
    first: npt.ArrayLike, second: npt.ArrayLike, level: float = 0.95
) -> ConfidenceLimits:
    """Difference of two mean scores, second minus first, from independent rollouts of one task.

    As Newcombe's interval is made of two Wilson intervals, so this of two by `mean_interval`: the
    distances of estimates and limits add up as the sides of a right triangle do.

    >>> [round(float(limit), 3) for limit in difference_interval([0.5] * 20, [0.75, 1.0] * 10)]
    [0.199, 0.477]
    """
    return difference_by_task([first], [second], [1.0], level)


def mean_by_task(
    by_task: Sequence[npt.ArrayLike], weights: Sequence[float] | FloatArray, level: float = 0.95
) -> ConfidenceLimits:
    """A mean over tasks by weights that sum to 1, from the interval of each task.

    Distances of estimates and limits add up over tasks as the sides of a right triangle do.

    >>> [round(float(limit), 3) for limit in mean_by_task([[0.5] * 10, [1.0] * 10], [0.5, 0.5])]
    [0.578, 0.827]
    """
    below = beyond = estimate = np.zeros(())
    for scores, weight in zip(by_task, weights, strict=True):
        limits, mean = mean_interval(scores, level), checked_scores(scores).mean(axis=-1)
        estimate = estimate + weight * mean
        below = below + (weight * (mean - limits.lower)) ** 2
        beyond = beyond + (weight * (limits.upper - mean)) ** 2
    return ConfidenceLimits(estimate - np.sqrt(below), estimate + np.sqrt(beyond))


def difference_by_task(
    first: Sequence[npt.ArrayLike],
    second: Sequence[npt.ArrayLike],
    weights: Sequence[float] | FloatArray | None = None,
    level: float = 0.95,
) -> ConfidenceLimits:
    """The same over several tasks: scores by task, differences weighted (None: `task_weights`).

    Distances add up over tasks and policies as before, so that the interval narrows with the
    number of tasks even where each has few rollouts.

    >>> by_task = difference_by_task([[0.5] * 10, [0.0] * 10], [[0.75] * 10, [0.25] * 10])
    >>> [round(float(limit), 3) for limit in by_task]
    [0.039, 0.394]
    """
    tasks = [(checked_scores(a), checked_scores(b)) for a, b in zip(first, second, strict=True)]
    if weights is None:
        weights = task_weights(*([two[i].shape[-1] for two in tasks] for i in range(2)))
    estimate = below = beyond = np.zeros(())
    for (a, b), weight in zip(tasks, weights, strict=True):
        limits_a, limits_b = mean_interval(a, level), mean_interval(b, level)
        mean_a, mean_b = a.mean(axis=-1), b.mean(axis=-1)
        estimate = estimate + weight * (mean_b - mean_a)
        down = (mean_b - limits_b.lower) ** 2 + (limits_a.upper - mean_a) ** 2
        up = (limits_b.upper - mean_b) ** 2 + (mean_a - limits_a.lower) ** 2
        below, beyond = below + weight**2 * down, beyond + weight**2 * up
    return ConfidenceLimits(
        np.maximum(estimate - np.sqrt(below), -1.0), np.minimum(estimate + np.sqrt(beyond), 1.0)
    )


def checked_scores(scores: npt.ArrayLike) -> FloatArray:
    """Scores as an array (..., rollouts); one outside [0, 1], or none at all, is an error."""
    array = np.asarray(scores, dtype=np.float64)
    if array.ndim == 0 or array.shape[-1] == 0:
        raise ValueError("a mean needs at least one score")
    if not ((array >= 0) & (array <= 1)).all():
        raise ValueError("a score must lie between 0 and 1")
    return array


def _as_counts(scores: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Distinct scores and how often each is there: rubrics have few, and rollouts may be many."""
    distinct, position = np.unique(scores, return_inverse=True)
    if len(distinct) >= scores.shape[-1]:
        return scores, np.ones(scores.shape)
    rows = position.reshape(-1, scores.shape[-1])
    counts = np.zeros((len(rows), len(distinct)))
    np.add.at(counts, (np.arange(len(rows))[:, np.newaxis], rows), 1.0)
    shape = (*scores.shape[:-1], len(distinct))
    return np.broadcast_to(distinct, shape), counts.reshape(shape)
