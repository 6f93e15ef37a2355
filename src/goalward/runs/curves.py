"""The values of one method on the scale that all methods share."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from goalward.rollouts.findings import counted
from goalward.targets.liveness import steps_to_goal
from goalward.values.table import ValueTable

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Curves:
    """One method on the common scale: k steps to go are worth 1 - 2 discount^k, -1 is the goal.

    `by_seed` and `hindsight_by_seed` are (seeds, frames), the frames of all episodes one after the
    other: what could be said at each frame, and what can be said knowing how its episode went on.
    A seed that says never counts as the value 1, so that one such seed does not make the mean
    never.

    >>> curves = Curves("mc", np.array([[-1.0], [0.5]]), np.array([[-1.0], [0.0]]), discount=0.5)
    >>> curves.value, curves.hindsight, curves.steps
    (array([-0.25]), array([-0.5]), array([0.67807191]))
    """

    method: str
    by_seed: FloatArray
    hindsight_by_seed: FloatArray
    discount: float

    def __repr__(self) -> str:
        seeds = counted(range(len(self.by_seed)), "seed")
        return f"Curves({self.method}; {seeds}, {self.by_seed.shape[1]} frames)"

    def part(self, frames: slice) -> "Curves":
        """Some of the frames."""
        return Curves(
            self.method,
            self.by_seed[:, frames],
            self.hindsight_by_seed[:, frames],
            self.discount,
        )

    @cached_property
    def value(self) -> FloatArray:
        """The mean over seeds, (frames,)."""
        return self.by_seed.mean(axis=0)

    @cached_property
    def hindsight(self) -> FloatArray:
        """The mean over seeds, (frames,), knowing how each episode went on."""
        return self.hindsight_by_seed.mean(axis=0)

    @cached_property
    def spread(self) -> FloatArray:
        """The standard deviation of values over seeds, (frames,); 0 where there is one seed."""
        return _deviation(self.by_seed)

    @cached_property
    def hindsight_spread(self) -> FloatArray:
        """The standard deviation of hindsight values over seeds, (frames,)."""
        return _deviation(self.hindsight_by_seed)

    @cached_property
    def steps(self) -> FloatArray:
        """The steps to go that the mean value stands for, (frames,); inf for never."""
        return steps_to_goal(self.value, self.discount)

    @cached_property
    def hindsight_steps(self) -> FloatArray:
        """The steps to go that the mean hindsight value stands for, (frames,)."""
        return steps_to_goal(self.hindsight, self.discount)

    @cached_property
    def hindsight_steps_by_seed(self) -> FloatArray:
        """The steps to go that each seed's hindsight value stands for, (seeds, frames)."""
        return steps_to_goal(self.hindsight_by_seed, self.discount)


def curves_of(values: ValueTable, method: str, discount: float) -> Curves:
    """The curves of one method of a table."""
    return Curves(method, values.common_values(method), values.hindsight_values(method), discount)


def _deviation(by_seed: FloatArray) -> FloatArray:
    if len(by_seed) < 2:
        return np.zeros(by_seed.shape[1])
    return by_seed.std(axis=0, ddof=1)
