"""How each episode ended, as arrays: what every score needs to know of the recording."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from goalward.rollouts.episode import Outcome

if TYPE_CHECKING:
    pass

FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Endings:
    """Where episodes end, where they reach the goal, and which of them no longer can.

    `episode_ends` (episodes,) is one past the last frame of each in flat arrays over frames,
    `goal_frames` the goal frame within each episode or -1, `failed` true for a FAILURE (ended
    early, the goal cannot follow). An episode with neither is a time-out.

    >>> endings = Endings(episode_ends=np.array([4, 6]), goal_frames=np.array([2, -1]))
    >>> endings.steps.tolist()                   # of frames without a recorded goal ahead: -1
    [2, 1, 0, -1, -1, -1]
    >>> endings.up_to_goal.astype(int).tolist()  # not what was filmed after the goal
    [1, 1, 1, 0, 1, 1]
    """

    episode_ends: IndexArray
    goal_frames: IndexArray
    failed: BoolArray | None = None

    def __post_init__(self) -> None:
        ends, goals = np.asarray(self.episode_ends), np.asarray(self.goal_frames)
        if ends.ndim != 1 or goals.shape != ends.shape:
            raise ValueError(f"{ends.shape} ends of episodes, but {goals.shape} goal frames")
        lengths = np.diff(ends, prepend=0)
        if (lengths < 1).any():
            raise ValueError("an episode has no frames: episode_ends must increase from above 0")
        if (goals < -1).any() or (goals >= lengths).any():
            raise ValueError("a goal frame lies outside its episode")
        if self.failures.shape != ends.shape or (self.failures & (goals >= 0)).any():
            raise ValueError("failed must be given per episode, and no success is a failure")
        object.__setattr__(self, "episode_ends", ends.astype(np.int64))
        object.__setattr__(self, "goal_frames", goals.astype(np.int64))

    # ---- per episode -------------------------------------------------------------------------

    @property
    def num_episodes(self) -> int:
        return len(self.episode_ends)

    @property
    def lengths(self) -> IndexArray:
        return np.diff(self.episode_ends, prepend=0)

    @property
    def starts(self) -> IndexArray:
        return self.episode_ends - self.lengths

    @property
    def success(self) -> BoolArray:
        return self.goal_frames >= 0

    @property
    def failures(self) -> BoolArray:
        if self.failed is None:
            return np.zeros(len(self.episode_ends), dtype=np.bool_)
        return np.asarray(self.failed, dtype=np.bool_)

    @cached_property
    def outcomes(self) -> tuple[Outcome, ...]:
        """How each episode ended, by name."""
        endings = zip(self.success.tolist(), self.failures.tolist(), strict=True)
        return tuple(
            Outcome.SUCCESS if success else Outcome.FAILURE if failed else Outcome.TIME_OUT
            for success, failed in endings
        )

    # ---- per frame ---------------------------------------------------------------------------

    @property
    def num_frames(self) -> int:
        return int(self.episode_ends[-1]) if self.num_episodes else 0

    @cached_property
    def episode_of(self) -> IndexArray:
        """The episode each frame belongs to."""
        return np.repeat(np.arange(self.num_episodes), self.lengths)

    @cached_property
    def frame_in_episode(self) -> IndexArray:
        """0, 1, ... within each episode."""
        return np.arange(self.num_frames) - self.starts[self.episode_of]

    @cached_property
    def at_goal(self) -> BoolArray:
        """True on the goal and on all that was recorded after it: the task stays complete."""
        past = self.frame_in_episode >= self.goal_frames[self.episode_of]
        return past & self.success[self.episode_of]

    @cached_property
    def at_end(self) -> BoolArray:
        """True on the last frame of every episode."""
        return self.frame_in_episode == (self.lengths - 1)[self.episode_of]

    @cached_property
    def up_to_goal(self) -> BoolArray:
        """False on what was filmed after the goal: the task is done, nothing is left to predict."""
        after = self.frame_in_episode > self.goal_frames[self.episode_of]
        return ~(after & self.success[self.episode_of])

    @cached_property
    def steps(self) -> IndexArray:
        """Steps to the goal as they were recorded, -1 where there is none ahead."""
        ahead = self.goal_frames[self.episode_of] - self.frame_in_episode
        return np.where(self.success[self.episode_of] & self.up_to_goal, ahead, -1)

    def final_frames(self, horizon: float) -> BoolArray:
        """The last min(length, horizon) frames up to the goal of each success, the goal included.

        The length of a success is counted to its goal. The frame k steps before the goal is the
        (k + 1)-th from the end, so these are the frames with fewer than `horizon` steps to go.
        """
        if not horizon >= 1:
            raise ValueError(f"the horizon must be at least one step, got {horizon}")
        return (self.steps >= 0) & (self.steps < horizon)

    def per_frame(self, numbers: npt.ArrayLike) -> FloatArray:
        """Numbers of shape (..., frames) as floats; a wrong shape or NaN is an error.

        NaN is neither above nor below a threshold and would count as wrong without a word.
        """
        array = np.asarray(numbers, dtype=np.float64)
        if array.ndim == 0 or array.shape[-1] != self.num_frames:
            raise ValueError(f"{self.num_frames} frames, but numbers of shape {array.shape}")
        bad = np.isnan(array).any(axis=tuple(range(array.ndim - 1)))
        if bad.any():
            frame = int(np.flatnonzero(bad)[0])
            raise ValueError(
                f"NaN at frame {self.frame_in_episode[frame]} of episode {self.episode_of[frame]}"
            )
        return array
