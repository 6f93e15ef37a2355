"""Every score of one method on one set of episodes, by name."""

from dataclasses import dataclass

import numpy as np

from goalward.metrics.score import Interval, Score, no_interval
from goalward.metrics.scores.movement import EpisodeMedian, forward_share, median_setback, progress
from goalward.metrics.scores.paper_metrics import (
    Pool,
    composite_share,
    failure_share,
    success_share,
)
from goalward.metrics.scores.rank_correlation import order_within_episodes, steps_correlation
from goalward.metrics.scores.separation import episode_separation, frame_separation
from goalward.metrics.scores.threshold import best_threshold, composite_at
from goalward.metrics.uncertainty.bootstrap import bootstrap_interval
from goalward.metrics.uncertainty.intervals import OverSeeds, over_seeds, over_seeds_and_episodes
from goalward.metrics.uncertainty.weighing import Weighable, scores_by_run
from goalward.rollouts.endings import Endings, FloatArray

# The names of the scores, in the order of a table, and what each of them says.
MEANINGS = {
    "success": "share of the last frames before a goal that look near enough",
    "failure": "share of frames of the other episodes that look too far",
    "composite": "mean of success and failure",
    "composite_at_threshold": "composite at the threshold that was best in training",
    "frame_auroc": "chance that a frame of a success looks nearer than one of another episode",
    "episode_auroc": "chance that a success looks nearer, by its median, than another episode",
    "spearman": "rank correlation of predicted and recorded steps in successes",
    "order_within_episodes": "mean over successes of the rank correlation within each",
    "forward_share": "share of moves from frame to frame in successes that go towards the goal",
    "setback_in_success": "median over successes of the largest setback, in steps",
    "setback_in_other": "median over the other episodes of the largest setback, in steps",
}


@dataclass(frozen=True)
class CardRow:
    """One score: of each seed, over seeds, and its interval over seeds and episodes.

    The interval of a median is over episodes alone.
    """

    by_seed: tuple[Score, ...]
    over_seeds: OverSeeds
    interval: Interval


def scorecard(
    steps: FloatArray,
    endings: Endings,
    horizon: int,
    *,
    training: tuple[FloatArray, Endings] | None = None,
    pool: Pool = "frames",
) -> dict[str, CardRow]:
    """All scores of one method from its predicted steps, (seeds, frames).

    `training` holds the predicted steps and the endings of the training episodes; without it there
    is no composite at the best threshold. The keys are those of `MEANINGS`, in their order.

    >>> endings = Endings(np.array([3, 6, 8, 10]), np.array([2, 2, -1, -1]))
    >>> steps = np.array([[2.0, 1, 0, 4, 1, 0, 9, 9, 2, 9]])
    >>> card = scorecard(steps, endings, horizon=5)
    >>> print(card["composite"].by_seed[0], card["composite_at_threshold"].by_seed[0])
    0.792 not defined: no training episodes were given
    """
    steps = np.atleast_2d(endings.per_frame(steps))
    moves = progress(steps, endings, ceiling=horizon)
    rows: dict[str, Weighable | str] = {
        "success": success_share(steps, endings, horizon, pool=pool),
        "failure": failure_share(steps, endings, horizon, pool=pool),
        "composite": composite_share(steps, endings, horizon, pool=pool),
        "composite_at_threshold": _at_threshold(steps, endings, horizon, training, pool),
        "frame_auroc": frame_separation(steps, endings, horizon),
        "episode_auroc": episode_separation(steps, endings),
        "spearman": steps_correlation(steps, endings),
        "order_within_episodes": order_within_episodes(steps, endings),
        "forward_share": forward_share(moves, endings.success),
        "setback_in_success": median_setback(moves, endings.success),
        "setback_in_other": median_setback(moves, ~endings.success),
    }
    return {name: _card_row(rows[name], len(steps)) for name in MEANINGS}


def _card_row(score: Weighable | str, num_seeds: int) -> CardRow:
    if isinstance(score, str):
        by_seed = (Score(None, score),) * num_seeds
        return CardRow(by_seed, over_seeds(by_seed), no_interval(score, Interval.level))
    by_seed = scores_by_run(score)
    summary = over_seeds(by_seed, scale=score.scale)
    if isinstance(score, EpisodeMedian):
        return CardRow(by_seed, summary, bootstrap_interval(score))
    return CardRow(by_seed, summary, over_seeds_and_episodes(score))


def _at_threshold(
    steps: FloatArray,
    endings: Endings,
    horizon: int,
    training: tuple[FloatArray, Endings] | None,
    pool: Pool,
) -> Weighable | str:
    if training is None:
        return "no training episodes were given"
    training_steps, training_endings = np.atleast_2d(training[0]), training[1]
    if len(training_steps) != len(steps):
        raise ValueError(f"{len(steps)} seeds in test, {len(training_steps)} in training")
    found = [best_threshold(run, training_endings, horizon, pool=pool) for run in training_steps]
    thresholds = [threshold.value for threshold in found if threshold.value is not None]
    if len(thresholds) < len(found):
        return next(threshold.reason for threshold in found if threshold.reason)
    return composite_at(steps, endings, horizon, np.array(thresholds)[:, None], pool=pool)
