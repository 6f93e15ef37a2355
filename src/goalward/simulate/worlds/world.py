"""What every simulated task offers: reset, step, and return exactly to where it was."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]


class World(ABC):
    """One simulated scene with a robot in it.

    A world is a pure function of its snapshot: after `restore(snapshot)` the same actions lead
    to the same numbers, bit by bit, whatever happened before. Everything hidden that shapes the
    future (a controller's memory, a gripper's last command, a count of steps) is in the snapshot.
    """

    # What the cameras are called in the simulator and in the data set.
    cameras: ClassVar[Sequence[str]]
    # Control steps per second.
    fps: ClassVar[int]
    action_size: ClassVar[int]
    proprioception_names: ClassVar[Sequence[str]]
    state_names: ClassVar[Sequence[str]]
    # Groups of geoms that a camera does not see, such as collision shapes.
    hidden_geom_groups: ClassVar[Sequence[int]] = ()
    # Camera -> how the names of bodies begin that it never sees: not drawing them saves time.
    out_of_sight: ClassVar[Mapping[str, Sequence[str]]] = {}

    # The mujoco model and data, for the cameras.
    model: Any
    data: Any

    @abstractmethod
    def reset(self, generator: np.random.Generator) -> None:
        """A new start, drawn from the generator and from nothing else."""

    @abstractmethod
    def step(self, action: FloatArray) -> None:
        """One control step."""

    @abstractmethod
    def succeeded(self) -> bool:
        """Whether the task is complete now."""

    @abstractmethod
    def holds(self) -> bool:
        """Whether the gripper holds the object now: a slip is where this ends too early."""

    def goal_error(self) -> float | None:
        """How far off the goal is, in metres, where success has such a boundary; else None."""
        return None

    @abstractmethod
    def proprioception(self) -> FloatArray:
        """What the robot knows of itself."""

    @abstractmethod
    def state(self) -> FloatArray:
        """Where the objects are: what only a simulator knows, as a policy or a test may use it."""

    @abstractmethod
    def snapshot(self) -> FloatArray:
        """All that shapes the future, as one row of numbers."""

    @abstractmethod
    def restore(self, snapshot: FloatArray) -> None:
        """Back to where the snapshot was taken."""


class HandWorld(World):
    """A world with a hand that a script moves towards targets, gripper straight down."""

    @abstractmethod
    def hand(self) -> FloatArray:
        """Where the hand is, between its fingers."""

    @abstractmethod
    def hand_rotation(self) -> FloatArray:
        """How it is turned, (3, 3)."""
