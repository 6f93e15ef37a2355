"""The values of one method on the scale that all methods share."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from goalward.targets.liveness import liveness_value, steps_to_goal

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Curves:
    """One method on the common scale: k steps to go are worth 1 - 2 discount^k, -1 is the goal.

    `by_seed` is (seeds, frames), the frames of all episodes one after the other. A seed that says
    never counts as the value 1, so that one such seed does not make the mean never.

    >>> curves = Curves.of_steps("mc", np.array([[0.0, 1.0], [2.0, np.inf]]), discount=0.5)
    >>> curves.value, curves.steps
    (array([-0.25,  0.5 ]), array([0.67807191, 2.        ]))
    """

    method: str
    by_seed: FloatArray
    discount: float

    @classmethod
    def of_steps(cls, method: str, steps: npt.NDArray[np.floating], discount: float) -> "Curves":
        """From predicted steps to go, (seeds, frames); inf is never."""
        return cls(method, liveness_value(np.asarray(steps, dtype=np.float64), discount), discount)

    def part(self, frames: slice) -> "Curves":
        """Some of the frames."""
        return Curves(self.method, self.by_seed[:, frames], self.discount)

    @cached_property
    def value(self) -> FloatArray:
        """The mean over seeds, (frames,)."""
        return self.by_seed.mean(axis=0)

    @cached_property
    def spread(self) -> FloatArray:
        """The standard deviation over seeds, (frames,); 0 where there is one seed."""
        if len(self.by_seed) < 2:
            return np.zeros_like(self.value)
        return self.by_seed.std(axis=0, ddof=1)

    @cached_property
    def steps(self) -> FloatArray:
        """The steps to go that the mean value stands for, (frames,); inf for never."""
        return steps_to_goal(self.value, self.discount)
