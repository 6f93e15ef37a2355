"""Every score of one method on one set of episodes, by name."""

from collections.abc import Mapping
from dataclasses import dataclass

from goalward.metrics.score import Interval, Score, no_interval
from goalward.metrics.scores.movement import EpisodeMedian
from goalward.metrics.scores.paper_metrics import Pool
from goalward.metrics.scores.predictions import Predictions
from goalward.metrics.scores.table import SCORES, ScoreKind
from goalward.metrics.uncertainty.bootstrap import bootstrap_interval
from goalward.metrics.uncertainty.intervals import OverSeeds, over_seeds, over_seeds_and_episodes
from goalward.metrics.uncertainty.weighing import Weighable, scores_by_run
from goalward.rollouts.endings import Endings, FloatArray


@dataclass(frozen=True)
class CardRow:
    """One score: of each seed, over seeds, and its interval over seeds and episodes.

    The interval of a median is over episodes alone. A score of chances has one seed, as all seeds
    of a method are one answer there.
    """

    by_seed: tuple[Score, ...]
    """The score of each seed, in their order."""
    over_seeds: OverSeeds
    """Their mean, with what another training may change."""
    interval: Interval
    """Of the mean, over seeds and episodes."""


def scorecard(
    steps: FloatArray,
    endings: Endings,
    horizon: int,
    *,
    training: tuple[FloatArray, Endings] | None = None,
    chance: FloatArray | None = None,
    pool: Pool = "frames",
    kinds: Mapping[str, ScoreKind] = SCORES,
) -> dict[str, CardRow]:
    """All scores of one method from its predicted steps, (seeds, frames).

    `training` holds the predicted steps and the endings of the training episodes; without it there
    is no composite at the best threshold. `chance` (frames,) is that of success within the horizon.
    The keys are those of the table of scores.

    >>> import numpy as np
    >>> endings = Endings(np.array([3, 6, 8, 10]), np.array([2, 2, -1, -1]))
    >>> steps = np.array([[2.0, 1, 0, 4, 1, 0, 9, 9, 2, 9]])
    >>> card = scorecard(steps, endings, horizon=5)
    >>> print(card["composite"].by_seed[0], card["composite_at_threshold"].by_seed[0])
    0.792 not defined: no episode was only learned from
    """
    learned = None if training is None else Predictions(*training, horizon, pool=pool)
    predictions = Predictions(steps, endings, horizon, learned, pool, chance)
    num_seeds = len(predictions.steps)
    return {name: _card_row(kind.function(predictions), num_seeds) for name, kind in kinds.items()}


def _card_row(score: Weighable | str, num_seeds: int) -> CardRow:
    if isinstance(score, str):
        by_seed = (Score(None, score),) * num_seeds
        return CardRow(by_seed, over_seeds(by_seed), no_interval(score, Interval.level))
    by_seed = scores_by_run(score)
    summary = over_seeds(by_seed, scale=score.scale)
    if isinstance(score, EpisodeMedian):
        return CardRow(by_seed, summary, bootstrap_interval(score))
    return CardRow(by_seed, summary, over_seeds_and_episodes(score))
