"""One frame in so many: which frames of an episode are looked at, and what is read off between.

Clocks, lags and steps stay those of the recording: every frame keeps its place and gets a row. The
rows of frames that nobody looked at lie on the straight line between their neighbours.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from goalward.errors import GoalwardError, argument
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.episode import Episode
from goalward.rollouts.frames import (
    FramesOfOthers,
    FrameSource,
    Image,
    checked_indices,
    new_digest,
)

BoolArray = npt.NDArray[np.bool_]
IndexArray = npt.NDArray[np.int64]
Number = TypeVar("Number", bound=np.floating)


def frames_looked_at(episode: Episode) -> IndexArray:
    """The first frame, every so many after it, the goal and the last.

    >>> from goalward.rollouts.episode import Outcome
    >>> frames_looked_at(Episode("7", 12, Outcome.SUCCESS, goal_frame=7, every=5))
    array([ 0,  5,  7, 10, 11])
    """
    if episode.every == 1:
        return np.arange(episode.num_frames)
    last = episode.num_frames - 1
    goal = last if episode.goal_frame is None else episode.goal_frame
    return np.union1d(np.arange(0, episode.num_frames, episode.every), [goal, last])


def is_looked_at(rollouts: Rollouts) -> BoolArray:
    """Over all frames, one episode after the other: false where features lie between others."""
    found = np.zeros(rollouts.num_frames, dtype=np.bool_)
    starts = rollouts.episode_ends - rollouts.lengths
    for start, episode in zip(starts.tolist(), rollouts, strict=True):
        found[start + frames_looked_at(episode)] = True
    return found


def looked_at_every(rollouts: Rollouts, every: int) -> Rollouts:
    """The same episodes, to be looked at in one frame in so many."""
    if every < 1:
        raise GoalwardError(f"{argument('every', every)}: must be at least 1")
    if all(episode.every == every for episode in rollouts):
        return rollouts
    return Rollouts(
        [replace(episode, every=every) for episode in rollouts],
        features=rollouts.features,
        feature_layout=rollouts.feature_layout,
        sources=rollouts.sources,
        task_vectors=rollouts.task_vectors,
    )


def filled_between(
    rows: npt.NDArray[Number], frames: IndexArray, num_frames: int
) -> npt.NDArray[Number]:
    """Rows of some frames, (..., frames, numbers), as rows of all, on straight lines between.

    `frames` rise from the first frame to the last. Where one neighbour is infinite there is no
    line, and the nearer one stands for both.

    >>> filled_between(np.array([[0.0], [6.0], [np.inf]]), np.array([0, 3, 5]), 6)[:, 0]
    array([ 0.,  2.,  4.,  6.,  6., inf])
    """
    every = np.arange(num_frames)
    before = np.clip(np.searchsorted(frames, every, side="right") - 1, 0, max(len(frames) - 2, 0))
    after = np.minimum(before + 1, len(frames) - 1)
    gap = np.maximum(frames[after] - frames[before], 1)
    share = ((every - frames[before]) / gap)[:, None]
    low, high = rows[..., before, :].astype(np.float64), rows[..., after, :].astype(np.float64)
    with np.errstate(invalid="ignore"):
        line = low + share * (high - low)
    nearer = np.where(share <= 0.5, low, high)
    return np.where(np.isfinite(low) & np.isfinite(high), line, nearer).astype(rows.dtype)


@dataclass(frozen=True)
class ThinnedFrames(FramesOfOthers):
    """Some frames of a camera, in their order."""

    frame_indices: tuple[int, ...]

    @property
    def num_frames(self) -> int:
        return len(self.frame_indices)

    def __iter__(self) -> Iterator[Image]:
        return self.stored.at(self.frame_indices)

    def at(self, frame_indices: Sequence[int]) -> Iterator[Image]:
        wanted = checked_indices(frame_indices, self.num_frames, "thinned frames")
        return self.stored.at([self.frame_indices[index] for index in wanted])

    def fingerprint(self) -> str:
        digest = new_digest("thinned frames")
        digest.update(self.stored.fingerprint().encode())
        digest.update(np.array(self.frame_indices, dtype="<i8").tobytes())
        return digest.hexdigest()


def camera_looked_at(episode: Episode, camera: str) -> FrameSource:
    """The frames of a camera that are looked at: all of them, or some."""
    stored = episode.camera(camera)
    if episode.every == 1:
        return stored
    return ThinnedFrames(stored, tuple(frames_looked_at(episode).tolist()))
