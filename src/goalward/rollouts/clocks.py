"""The clocks of a data set: after how many steps episodes timed out."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from goalward.errors import argument
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.episode import Outcome

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
    """A warning where clocks differ much; none where they do not.

    A time-out of a single frame had no clock that it could be judged by.
    """
    late = rollouts.lengths[rollouts.outcomes == Outcome.TIME_OUT] - 1
    clocks = _clocks(late[late > 0])
    if clocks is None or not clocks.are_mixed:
        return ()
    return (
        f"clocks ran out after {clocks.least} to {clocks.most} steps: each episode is judged by "
        f"its own; if some were stopped by hand, name them as failures ({argument('labels')})",
    )
