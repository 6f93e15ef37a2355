"""Do predictions order frames as the truth does, whatever their level?"""

from dataclasses import dataclass

import numpy as np

from goalward.metrics.score import Interval, Score, no_interval
from goalward.metrics.scores.card import CardRow
from goalward.metrics.scores.rank_correlation import Correlation, RankCorrelation
from goalward.metrics.uncertainty.intervals import over_seeds, over_seeds_and_episodes
from goalward.metrics.uncertainty.weighing import Weighable, scores_by_run
from goalward.rollouts.endings import FloatArray, IndexArray


@dataclass(frozen=True, eq=False)
class PearsonCorrelation(Correlation):
    """Pearson's correlation of predicted and true numbers over all frames together."""

    def weighed(self, weights: FloatArray) -> FloatArray:
        weight = weights[:, self.episode]
        total = weight.sum(axis=1)
        # Away from the mean first: sums of squares of large numbers would cancel.
        actual = self.actual - self.actual.mean()
        predicted = self.predicted - self.predicted.mean(axis=1, keepdims=True)
        mean_actual, mean_predicted = weight @ actual / total, predicted @ weight.T / total
        variance = (weight @ actual**2 / total - mean_actual**2) * (
            predicted**2 @ weight.T / total - mean_predicted**2
        )
        both = (predicted * actual) @ weight.T / total - mean_predicted * mean_actual
        return np.divide(
            both, np.sqrt(np.maximum(variance, 0.0)), where=variance > 0, out=np.zeros_like(both)
        )


def pearson(predicted: FloatArray, true: FloatArray, episode: IndexArray) -> CardRow:
    """How nearly predicted and true numbers lie on a line; `predicted` is (runs, frames).

    >>> row = pearson(np.array([[0.0, 1, 2, 4]]), np.array([0.0, 1, 2, 3]), np.arange(4))
    >>> print(row.over_seeds.mean)
    0.983
    """
    return _row(PearsonCorrelation, predicted, true, episode)


def spearman(predicted: FloatArray, true: FloatArray, episode: IndexArray) -> CardRow:
    """How nearly predicted numbers order frames as the true ones do."""
    return _row(RankCorrelation, predicted, true, episode)


def _row(
    kind: type[PearsonCorrelation] | type[RankCorrelation],
    predicted: FloatArray,
    true: FloatArray,
    episode: IndexArray,
) -> CardRow:
    if (true == true[:1]).all():
        reason = "the truth is the same for all frames"
        none = (Score(None, reason),) * len(predicted)
        return CardRow(none, over_seeds(none), no_interval(reason, Interval.level))
    score: Weighable = kind(predicted, true, np.unique(episode, return_inverse=True)[1])
    by_seed = scores_by_run(score)
    summary = over_seeds(by_seed, scale=score.scale)
    return CardRow(by_seed, summary, over_seeds_and_episodes(score))
