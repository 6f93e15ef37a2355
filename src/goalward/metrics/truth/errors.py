"""How far predictions are from the truth, where a simulator can tell it."""

import math
from dataclasses import dataclass

import numpy as np

from goalward.metrics.score import Interval, Score, no_interval
from goalward.metrics.uncertainty.intervals import over_seeds_and_episodes, standard_error
from goalward.metrics.uncertainty.weighing import mean_by_episode
from goalward.rollouts.endings import FloatArray, IndexArray


@dataclass(frozen=True)
class TruthError:
    """A mean error, its standard error clustered by episode, and its interval."""

    mean: Score
    """Over frames."""
    standard_error: Score
    """By episodes."""
    interval: Interval
    """Over episodes and, with several, seeds."""


@dataclass(frozen=True)
class TruthScores:
    """How far predictions are from the truth: which way on average, and how far in size.

        bias = mean of (predicted - true)         absolute = mean of |predicted - true|

    A bias above 0 is too pessimistic, for values as for steps. The standard errors are over
    episodes for these runs, the intervals over episodes and, with several runs, over seeds.
    """

    bias: TruthError
    """Which way predictions are off on average."""
    absolute: TruthError
    """How far they are off."""
    num_frames: int
    """Frames that were compared."""
    num_episodes: int
    """Episodes that they are from."""


def truth_scores(
    predicted: FloatArray, true: FloatArray, episode: IndexArray, *, ceiling: float = math.inf
) -> TruthScores:
    """Bias and mean absolute error of values or of steps on some frames whose truth is known.

    `predicted` is (frames,) or (runs, frames), `true` and `episode` (frames,); `episode` says
    which frames belong together. For steps give a `ceiling`: all above it, never included, counts
    as the ceiling in prediction and truth alike, as no mean exists otherwise.

    The truth of a frame is a mean over a few tries and has an error of its own. The bias does not
    mind; the absolute error is larger for it, most where predictions are good.

    >>> predicted, true = np.array([0.5, 0.2, 0.0]), np.array([0.2, 0.2, 0.2])
    >>> scores = truth_scores(predicted, true, np.array([0, 0, 1]))
    >>> print(scores.bias.mean, scores.absolute.mean, scores.bias.standard_error)
    0.033 0.167 0.175
    """
    predicted = np.minimum(np.atleast_2d(predicted).astype(np.float64), ceiling)
    true = np.minimum(np.asarray(true, dtype=np.float64), ceiling)
    if predicted.shape[1:] != true.shape or true.shape != np.shape(episode):
        raise ValueError(
            f"{predicted.shape[1:]} predicted, {true.shape} true, {np.shape(episode)} episodes"
        )
    if np.isnan(predicted).any() or np.isnan(true).any():
        raise ValueError("NaN among predicted or true numbers")
    reason = ""
    if len(true) == 0:
        reason = "no frame has a known truth"
    elif not (np.isfinite(predicted).all() and np.isfinite(true).all()):
        reason = "some steps are infinite: no mean without a ceiling"
    if reason:
        undefined = Score(None, reason)
        none = TruthError(undefined, undefined, no_interval(reason, Interval.level))
        return TruthScores(none, none, len(true), len(np.unique(episode)))
    error = predicted - true
    return TruthScores(
        bias=_truth_error(error, episode),
        absolute=_truth_error(np.abs(error), episode),
        num_frames=len(true),
        num_episodes=len(np.unique(episode)),
    )


def _truth_error(error: FloatArray, episode: IndexArray) -> TruthError:
    mean = mean_by_episode(error, episode, scale="line")
    return TruthError(
        Score(float(error.mean())), standard_error(mean), over_seeds_and_episodes(mean)
    )
