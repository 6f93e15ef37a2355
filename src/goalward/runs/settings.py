"""What a run was made from and by: its data, its options, its versions."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from goalward.config import EvaluationConfig
from goalward.rollouts.episode import Outcome
from goalward.rollouts.findings import LeftOut


@dataclass(frozen=True)
class RunData:
    """The rollouts behind a run: where they lay, what they are, what reading them noticed.

    `path` is empty where the rollouts were given in memory. `features` says what the numbers of a
    frame are, `truth` where what is true of some frames was found.
    """

    path: str = ""
    sources: tuple[str, ...] = ()
    """The formats that were read."""
    features: str = ""
    truth: str = ""
    warnings: tuple[str, ...] = ()
    """What reading noticed, in words."""
    left_out: tuple[LeftOut, ...] = ()
    """Episodes that were not taken."""


@dataclass(frozen=True)
class MadeBy:
    """The command or call behind a run, and the versions that ran it.

    `packages` are those of every other package that goalward asks for, by name.
    """

    command: str = ""
    """To be typed or called again."""
    goalward: str = ""
    """Its version."""
    torch: str = ""
    """Its version, with the build."""
    python: str = ""
    """Its version."""
    device: str = ""
    """What trained and predicted."""
    packages: Mapping[str, str] = field(default_factory=dict[str, str])


def _no_options() -> Mapping[str, Any]:
    return {}


@dataclass(frozen=True)
class RunSettings:
    """All that a run depends on; `reading` and `embedding` are the options that were given."""

    evaluation: EvaluationConfig
    """How it was made, all options in full."""
    data: RunData = RunData()
    """What it was made from."""
    reading: Mapping[str, Any] = field(default_factory=_no_options)
    embedding: Mapping[str, Any] = field(default_factory=_no_options)
    made_by: MadeBy = MadeBy()
    """The command and versions behind it."""


@dataclass(frozen=True)
class RunEpisode:
    """An episode as the run saw it.

    `fold` names the part of the episodes it was held out with: its values are by networks that
    never saw it. Empty: it was learned from. `fps` are frames per second, None where nobody knows.
    """

    id: str
    task: str
    outcome: Outcome
    num_frames: int
    goal_frame: int | None
    fold: str = ""
    fps: float | None = None

    @property
    def held_out(self) -> bool:
        return bool(self.fold)

    @property
    def seconds(self) -> float | None:
        """How long it took, where that is known."""
        return None if self.fps is None else self.num_frames / self.fps

    def file_stem(self, position: int) -> str:
        """The name of a file about it; no two episodes of a run have the same.

        Its id, where that is harmless on every disk; else its place in the run, which is why an
        id must not look like one.
        """
        is_harmless = re.fullmatch(r"[A-Za-z0-9_-]{1,100}", self.id) is not None
        if is_harmless and not self.id.startswith("at_"):
            return f"episode_{self.id}"
        return f"episode_at_{position}"
