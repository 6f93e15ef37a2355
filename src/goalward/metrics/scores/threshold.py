"""The composite where the threshold is learned from training episodes instead of set in advance.

The paper's metrics ask whether predicted steps lie below a given number. A method whose scale is
off fails them even if it orders all frames perfectly, and another can win by shifting its scale.
Here every method may first choose its own threshold, on episodes that are not scored.
"""

import numpy as np

from goalward.metrics.score import Score
from goalward.metrics.scores.paper_metrics import NO_OTHER, NO_SUCCESS, Pool
from goalward.metrics.scores.predictions import Predictions
from goalward.metrics.uncertainty.weighing import Average, FrameMean, frame_mean
from goalward.rollouts.endings import Endings, FloatArray


def best_threshold(
    steps: FloatArray, endings: Endings, horizon: float, *, pool: Pool = "frames"
) -> Score:
    """The number of steps that splits successes from the others best, (frames,).

    Halfway between two predictions; the smallest of equally good ones. Infinite where the best
    split is between some number of steps and never.
    """
    steps = endings.per_frame(steps)
    if not endings.success.any() or endings.success.all():
        reason = NO_OTHER if endings.success.any() else NO_SUCCESS
        return Score(None, f"in training: {reason}")
    near, far = endings.final_frames(horizon), ~endings.success[endings.episode_of]
    near_weights, far_weights = (
        _frame_weights(counted.astype(np.float64), endings, pool) for counted in (near, far)
    )
    levels, level_of = np.unique(steps, return_inverse=True)
    # Up to and including each level: how much of the successes is right, of the others wrong.
    right = np.cumsum(np.bincount(level_of, near_weights, len(levels)))
    wrong = np.cumsum(np.bincount(level_of, far_weights, len(levels)))
    gain = np.concatenate([[0.0], (right - wrong)[:-1]])
    # Rounding must not decide between equally good thresholds.
    best = int(np.flatnonzero(gain >= gain.max() - 1e-12)[0])
    if best == 0:
        return Score(float(levels[0]))
    halfway = (levels[best - 1] + levels[best]) / 2
    return Score(float(halfway if halfway > levels[best - 1] else levels[best]))


def near_share(
    steps: FloatArray,
    endings: Endings,
    horizon: float,
    threshold: float | FloatArray,
    *,
    pool: Pool = "frames",
) -> FrameMean:
    """The share of success frames below a threshold; one threshold, or (runs, 1) of them."""
    hits = (endings.per_frame(steps) < threshold).astype(np.float64)
    return frame_mean(
        hits,
        endings.final_frames(horizon),
        endings,
        scale="share",
        by_episode=pool == "episodes",
        if_empty=NO_SUCCESS,
    )


def far_share(
    steps: FloatArray,
    endings: Endings,
    threshold: float | FloatArray,
    *,
    pool: Pool = "frames",
) -> FrameMean:
    """The share of frames of other episodes not below a threshold."""
    hits = (endings.per_frame(steps) >= threshold).astype(np.float64)
    return frame_mean(
        hits,
        ~endings.success[endings.episode_of],
        endings,
        scale="share",
        by_episode=pool == "episodes",
        if_empty=NO_OTHER,
    )


def composite_at(
    steps: FloatArray,
    endings: Endings,
    horizon: float,
    threshold: float | FloatArray,
    *,
    pool: Pool = "frames",
) -> Average:
    """The composite at a threshold as sums per episode; the threshold is taken as given."""
    near = near_share(steps, endings, horizon, threshold, pool=pool)
    return Average((near, far_share(steps, endings, threshold, pool=pool)))


def composite_at_best(predictions: Predictions) -> Average | str:
    """The composite where every seed chose its threshold on the episodes it learned from.

    Any increasing change of scale leaves the result as it is. Episodes that were trained on look
    easier than they are, and a threshold chosen on them inherits that.
    """
    training, horizon, pool = predictions.training, predictions.horizon, predictions.pool
    if training is None:
        return "no episode was only learned from"
    found = [best_threshold(run, training.endings, horizon, pool=pool) for run in training.steps]
    thresholds = [threshold.value for threshold in found if threshold.value is not None]
    if len(thresholds) < len(found):
        return next(threshold.reason for threshold in found if threshold.reason)
    by_seed = np.array(thresholds)[:, None]
    return composite_at(predictions.steps, predictions.endings, horizon, by_seed, pool=pool)


def _frame_weights(counted: FloatArray, endings: Endings, pool: Pool) -> FloatArray:
    """Weights of the counted frames that sum to 1."""
    if pool == "episodes":
        per_episode = np.bincount(endings.episode_of, counted, endings.num_episodes)
        counted = counted / np.maximum(per_episode, 1)[endings.episode_of]
    return counted / counted.sum()
