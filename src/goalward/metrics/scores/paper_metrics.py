"""The paper's three metrics: success, failure, and their mean."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from goalward.metrics.score import Score
from goalward.metrics.uncertainty.weighing import Average, FrameMean, frame_mean, only_score
from goalward.rollouts.endings import Endings, FloatArray

# "The percentage of frames": of all frames together, or in each episode and then averaged?
Pool = Literal["frames", "episodes"]

NO_SUCCESS = "no episode succeeded"
NO_OTHER = "no episode without success"


@dataclass(frozen=True)
class PaperMetrics:
    """How often successes look near, how often the others look far, and the mean of the two."""

    success: Score
    failure: Score
    composite: Score


def paper_metrics(
    steps: FloatArray, endings: Endings, horizon: float, *, pool: Pool = "frames"
) -> PaperMetrics:
    """The paper's metrics of one run from its predicted steps to the goal, (frames,).

        success:    share with predicted steps < N over the last N = min(length, horizon) frames
                    up to the goal of every success; length counts the goal frame
        failure:    share with predicted steps > horizon over all frames of all other episodes
        composite:  (success + failure) / 2

    A perfect prediction scores 1: the last N frames lie N - 1, ..., 0 steps before the goal.
    Frames after the goal are not counted, nor do they add to the length. A FAILURE counts like a
    time-out: the goal is at least as far away.

    >>> endings = Endings(np.array([3, 5]), np.array([2, -1]))
    >>> scores = paper_metrics(np.array([1.0, 9, 0, 9, 2]), endings, horizon=4)
    >>> print(scores.success, scores.failure, scores.composite)
    0.667 0.500 0.583
    """
    success = success_share(steps, endings, horizon, pool=pool)
    failure = failure_share(steps, endings, horizon, pool=pool)
    return metrics_of(success, failure)


def success_share(
    steps: FloatArray, endings: Endings, horizon: float, *, pool: Pool = "frames"
) -> FrameMean:
    """The success metric as sums per episode; `steps` is (frames,) or (runs, frames)."""
    steps = endings.per_frame(steps)
    near = np.minimum(endings.goal_frames + 1, horizon)[endings.episode_of]
    return frame_mean(
        (steps < near).astype(np.float64),
        endings.final_frames(horizon),
        endings,
        scale="share",
        by_episode=pool == "episodes",
        if_empty=NO_SUCCESS,
    )


def failure_share(
    steps: FloatArray, endings: Endings, horizon: float, *, pool: Pool = "frames"
) -> FrameMean:
    """The failure metric as sums per episode; `steps` is (frames,) or (runs, frames)."""
    steps = endings.per_frame(steps)
    return frame_mean(
        (steps > horizon).astype(np.float64),
        ~endings.success[endings.episode_of],
        endings,
        scale="share",
        by_episode=pool == "episodes",
        if_empty=NO_OTHER,
    )


def composite_share(
    steps: FloatArray, endings: Endings, horizon: float, *, pool: Pool = "frames"
) -> Average:
    """The composite metric as sums per episode."""
    success = success_share(steps, endings, horizon, pool=pool)
    failure = failure_share(steps, endings, horizon, pool=pool)
    return Average((success, failure))


def metrics_of(success: FrameMean, failure: FrameMean) -> PaperMetrics:
    """The three scores of the only run."""
    composite = only_score(Average((success, failure)))
    return PaperMetrics(only_score(success), only_score(failure), composite)
