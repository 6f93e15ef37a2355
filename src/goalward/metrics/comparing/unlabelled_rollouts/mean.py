"""The mean of a policy of which few rollouts are labelled, and many have a prediction only.

Prediction-powered inference (Angelopoulos et al. 2023). With labels Y, predictions f of the same
rollouts and predictions of the unlabelled ones,

    mean = mean over labelled of (Y - trust * f)  +  trust * mean over unlabelled of f

is right on average however wrong the predictions are, as long as the labelled rollouts were chosen
at random. Good predictions make Y - f vary less than Y, and the unlabelled ones are many. How far
to trust them is read off the labelled rollouts (PPI++, Angelopoulos, Duchi and Zrnic 2023), for
each from the others (cross-fitted), so that no label chooses the trust that it is judged by.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from goalward.metrics.comparing.partial_credit.mean_interval import checked_scores, mean_interval
from goalward.metrics.uncertainty.proportions import ConfidenceLimits
from goalward.rollouts.endings import FloatArray

# Parts of the labelled rollouts; the trust in each part's predictions comes from the others.
_NUM_PARTS = 5
# Fewer labels than these say nothing of how far to trust predictions; trust is then 0.
FEWEST_LABELS = 2 * _NUM_PARTS


@dataclass(frozen=True, eq=False)
class PredictedMean:
    """A mean score with its interval; what labels alone say; and how far predictions were trusted.

    Arrays have the leading axes of the labels, none for one policy.
    """

    mean: FloatArray
    interval: ConfidenceLimits
    labelled_mean: FloatArray
    labelled_interval: ConfidenceLimits
    trust: FloatArray


def predicted_mean(
    labels: npt.ArrayLike,
    predictions: npt.ArrayLike,
    unlabelled_predictions: npt.ArrayLike,
    level: float = 0.95,
) -> PredictedMean:
    """The mean of labels in [0, 1], (..., labelled), helped by predictions in [0, 1].

    `predictions` are of the labelled rollouts, in the same order, and must come from a judge that
    never saw their labels; `unlabelled_predictions` (..., unlabelled) of the others. Labelled
    rollouts are in random order, or are shuffled before.

    The interval is made of two by `mean_interval`, of Y - trust * f on its range and of f over the
    unlabelled ones, whose distances add up as the sides of a right triangle do. It does not
    rest on normality, as few labels of 0 and 1 would not bear it.

    >>> labels, predictions = [1.0, 1, 0, 1, 0] * 4, [0.9, 0.8, 0.1, 0.9, 0.2] * 4
    >>> found = predicted_mean(labels, predictions, [0.9, 0.1] * 100)
    >>> round(float(found.labelled_mean), 2), round(float(found.mean), 2)
    (0.6, 0.52)
    """
    y, f, g = (checked_scores(some) for some in (labels, predictions, unlabelled_predictions))
    if y.shape != f.shape:
        raise ValueError(f"{y.shape[-1]} labels, but predictions of {f.shape[-1]} rollouts")
    trust = _trust(y, f, g.shape[-1])
    mean_trust = trust.mean(axis=-1)
    # Y - trust * f lies between -most and 1; on 0 to 1 it is a score.
    most = trust.max(axis=-1)
    rest = y - trust * f
    on_scale = np.clip((rest + most[..., np.newaxis]) / (1 + most[..., np.newaxis]), 0.0, 1.0)
    shift, scale = on_scale.mean(axis=-1), 1 + most
    # A value never seen lies up to 1 + most away; it pulls as far as one of labels alone does.
    of_rest = mean_interval(on_scale, level, unseen=1 / scale)
    of_predictions = mean_interval(g, level)
    mean = rest.mean(axis=-1) + mean_trust * g.mean(axis=-1)
    below = np.hypot(
        scale * (shift - of_rest.lower), mean_trust * (g.mean(axis=-1) - of_predictions.lower)
    )
    beyond = np.hypot(
        scale * (of_rest.upper - shift), mean_trust * (of_predictions.upper - g.mean(axis=-1))
    )
    return PredictedMean(
        mean=np.clip(mean, 0.0, 1.0),
        interval=ConfidenceLimits(np.clip(mean - below, 0, 1), np.clip(mean + beyond, 0, 1)),
        labelled_mean=y.mean(axis=-1),
        labelled_interval=mean_interval(y, level),
        trust=mean_trust,
    )


def predicted_difference(
    first: PredictedMean, second: PredictedMean
) -> tuple[FloatArray, ConfidenceLimits]:
    """The difference of two policies' means, second minus first, with its interval.

    Independent rollouts and labels; distances add up as the sides of a right triangle do.
    """
    estimate = second.mean - first.mean
    a, b = first.interval, second.interval
    return estimate, ConfidenceLimits(
        estimate - np.hypot(second.mean - b.lower, a.upper - first.mean),
        estimate + np.hypot(b.upper - second.mean, first.mean - a.lower),
    )


def _trust(y: FloatArray, f: FloatArray, num_unlabelled: int) -> FloatArray:
    """The trust in each labelled rollout's prediction, from the other parts: (..., labelled).

    The trust that makes the mean vary least is cov(Y, f) / ((1 + labelled / unlabelled) var(f)).
    """
    num = y.shape[-1]
    if num < FEWEST_LABELS:
        return np.zeros(y.shape)
    part = np.resize(np.arange(_NUM_PARTS), num)
    trust = np.zeros(y.shape)
    for one in range(_NUM_PARTS):
        others = part != one
        y_off = y[..., others] - y[..., others].mean(axis=-1, keepdims=True)
        f_off = f[..., others] - f[..., others].mean(axis=-1, keepdims=True)
        spread = (f_off**2).sum(axis=-1)
        shared = (y_off * f_off).sum(axis=-1)
        best = np.where(spread > 1e-12, shared / np.maximum(spread, 1e-12), 0.0)
        best = np.clip(best / (1 + num / num_unlabelled), 0.0, 1.0)
        trust[..., part == one] = best[..., np.newaxis]
    return trust
