"""Percentile bootstrap over episodes, for scores that are no smooth function of them (medians)."""

import numpy as np

from goalward.metrics.score import Interval, no_interval
from goalward.metrics.uncertainty.intervals import no_interval_because
from goalward.metrics.uncertainty.weighing import Weighable
from goalward.rollouts.endings import FloatArray, IndexArray
from goalward.seeds import generator


def bootstrap_interval(
    score: Weighable, *, num_resamples: int = 2000, level: float = 0.95, seed: int = 0
) -> Interval:
    """Where the mean over runs lies when whole episodes are drawn again, each kind by itself.

    For means, shares, AUROC and correlations `over_episodes` covers better and costs less.

    >>> from goalward.metrics.scores.movement import EpisodeMedian
    >>> print(bootstrap_interval(EpisodeMedian(np.arange(21.0)[None])))
    6.000 to 14.000
    """
    reason = no_interval_because(score)
    if reason:
        return no_interval(reason, level)
    weights = resampling_weights(score.strata, num_resamples, seed)
    scores = score.weighed(weights).mean(axis=-2)
    # An order statistic, never a mixture of two: one of them may be infinite.
    tail = (1 - level) / 2
    low, high = np.quantile(scores, [tail, 1 - tail], method="inverted_cdf")
    return Interval(float(low), float(high), level)


def resampling_weights(strata: IndexArray, num_resamples: int, seed: int) -> FloatArray:
    """How often each episode is drawn, (resamples, episodes); each stratum keeps its size."""
    weights = np.empty((num_resamples, len(strata)))
    for stratum in np.unique(strata):
        members = np.flatnonzero(strata == stratum)
        rng = generator(seed, "bootstrap", int(stratum))
        chances = np.full(len(members), 1 / len(members))
        weights[:, members] = rng.multinomial(len(members), chances, size=num_resamples)
    return weights
