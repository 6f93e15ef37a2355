"""Spearman's correlation: does the prediction order the frames of successes as they came?"""

from dataclasses import dataclass

import numpy as np

from goalward.metrics.scores.paper_metrics import NO_SUCCESS
from goalward.metrics.uncertainty.weighing import FrameMean, Scale
from goalward.rollouts.endings import Endings, FloatArray, IndexArray


@dataclass(frozen=True, eq=False)
class Correlation:
    """Of predicted and actual numbers over all frames together, whichever correlation it is.

    `predicted` is (runs, frames), `actual` and `episode` (frames,), `episode` counts from 0.
    """

    predicted: FloatArray
    actual: FloatArray
    episode: IndexArray

    @property
    def scale(self) -> Scale:
        return "correlation"

    @property
    def strata(self) -> IndexArray:
        return np.zeros(int(self.episode.max(initial=-1)) + 1, dtype=np.int64)

    @property
    def reasons(self) -> tuple[str, ...]:
        constant = (self.predicted == self.predicted[:, :1]).all(axis=1)
        return tuple("all predictions are equal" if still else "" for still in constant)

    def imagined(self) -> None:
        return None


@dataclass(frozen=True, eq=False)
class RankCorrelation(Correlation):
    """Spearman's correlation of predicted and actual numbers over all frames together.

    Equal numbers share their mean rank; never (inf) ranks above every number of steps.

    >>> from goalward.metrics.uncertainty.weighing import only_score
    >>> endings = Endings(np.array([3, 5]), np.array([2, 1]))
    >>> print(only_score(steps_correlation(np.array([np.inf, 4, 1, 3, 0]), endings)))
    0.949
    """

    @property
    def reasons(self) -> tuple[str, ...]:
        if len(self.episode) == 0:
            return (NO_SUCCESS,) * len(self.predicted)
        if (self.actual == self.actual[0]).all():
            return ("every success is at its goal from its first frame on",) * len(self.predicted)
        return super().reasons

    def weighed(self, weights: FloatArray) -> FloatArray:
        actual = np.unique(self.actual, return_inverse=True)[1]
        runs = [np.unique(run, return_inverse=True)[1] for run in self.predicted]
        correlations = np.empty((len(runs), len(weights)))
        for column, weight in enumerate(weights[:, self.episode]):
            ranks = _ranks(actual, weight)
            for row, predicted in enumerate(runs):
                correlations[row, column] = _correlation(_ranks(predicted, weight), ranks, weight)
        return correlations


def steps_correlation(steps: FloatArray, endings: Endings) -> RankCorrelation:
    """Predicted and recorded steps over all frames up to the goal of all successes.

    `steps` is (frames,) or (runs, frames).
    """
    steps = np.atleast_2d(endings.per_frame(steps))
    counted = endings.steps >= 0
    episode = np.unique(endings.episode_of[counted], return_inverse=True)[1]
    actual = endings.steps[counted].astype(np.float64)
    return RankCorrelation(steps[:, counted], actual, episode)


def order_within_episodes(steps: FloatArray, endings: Endings) -> FrameMean:
    """The mean over successes of Spearman's correlation within each of them.

    Whether a prediction falls along an episode, whatever its level. An episode whose predictions
    are all equal counts 0, as nothing is ordered; a success of one frame has no order and is out.
    """
    steps = np.atleast_2d(endings.per_frame(steps))
    counted = endings.success & (endings.goal_frames > 0)
    starts, stops = endings.starts[counted], (endings.starts + endings.goal_frames + 1)[counted]
    total = np.zeros((len(steps), len(starts)))
    for column, (start, stop) in enumerate(zip(starts, stops, strict=True)):
        actual = endings.steps[start:stop].astype(np.float64)
        weight = np.ones_like(actual)
        for row, run in enumerate(steps[:, start:stop]):
            predicted = np.unique(run, return_inverse=True)[1]
            total[row, column] = _correlation(_ranks(predicted, weight), actual, weight)
    return FrameMean(
        total,
        np.ones(len(starts)),
        scale="correlation",
        if_empty="no success with more than one frame",
    )


def _ranks(level_of: IndexArray, weight: FloatArray) -> FloatArray:
    """The rank of each frame where a frame of weight 2 counts as two frames."""
    weights = np.bincount(level_of, weight)
    return (np.cumsum(weights) - weights / 2)[level_of]


def _correlation(first: FloatArray, second: FloatArray, weight: FloatArray) -> float:
    """Pearson's correlation; 0 where one of the two does not vary."""
    first = first - np.average(first, weights=weight)
    second = second - np.average(second, weights=weight)
    spread = float((weight * first**2).sum() * (weight * second**2).sum())
    return float((weight * first * second).sum()) / spread**0.5 if spread > 0 else 0.0
