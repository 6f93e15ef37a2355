"""What an audit finds: episodes whose label or place in the data should be looked at."""

from dataclasses import dataclass
from enum import StrEnum

from goalward.rollouts.episode import Outcome
from goalward.rollouts.findings import counted
from goalward.rollouts.twins import Sameness


class FindingKind(StrEnum):
    """What may be wrong with an episode.

    `SUCCESS_NEVER_NEAR`: called a success, but never looked near the goal; `LOOKED_DONE`: called a
    time-out or a failure, but looked as successes do at their goal; `GOAL_EARLY`, `GOAL_LATE`: the
    goal frame is marked before the episode looks done, or long after. `OTHER_LABEL`: the same
    recording is there with another outcome; `LEAKED`: it is held out, and the same recording was
    learned from, or is in the other data set; `TWICE`: it is there twice. `MARKED`: somebody who
    watched it said that its label is wrong.
    """

    SUCCESS_NEVER_NEAR = "success_never_near"
    LOOKED_DONE = "looked_done"
    GOAL_EARLY = "goal_early"
    GOAL_LATE = "goal_late"
    OTHER_LABEL = "other_label"
    LEAKED = "leaked"
    TWICE = "twice"
    MARKED = "marked"


@dataclass(frozen=True)
class Finding:
    """One thing to look at.

    `sure` is from 0 to 1: of a label the chance that it is wrong, of a copy 1. `looked` is how done
    the episode looked at best, and `frames` are those to look at. `suggested` and
    `suggested_goal_frame` are what a person might find; nobody has looked yet. `twin` is the id of
    the other episode, `share` what the two have in common, `elsewhere` the other data set.
    """

    episode: str
    kind: FindingKind
    sure: float
    outcome: Outcome
    frames: tuple[int, ...]
    goal_frame: int | None = None
    looked: float | None = None
    suggested: Outcome | None = None
    suggested_goal_frame: int | None = None
    twin: str | None = None
    share: Sameness | None = None
    elsewhere: str = ""


@dataclass(frozen=True)
class AuditedEpisode:
    """An episode of the data, in its order, and how likely its label is wrong; None: unknown."""

    id: str
    outcome: Outcome
    num_frames: int
    goal_frame: int | None = None
    looked: float | None = None
    wrong: float | None = None


@dataclass(frozen=True)
class Audit:
    """Findings, the surest first, and all episodes in the order in which to look at their labels.

    `near_steps` is how near to success counts as done, None where there are no values.
    `unchecked` are sentences that say what could not be checked, and why. `of_values` is the
    checksum of the values by which labels were judged: others may take their place.
    """

    name: str
    findings: tuple[Finding, ...]
    episodes: tuple[AuditedEpisode, ...]
    method: str = ""
    near_steps: int | None = None
    unchecked: tuple[str, ...] = ()
    of_values: str = ""

    def __repr__(self) -> str:
        findings = counted(self.findings, "finding")
        return f"Audit({findings} in {counted(self.episodes)})"

    def of(self, episode: str | int) -> tuple[Finding, ...]:
        """The findings about one episode, the surest first."""
        return tuple(found for found in self.findings if found.episode == str(episode))
