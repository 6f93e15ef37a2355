"""What a curation decided: a weight for every frame, the reasons, and what that leaves."""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from goalward.exports.curating.rules import Stretch
from goalward.rollouts.episode import Outcome

FloatArray = npt.NDArray[np.float64]


class Decision(StrEnum):
    """Of an episode: all of its frames stay, some, or none."""

    KEEP = "keep"
    PART = "part"
    DROP = "drop"


@dataclass(frozen=True)
class CuratedEpisode:
    """What becomes of an episode; `reasons` are the rules that dropped frames of it.

    `weight` is the mean over all of its frames.
    """

    id: str
    task: str
    outcome: Outcome
    num_frames: int
    num_kept: int
    weight: float
    reasons: tuple[str, ...] = ()

    @property
    def decision(self) -> Decision:
        if self.num_kept == 0:
            return Decision.DROP
        return Decision.KEEP if self.num_kept == self.num_frames else Decision.PART


@dataclass(frozen=True)
class Effect:
    """What is left of the episodes of a task that ended in one way.

    `share` is that of all weight of the run, before and after: 1 over all rows.
    """

    task: str
    outcome: Outcome
    num_episodes: int
    num_episodes_kept: int
    num_frames: int
    num_frames_kept: int
    share_before: float
    share_after: float


@dataclass(frozen=True, eq=False)
class Curation:
    """A weight for every frame of a run, (frames,), 0 for dropped ones; 1 in the mean over others.

    `rules` are those that dropped, `weighed` says how the others were weighed, `notes` what to
    know before training on it.
    """

    name: str
    method: str
    rules: tuple[str, ...]
    weighed: str
    episodes: tuple[CuratedEpisode, ...]
    stretches: tuple[Stretch, ...]
    effects: tuple[Effect, ...]
    weights: FloatArray
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        rules = ", ".join(self.rules) or "none"
        return f"Curation({self.num_kept} of {len(self.weights)} frames kept; dropped by: {rules})"

    @property
    def num_kept(self) -> int:
        """Frames that are kept."""
        return int((self.weights > 0).sum())

    def ids(self, *decisions: Decision) -> tuple[str, ...]:
        """Episodes of which this was decided, in the order of the run."""
        return tuple(episode.id for episode in self.episodes if episode.decision in decisions)


def effects_of(episodes: tuple[CuratedEpisode, ...]) -> tuple[Effect, ...]:
    """A row per task and outcome, in the order of the run."""
    groups: dict[tuple[str, Outcome], list[CuratedEpisode]] = {}
    for episode in episodes:
        groups.setdefault((episode.task, episode.outcome), []).append(episode)
    all_frames = sum(episode.num_frames for episode in episodes)
    all_weight = sum(episode.weight * episode.num_frames for episode in episodes)
    return tuple(
        Effect(
            task=task,
            outcome=outcome,
            num_episodes=len(members),
            num_episodes_kept=sum(member.num_kept > 0 for member in members),
            num_frames=sum(member.num_frames for member in members),
            num_frames_kept=sum(member.num_kept for member in members),
            share_before=sum(member.num_frames for member in members) / all_frames,
            share_after=sum(m.weight * m.num_frames for m in members) / max(all_weight, 1e-12),
        )
        for (task, outcome), members in groups.items()
    )
