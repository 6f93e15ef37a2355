"""The clocks of a data set: after how many steps episodes timed out."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from goalward.errors import argument
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.episode import Outcome
from goalward.rollouts.findings import counted, some_of

# The longest clock over the shortest, from which on they are called mixed.
_MIXED = 1.5


class Clocks(NamedTuple):
    """Steps at which timed-out episodes ended, one fewer than their frames; how many differ.

    >>> Clocks(161, 161, 161, num_distinct=1).words, Clocks(41, 161, 161, num_distinct=2).words
    ('161 steps', '41 to 161 steps, half at 161 or less, 2 different')
    """

    least: int
    median: int
    most: int
    num_distinct: int

    @property
    def are_mixed(self) -> bool:
        return self.most > _MIXED * self.least

    @property
    def words(self) -> str:
        if self.num_distinct == 1:
            return f"{self.least} steps"
        return (
            f"{self.least} to {self.most} steps, half at {self.median} or less, "
            f"{self.num_distinct} different"
        )


def clocks_of(rollouts: Rollouts) -> Clocks | None:
    """None where no episode timed out."""
    return _clocks(rollouts.lengths[rollouts.outcomes == Outcome.TIME_OUT] - 1)


def _clocks(late: npt.NDArray[np.int64]) -> Clocks | None:
    if not len(late):
        return None
    return Clocks(int(late.min()), int(np.median(late)), int(late.max()), len(np.unique(late)))


def mixed_clocks(rollouts: Rollouts) -> tuple[str, ...]:
    """A warning where the clocks of a task differ much; tasks may have clocks of their own.

    A time-out of a single frame had no clock that it could be judged by.
    """
    had_a_clock = (rollouts.outcomes == Outcome.TIME_OUT) & (rollouts.lengths > 1)
    names = np.array([episode.task for episode in rollouts], dtype=object)
    mixed: dict[str, Clocks] = {}
    for task in dict.fromkeys(names.tolist()):
        clocks = _clocks(rollouts.lengths[had_a_clock & (names == task)] - 1)
        if clocks is not None and clocks.are_mixed:
            mixed[task] = clocks
    if not mixed:
        return ()
    least = min(clocks.least for clocks in mixed.values())
    most = max(clocks.most for clocks in mixed.values())
    several = len(set(names.tolist())) > 1
    # A task may be named by ten thousand characters.
    named = [task if len(task) <= 40 else f"{task[:39]}…" for task in mixed]
    where = f" in {counted(named, 'task')} ({some_of(named, most=3)})" if several else ""
    return (
        f"clocks ran out after {least} to {most} steps{where}: each episode is judged by "
        f"its own; if some were stopped by hand, name them as failures ({argument('labels')})",
    )
