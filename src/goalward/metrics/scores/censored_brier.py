"""How good are chances of success in time, where the clock hid part of what came?"""

from dataclasses import dataclass

import numpy as np

from goalward.metrics.uncertainty.weighing import FrameMean, sum_by_episode
from goalward.rollouts.endings import BoolArray, Endings, FloatArray, IndexArray

# A frame seen for longer than all others would else stand for a crowd.
LEAST_SEEN = 0.05
NO_CHANCES = "no chances were given"


@dataclass(frozen=True, eq=False)
class SeenFrames:
    """What is known of success within some steps, frame by frame, and how much each frame counts.

    `reached` says whether success came, where that is known; `weight` is 0 where it is not.
    """

    reached: BoolArray
    weight: FloatArray


def seen_frames(endings: Endings, num_steps: int) -> SeenFrames:
    """Weights by the inverse chance of being seen (Graf, Schmoor, Sauerbrei and Schumacher 1999).

        K <= n, seen:                  1 / G(K)
        n steps seen without success:  1 / G(n)
        the clock ran out before:      0
        a FAILURE after k steps:       1 / G(min(k, n)), as it will not succeed
        G(t) = P(clock left >= t), by Kaplan and Meier, over frames

    A frame that the clock cut off is no failure: it does not count, and the frames that were seen
    for as long and longer count for it too. That is right where the clock that is left to a frame
    says nothing of how far from success it is. It does say something where a policy is the nearer
    the longer it has tried, or is stuck if it is still at it; then the frames before a fixed clock
    differ from those that stand in for them, of whom alone something is known. `success_within`
    (calibration.py) needs no such assumption, and speaks of early frames alone.

    G is never 0 where a frame was seen, but it may be near: weights are cut at 1 / LEAST_SEEN.

    >>> endings = Endings(np.array([3, 6]), np.array([2, -1]))
    >>> seen = seen_frames(endings, num_steps=1)        # the last frame of the second is cut off
    >>> seen.reached.astype(int).tolist(), seen.weight.tolist()
    ([0, 1, 1, 0, 0, 0], [1.25, 1.25, 1.0, 1.25, 1.25, 0.0])
    """
    ahead = np.where(endings.success, endings.goal_frames, endings.lengths - 1)
    steps = ahead[endings.episode_of] - endings.frame_in_episode
    counted = endings.up_to_goal
    timed_out = (~endings.success & ~endings.failures)[endings.episode_of]
    succeeded = endings.success[endings.episode_of]
    reached = counted & succeeded & (steps <= num_steps)
    known = counted & (~timed_out | (steps >= num_steps))
    at = np.clip(np.minimum(steps, num_steps), 0, None)
    left = _clock_left(steps[counted], timed_out[counted], num_steps)
    weight = np.where(known, 1 / np.maximum(left[at], LEAST_SEEN), 0.0)
    return SeenFrames(reached, weight)


def _clock_left(steps: IndexArray, cut_off: BoolArray, num_steps: int) -> FloatArray:
    """G(0), ..., G(num_steps): the chance that a frame's clock has so many steps left.

    What ends at step s was seen at s: the clock takes only those that are still under way.
    """
    ends = np.bincount(np.minimum(steps, num_steps), minlength=num_steps + 1)
    cut = np.bincount(np.minimum(steps[cut_off], num_steps), minlength=num_steps + 1)
    under_way = ends[::-1].cumsum()[::-1] - (ends - cut)
    passed = 1 - np.divide(cut, under_way, out=np.zeros(len(cut)), where=under_way > 0)
    return np.concatenate([[1.0], np.cumprod(passed)[:-1]])


def censored_brier(chance: FloatArray | None, endings: Endings, num_steps: int) -> FrameMean | str:
    """Mean squared error of the chance of success within some steps; what the clock hid is weighed.

        sum of weight * (chance - reached)^2 / sum of weight

    `chance` (frames,) or (runs, frames). Over the sum of weights, not over the number of frames as
    Graf et al. have it: so it lies between 0 and 1.
    """
    if chance is None:
        return NO_CHANCES
    chance = np.atleast_2d(endings.per_frame(chance))
    seen = seen_frames(endings, num_steps)
    error = seen.weight * (chance - seen.reached) ** 2
    return _weighted_mean(error, seen.weight, endings, num_steps)


def base_rate_brier(chance: FloatArray | None, endings: Endings, num_steps: int) -> FrameMean | str:
    """The same for who says at every frame the share of frames that succeed in time.

    The best that can be said by one who does not look; where there are no chances, nothing is.
    """
    if chance is None:
        return NO_CHANCES
    seen = seen_frames(endings, num_steps)
    total = seen.weight.sum()
    share = float((seen.weight * seen.reached).sum() / total) if total else 0.0
    error = seen.weight * (share - seen.reached) ** 2
    return _weighted_mean(error[None], seen.weight, endings, num_steps)


def _weighted_mean(
    error: FloatArray, weight: FloatArray, endings: Endings, num_steps: int
) -> FrameMean | str:
    counted = weight > 0
    if not counted.any():
        return f"no frame was seen for {num_steps} steps"
    total = sum_by_episode(error, counted, endings)
    weights = sum_by_episode(weight, counted, endings)
    present = weights > 0
    return FrameMean(total[..., present], weights[present], scale="share")
