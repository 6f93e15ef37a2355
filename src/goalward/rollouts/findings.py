"""What a reader notices on the way: episodes it leaves out, and things the user should know."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from goalward.errors import GoalwardError, RolloutError


@dataclass(frozen=True)
class LeftOut:
    """An episode that cannot be trusted, and why."""

    episode_id: str
    """As its data set calls it."""
    reason: str
    """Why it was not taken."""


@dataclass
class Findings:
    """Collects findings while a data set is read.

    Damage (an episode left out, a promise of the metadata not kept) ends the read when `strict`;
    a notice never does.
    """

    strict: bool = False
    warnings: list[str] = field(default_factory=list[str])
    left_out: list[LeftOut] = field(default_factory=list[LeftOut])

    def leave_out(self, episode_id: str, reason: str) -> None:
        """Drop this episode; `reason` names the file."""
        if self.strict:
            raise RolloutError(f"episode {episode_id}: {reason}")
        self.left_out.append(LeftOut(episode_id, reason))

    def damage(self, text: str) -> None:
        """The data set is not what it says it is, but no single episode is to blame."""
        if self.strict:
            raise RolloutError(text)
        self._warn(text)

    def notice(self, text: str) -> None:
        """Something the user should know that is nobody's fault."""
        self._warn(text)

    def _warn(self, text: str) -> None:
        if text not in self.warnings:
            self.warnings.append(text)


def counted(names: Sequence[object], what: str = "episode") -> str:
    """
    >>> counted(["0"]), counted(["0", "1"])
    ('1 episode', '2 episodes')
    """
    return f"{len(names)} {what}" + ("" if len(names) == 1 else "s")


def check_read(rollouts: object, function: str) -> None:
    """A path where rollouts are wanted: a function that reads none says who does."""
    if isinstance(rollouts, str | Path):
        raise GoalwardError(
            f"goalward.{function} takes rollouts, not their path: "
            f"goalward.read({str(rollouts)!r}) reads them"
        )


def some_of(names: Sequence[str], most: int = 5) -> str:
    """The first few names and how many more there are.

    >>> some_of(["0", "1", "2", "3"], most=2)
    '0, 1 and 2 more'
    """
    if len(names) <= most:
        return ", ".join(names)
    return f"{', '.join(names[:most])} and {len(names) - most} more"
