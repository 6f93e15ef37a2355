"""What scripts share that take a thing, carry it and set it down: phases, slips, attempts."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from goalward.simulate.policies.hand_motion import CLOSED, OPEN, motion_towards
from goalward.simulate.policies.policy import Policy
from goalward.simulate.worlds.world import FloatArray, HandWorld

AnyWorld = TypeVar("AnyWorld", bound=HandWorld)
AnySkill = TypeVar("AnySkill", bound="GraspingSkill")

# The fingers close along one of the world's horizontal axes, as at the start.
_YAW = np.pi / 2
# Asked for exactly the way left, the arm creeps up to its targets.
_GAIN = 1.5


@dataclass(frozen=True, kw_only=True)
class GraspingSkill:
    """How well a script does it. Errors are drawn anew at each attempt."""

    # Standard deviation of the noise on each number of a motion, all within [-1, 1].
    action_noise: float = 0.1
    # Chance at each step with the thing in the air that the fingers open for a moment.
    slip_chance: float
    fewest_slip_steps: int = 6
    most_slip_steps: int = 9
    # The furthest ahead the hand aims: how fast it moves.
    pace_m: float
    retries: bool = True


class GraspingScript(Policy[AnyWorld], Generic[AnyWorld, AnySkill]):
    """Rise, approach, descend, close, lift, carry, lower, release, retreat; after an error, again.

    A phase says where to go now, and enters the next one. Events: "miss" (lifted without the
    thing), "drop" (it left the hand in the air), "misplaced" (let go, not at the goal).
    """

    travel_height_m: ClassVar[float]
    # The fingers are given so many to open.
    steps_to_release: ClassVar[int]

    def __init__(self, skill: AnySkill) -> None:
        super().__init__()
        self.skill = skill
        self._phases: dict[str, Callable[[AnyWorld], FloatArray]] = {
            "rise": self._rise,
            "approach": self._approach,
            "descend": self._descend,
            "close": self._close,
            "lift": self._lift,
            "carry": self._carry,
            "lower": self._lower,
            "release": self._release,
            "retreat": self._retreat,
            "give up": self._give_up,
        }

    # ---------------------------------------------------------------- what differs

    @abstractmethod
    def _approach(self, world: AnyWorld) -> FloatArray: ...

    @abstractmethod
    def _descend(self, world: AnyWorld) -> FloatArray: ...

    @abstractmethod
    def _close(self, world: AnyWorld) -> FloatArray: ...

    @abstractmethod
    def _carry(self, world: AnyWorld) -> FloatArray: ...

    @abstractmethod
    def _lower(self, world: AnyWorld) -> FloatArray: ...

    @abstractmethod
    def _new_attempt(self, world: AnyWorld) -> dict[str, Any]:
        """What is in mind when an attempt begins, its errors among it."""

    @abstractmethod
    def _may_slip(self, world: AnyWorld) -> bool:
        """Whether the fingers may open now: with the thing in the air."""

    @abstractmethod
    def _lost(self, world: AnyWorld) -> bool:
        """Whether the thing is no longer in the hand."""

    @abstractmethod
    def _reachable(self, target: FloatArray, world: AnyWorld) -> FloatArray:
        """The target, or the nearest to it that the hand may go to."""

    # ---------------------------------------------------------------- phases: where to go now

    def _target(self, world: AnyWorld) -> FloatArray:
        """Where the phase says to go; the mind moves on."""
        self.mind["steps_in_phase"] += 1
        return self._phases[self.mind["phase"]](world)

    def _rise(self, world: AnyWorld) -> FloatArray:
        """Straight up before anything sideways: the fingers may be inside of something."""
        if world.hand()[2] > self.travel_height_m - 0.04 or self._longer_than(25):
            self._enter("approach", world)
        return self._above(self.mind["anchor"])

    def _lift(self, world: AnyWorld) -> FloatArray:
        target = self._above(self.mind["anchor"])
        if self._lost(world):
            self._fail("miss", world)
        elif world.hand()[2] > self.travel_height_m - 0.015 or self._longer_than(25):
            self._enter("carry", world)
        return target

    def _release(self, world: AnyWorld) -> FloatArray:
        if self._longer_than(self.steps_to_release):
            self._enter("retreat", world)
        return np.array(self.mind["anchor"])

    def _retreat(self, world: AnyWorld) -> FloatArray:
        if self._longer_than(14):
            self._fail("misplaced", world)
        return self._above(self.mind["anchor"])

    def _give_up(self, world: AnyWorld) -> FloatArray:
        return self._above(self.mind["anchor"])

    # ---------------------------------------------------------------- what it decides

    def _towards(self, target: FloatArray, world: AnyWorld, grip: float) -> FloatArray:
        """The action that brings the hand nearer, no faster than its pace."""
        hand = world.hand()
        way = self._reachable(target, world) - hand
        length = float(np.linalg.norm(way))
        if length > self.skill.pace_m:
            way *= self.skill.pace_m / length
        return motion_towards(
            hand, world.hand_rotation(), hand + way, grip=grip, yaw=_YAW, gain=_GAIN
        )

    def _enter(self, phase: str, world: AnyWorld) -> None:
        """Begin a phase; the anchor is where the hand is when it begins."""
        self.mind |= {"phase": phase, "steps_in_phase": 0, "anchor": world.hand().tolist()}

    def _fail(self, event: str, world: AnyWorld) -> None:
        self.note(event)
        self.mind["slip_steps_left"] = 0
        if self.skill.retries:
            self.mind |= {"attempt": self.mind["attempt"] + 1, **self._new_attempt(world)}
        else:
            self._enter("give up", world)

    def _grip(self, world: AnyWorld) -> float:
        """Closed while it has the thing or thinks so, unless the fingers slip."""
        if self._may_slip(world) and self.generator.random() < self.skill.slip_chance:
            self.mind["slip_steps_left"] = int(
                self.generator.integers(
                    self.skill.fewest_slip_steps, self.skill.most_slip_steps + 1
                )
            )
        if self.mind["slip_steps_left"] > 0:
            self.mind["slip_steps_left"] -= 1
            return OPEN
        return self._grip_meant()

    def _grip_meant(self) -> float:
        return CLOSED if self.mind["phase"] in ("close", "lift", "carry", "lower") else OPEN

    def _longer_than(self, steps: int) -> bool:
        return self.mind["steps_in_phase"] > steps

    def _above(self, position: FloatArray | list[float]) -> FloatArray:
        return np.array([position[0], position[1], self.travel_height_m])
