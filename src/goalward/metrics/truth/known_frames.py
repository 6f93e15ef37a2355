"""The frames whose truth is known, found again among recorded frames."""

from dataclasses import dataclass

import numpy as np

from goalward.errors import GoalwardError
from goalward.metrics.truth.frame_truth import FrameTruth
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.endings import BoolArray, IndexArray

# The group of all frames; the others are named by the outcome of their episodes.
ALL = "all"


@dataclass(frozen=True, eq=False)
class KnownFrames:
    """Some frames with their truth, where they lie, and how their episodes ended.

    `position` is where each lies among all recorded frames, one episode after the other;
    `episode` is the position of its episode. All are (frames,).
    """

    truth: FrameTruth
    """What became of the futures."""
    position: IndexArray
    episode: IndexArray
    outcome: tuple[str, ...]
    """How the episode of each frame ended."""

    @property
    def num_frames(self) -> int:
        return len(self.position)

    @property
    def num_episodes(self) -> int:
        return len(np.unique(self.episode))

    def groups(self) -> dict[str, BoolArray]:
        """All frames, and those of episodes that ended alike, where endings differ."""
        everything = {ALL: np.ones(self.num_frames, dtype=np.bool_)}
        outcomes = np.array(self.outcome)
        kinds = sorted(set(self.outcome))
        return everything | {kind: outcomes == kind for kind in kinds if len(kinds) > 1}


def known_frames(truth: FrameTruth, rollouts: Rollouts, held_out: BoolArray) -> KnownFrames:
    """The frames of held-out episodes whose truth is known.

    Frames of other episodes are left out: a value function learned from those. A frame that no
    episode has means that the truth is of other rollouts, which is an error.
    """
    position_of = {episode.id: position for position, episode in enumerate(rollouts)}
    starts = rollouts.episode_ends - rollouts.lengths
    chosen: list[int] = []
    episodes: list[int] = []
    for row, (episode_id, frame) in enumerate(
        zip(truth.episode_ids, truth.frame_indices.tolist(), strict=True)
    ):
        if episode_id not in position_of:
            if any(left.episode_id == episode_id for left in rollouts.left_out):
                continue
            raise GoalwardError(f"the truth is of other rollouts: no episode {episode_id} here")
        episode = position_of[episode_id]
        goal, length = rollouts[episode].goal_frame, int(rollouts.lengths[episode])
        last = length - 1 if goal is None else goal
        if not 0 <= frame <= last:
            raise GoalwardError(
                f"the truth is of other rollouts: frame {frame} of episode {episode_id}, which "
                f"ends with frame {last} here"
            )
        if held_out[episode]:
            chosen.append(row)
            episodes.append(episode)
    found = np.array(episodes, dtype=np.int64)
    selected = truth.select(np.array(chosen, dtype=np.int64))
    return KnownFrames(
        truth=selected,
        position=starts[found] + selected.frame_indices,
        episode=found,
        outcome=tuple(str(rollouts[episode].outcome) for episode in episodes),
    )
