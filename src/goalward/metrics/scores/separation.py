"""AUROC: does a prediction tell successes from the others, whatever its scale?"""

from dataclasses import dataclass

import numpy as np

from goalward.metrics.scores.paper_metrics import NO_OTHER, NO_SUCCESS
from goalward.metrics.uncertainty.weighing import IMAGINED_EPISODES, Scale
from goalward.rollouts.endings import BoolArray, Endings, FloatArray, IndexArray


@dataclass(frozen=True, eq=False)
class Separation:
    """How often a frame of a success looks nearer than a frame of another episode.

        AUROC = P(steps in success < steps in other) + 1/2 P(equal)

    kept per pair of episodes: `wins` (runs, successes, others) counts pairs of frames, equal ones
    half; `near_frames` and `far_frames` are the frames counted per episode. Two predictions of
    never (inf) are equal. The weights of `weighed` are those of the successes, then the others.

    >>> from goalward.metrics.uncertainty.weighing import only_score
    >>> endings = Endings(np.array([2, 4]), np.array([1, -1]))
    >>> separation = frame_separation(np.array([3.0, 0, 3, np.inf]), endings, horizon=5)
    >>> print(only_score(separation))
    0.875
    """

    wins: FloatArray
    near_frames: FloatArray
    far_frames: FloatArray

    @property
    def scale(self) -> Scale:
        return "share"

    @property
    def strata(self) -> IndexArray:
        return np.repeat([0, 1], self.wins.shape[-2:])

    @property
    def reasons(self) -> tuple[str, ...]:
        num_runs, num_near, num_far = (int(size) for size in self.wins.shape[-3:])
        reasons = (NO_SUCCESS if not num_near else "", NO_OTHER if not num_far else "")
        return ("; ".join(filter(None, reasons)),) * num_runs

    def weighed(self, weights: FloatArray) -> FloatArray:
        near, far = np.split(weights, [self.wins.shape[-2]], axis=-1)
        wins = ((near @ self.wins) * far).sum(axis=-1)
        return wins / ((near @ self.near_frames) * (far @ self.far_frames))

    def imagined(self) -> "Separation":
        """Two imagined episodes more of each kind: one always told apart, one never.

        Both kinds together count as much as the imagined episodes of a share.
        """
        near = IMAGINED_EPISODES / 2 * self.near_frames.mean()
        far = IMAGINED_EPISODES / 2 * self.far_frames.mean()
        runs = self.wins.shape[:-2]
        always = np.broadcast_to(near * self.far_frames, (*runs, 1, len(self.far_frames)))
        wins = np.concatenate([self.wins, always, np.zeros_like(always)], axis=-2)
        near_frames = np.append(self.near_frames, [near, near])
        always = np.broadcast_to(far * near_frames[:, None], (*runs, len(near_frames), 1))
        wins = np.concatenate([wins, always, np.zeros_like(always)], axis=-1)
        # An imagined success that always wins against an imagined other that never loses: half.
        wins[..., -2:, -2:] = near * far / 2
        return Separation(wins, near_frames, np.append(self.far_frames, [far, far]))


def frame_separation(steps: FloatArray, endings: Endings, horizon: float) -> Separation:
    """Frames against frames, on the frames of the paper's metrics.

    In successes the last min(length, horizon) frames up to the goal, in all other episodes every
    frame. With an infinite horizon every frame up to the goal counts. `steps` is (frames,) or
    (runs, frames).
    """
    steps = np.atleast_2d(endings.per_frame(steps))
    near = _frames_by_episode(endings.final_frames(horizon), endings)
    far = _frames_by_episode(~endings.success[endings.episode_of], endings)
    return _separation(steps, near, far)


def episode_separation(steps: FloatArray, endings: Endings) -> Separation:
    """Episodes against episodes, each by the median of its predicted steps up to the goal.

    The lower of the two middle ones if there are two, so that it is a prediction and not the
    mean of a number and never. A success that takes its time has many frames far from the goal;
    nothing here corrects for that.
    """
    steps = np.atleast_2d(endings.per_frame(steps))
    counted = np.flatnonzero(endings.up_to_goal)
    episode = endings.episode_of[counted]
    sizes = np.bincount(episode, minlength=endings.num_episodes)
    middle = np.cumsum(sizes) - sizes + (sizes - 1) // 2
    medians = np.stack([run[counted][np.lexsort((run[counted], episode))][middle] for run in steps])
    return _one_number_each(medians, endings, np.arange(endings.num_episodes))


def _frames_by_episode(counted: BoolArray, endings: Endings) -> list[IndexArray]:
    """The counted frames of each episode that has any."""
    frames = np.flatnonzero(counted)
    if len(frames) == 0:
        return []
    return np.split(frames, np.flatnonzero(np.diff(endings.episode_of[frames])) + 1)


def _one_number_each(numbers: FloatArray, endings: Endings, episodes: IndexArray) -> Separation:
    """Every episode by one number; `numbers` is (runs, episodes)."""
    success = endings.success[episodes]
    position = np.arange(len(episodes))
    near = [position[i : i + 1] for i in np.flatnonzero(success)]
    far = [position[i : i + 1] for i in np.flatnonzero(~success)]
    return _separation(numbers, near, far)


def _separation(steps: FloatArray, near: list[IndexArray], far: list[IndexArray]) -> Separation:
    """Counts the pairs; `near` and `far` hold the counted positions of each episode."""
    num_near = np.array([len(frames) for frames in near], dtype=np.float64)
    num_far = np.array([len(frames) for frames in far], dtype=np.float64)
    wins = np.zeros((len(steps), len(near), len(far)))
    if len(near):
        near_frames = np.concatenate(near)
        starts = np.cumsum(num_near.astype(np.int64)) - num_near.astype(np.int64)
        for run in range(len(steps)):
            predicted: FloatArray = steps[run]
            looked_up: FloatArray = predicted[near_frames]
            for other, frames in enumerate(far):
                far_sorted = np.sort(predicted[frames])
                below = np.searchsorted(far_sorted, looked_up, side="left")
                not_above = np.searchsorted(far_sorted, looked_up, side="right")
                won = len(frames) - (below + not_above) / 2
                wins[run, :, other] = np.add.reduceat(won, starts)
    return Separation(wins, num_near, num_far)
