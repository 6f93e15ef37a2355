"""A script for metaworld's tasks along the ways of its experts; it errs and, by habit, tries again.

metaworld's experts are reactive: each step they decide anew from thresholds a few millimetres wide.
Slowed down, shaken or wrong about where the object is, they hover at a threshold for good.
This script goes their ways and remembers what it is about.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from goalward.simulate.policies.hand_motion import OPEN, shaken
from goalward.simulate.policies.policy import Policy
from goalward.simulate.worlds.metaworld_world import MetaworldWorld
from goalward.simulate.worlds.world import FloatArray

# Action per metre of way left; an action of 1 moves the point that pulls the hand by 1 cm.
_GAIN = 12.0
# The hand comes from this high, and goes back there after a failure.
_TRAVEL_HEIGHT_M = 0.2
# Lower than this the hand cannot go.
_LOWEST_M = 0.055
_NEAR_M = 0.015
# An object that moved this far in the hand since the fingers closed is no longer in it.
_LOST_M = 0.05


@dataclass(frozen=True)
class Route:
    """Where a task's object is taken hold of, and which way it goes to the goal."""

    # From the object's grasp point to the hand that takes it.
    grip: tuple[float, float, float]
    # How hard the fingers close, at most 1.
    effort: float
    # From the goal to where the object's tip should be first, and last.
    before: tuple[float, float, float]
    last: tuple[float, float, float]


@dataclass(frozen=True)
class MetaworldHabits:
    """How well the script does it. Errors are drawn anew at each attempt and kept in it."""

    # Standard deviations, along x and along y, of where it believes the object and the goal.
    grasp_error_m: float
    place_error_m: float
    # Chance at each step with the fingers closed on it that they open for a moment.
    slip_chance: float
    fewest_slip_steps: int = 8
    most_slip_steps: int = 14
    # The greatest action along an axis: how fast the hand moves.
    pace: float = 0.9
    # Standard deviation of the noise on each number of a motion, all within [-1, 1].
    action_noise: float = 0.2
    # Chance at each step that the hand rests for a moment.
    pause_chance: float = 0.01
    fewest_pause_steps: int = 5
    most_pause_steps: int = 20
    # Chance after a failure to try again; what is given up stays so.
    retry_chance: float = 1.0


ROUTES: Mapping[str, Route] = {
    "mw-pick-place": Route(
        grip=(-0.005, 0.0, 0.03), effort=1.0, before=(0.0, 0.0, 0.0), last=(0.0, 0.0, 0.0)
    ),
    "mw-peg-insert": Route(
        grip=(0.0, 0.0, 0.02), effort=0.6, before=(0.13, 0.0, 0.0), last=(-0.05, 0.0, 0.0)
    ),
    "mw-assembly": Route(
        grip=(-0.02, 0.0, 0.03), effort=0.6, before=(0.0, 0.0, 0.06), last=(0.0, 0.0, -0.06)
    ),
    "mw-shelf-place": Route(
        grip=(-0.005, 0.0, 0.015), effort=0.7, before=(0.0, -0.15, 0.02), last=(0.0, 0.0, 0.0)
    ),
}
_USUAL: Mapping[str, MetaworldHabits] = {
    "mw-pick-place": MetaworldHabits(grasp_error_m=0.019, place_error_m=0.02, slip_chance=0.01),
    "mw-peg-insert": MetaworldHabits(
        grasp_error_m=0.018, place_error_m=0.022, slip_chance=0.008, retry_chance=0.88
    ),
    "mw-assembly": MetaworldHabits(grasp_error_m=0.011, place_error_m=0.017, slip_chance=0.005),
    "mw-shelf-place": MetaworldHabits(grasp_error_m=0.013, place_error_m=0.02, slip_chance=0.006),
}


def metaworld_habits(task: str, name: str) -> MetaworldHabits:
    """The habits of a task by their name: "retry", "no-retry" or "clean".

    >>> metaworld_habits("mw-assembly", "clean").grasp_error_m
    0.0
    """
    usual = _USUAL[task]
    exact = {"grasp_error_m": 0.0, "place_error_m": 0.0, "action_noise": 0.0}
    return {
        "retry": usual,
        "no-retry": replace(usual, retry_chance=0.0),
        "clean": replace(usual, slip_chance=0.0, pause_chance=0.0, **exact),
    }[name]


class MetaworldScript(Policy[MetaworldWorld]):
    """Rise, approach, descend, close, lift, carry, place; after a failure, again or never more.

    It knows where object and goal are, but for errors that it draws at each attempt. An object that
    jams on its last way it keeps and places anew; one that it lost it takes up again from wherever
    it lies, if the hand gets there.

    Events: "miss" (lifted without the object), "drop" (the object left the hand on its way, or was
    pushed along in it by what it met), "jam" (on its last way for long, and not at the goal).
    """

    def __init__(self, route: Route, habits: MetaworldHabits) -> None:
        super().__init__()
        self.route = route
        self.habits = habits
        self._phases: dict[str, Callable[[MetaworldWorld], FloatArray]] = {
            "rise": self._rise,
            "approach": self._approach,
            "descend": self._descend,
            "close": self._close,
            "lift": self._lift,
            "carry": self._carry,
            "place": self._place,
            "give up": self._give_up,
        }

    def first_thought(self, world: MetaworldWorld) -> dict[str, Any]:
        return {
            "attempt": 0,
            "slip_steps_left": 0,
            "pause_steps_left": 0,
            "in_hand": [0.0, 0.0, 0.0],
            "grasp_error": self._error(self.habits.grasp_error_m),
            "place_error": self._error(self.habits.place_error_m),
            **_beginning("rise", world),
        }

    def act(self, world: MetaworldWorld) -> FloatArray:
        self.mind["steps_in_phase"] += 1
        target = self._phases[self.mind["phase"]](world)
        pace = self.habits.pace
        motion = np.clip(_GAIN * (target - world.hand()), -pace, pace)
        if self._rests():
            motion = np.zeros(3)
        return shaken(np.append(motion, self._grip()), self.generator, self.habits.action_noise)

    # ---------------------------------------------------------------- phases: where to go now

    def _rise(self, world: MetaworldWorld) -> FloatArray:
        """Straight up before anything sideways."""
        if world.hand()[2] > _TRAVEL_HEIGHT_M - 0.04 or self._longer_than(40):
            self._enter("approach", world)
        return _above(self.mind["anchor"])

    def _approach(self, world: MetaworldWorld) -> FloatArray:
        grip_point = world.grasp_point() + self.route.grip + self.mind["grasp_error"]
        over = _above(grip_point)
        if np.linalg.norm(over - world.hand()) < _NEAR_M or self._longer_than(80):
            self._enter("descend", world)
            # From here on it looks no more: what it pushes aside on its way down, it misses.
            grip_point[2] = max(grip_point[2], _LOWEST_M)
            self.mind["anchor"] = grip_point.tolist()
        return over

    def _descend(self, world: MetaworldWorld) -> FloatArray:
        target = np.array(self.mind["anchor"])
        if abs(world.hand()[2] - target[2]) < 0.007 or self._longer_than(40):
            self._enter("close", world)
        return target

    def _close(self, world: MetaworldWorld) -> FloatArray:
        if self._longer_than(15):
            self._enter("lift", world)
            self.mind["in_hand"] = (world.grasp_point() - world.hand()).tolist()
        return np.array(self.mind["anchor"])

    def _lift(self, world: MetaworldWorld) -> FloatArray:
        left = self._way_left(world, self.route.before)
        if self._lost(world):
            self._fail("miss", world)
        elif left[2] < _NEAR_M or self._longer_than(60):
            self._enter("carry", world)
        return np.array([*self.mind["anchor"][:2], world.hand()[2] + left[2]])

    def _carry(self, world: MetaworldWorld) -> FloatArray:
        left = self._way_left(world, self.route.before)
        if self._lost(world):
            self._fail("drop", world)
        elif np.linalg.norm(left) < _NEAR_M or self._longer_than(80):
            self._enter("place", world)
        return world.hand() + left

    def _place(self, world: MetaworldWorld) -> FloatArray:
        if self._lost(world):
            self._fail("drop", world)
        elif self._longer_than(60):
            self._fail("jam", world)
        return world.hand() + self._way_left(world, self.route.last)

    def _give_up(self, world: MetaworldWorld) -> FloatArray:
        return _above(self.mind["anchor"])

    # ---------------------------------------------------------------- what it decides

    def _enter(self, phase: str, world: MetaworldWorld) -> None:
        self.mind |= _beginning(phase, world)

    def _fail(self, event: str, world: MetaworldWorld) -> None:
        self.note(event)
        if not self._happens(self.habits.retry_chance):
            self._enter("give up", world)
            return
        self.mind["attempt"] += 1
        self.mind["place_error"] = self._error(self.habits.place_error_m)
        if event == "jam":
            self._enter("lift", world)
        else:
            self.mind["grasp_error"] = self._error(self.habits.grasp_error_m)
            self._enter("rise", world)

    def _error(self, deviation: float) -> list[float]:
        return [*self.generator.normal(0.0, deviation, 2).tolist(), 0.0]

    def _grip(self) -> float:
        """Closed while it has the object or thinks so, unless the fingers slip."""
        habits, phase = self.habits, self.mind["phase"]
        if phase in ("lift", "carry", "place") and self._happens(habits.slip_chance):
            self.mind["slip_steps_left"] = self._some_steps(
                habits.fewest_slip_steps, habits.most_slip_steps
            )
        if self._one_step_less("slip_steps_left"):
            return OPEN
        return self.route.effort if phase in ("close", "lift", "carry", "place") else OPEN

    def _rests(self) -> bool:
        habits = self.habits
        if self._happens(habits.pause_chance):
            self.mind["pause_steps_left"] = self._some_steps(
                habits.fewest_pause_steps, habits.most_pause_steps
            )
        return self._one_step_less("pause_steps_left")

    def _happens(self, chance: float) -> bool:
        return bool(self.generator.random() < chance)

    def _some_steps(self, fewest: int, most: int) -> int:
        return int(self.generator.integers(fewest, most + 1))

    def _one_step_less(self, left: str) -> bool:
        """Whether there was one left."""
        if self.mind[left] == 0:
            return False
        self.mind[left] -= 1
        return True

    def _way_left(self, world: MetaworldWorld, from_goal: tuple[float, float, float]) -> FloatArray:
        """From the object's tip to where it believes that should be."""
        return world.goal() + from_goal + self.mind["place_error"] - world.tip()

    def _lost(self, world: MetaworldWorld) -> bool:
        moved = world.grasp_point() - world.hand() - self.mind["in_hand"]
        return float(np.linalg.norm(moved)) > _LOST_M

    def _longer_than(self, steps: int) -> bool:
        return self.mind["steps_in_phase"] > steps


def _beginning(phase: str, world: MetaworldWorld) -> dict[str, Any]:
    """What is in mind as a phase begins; the anchor is where the hand is then."""
    return {"phase": phase, "steps_in_phase": 0, "anchor": world.hand().tolist()}


def _above(position: FloatArray | list[float]) -> FloatArray:
    return np.array([position[0], position[1], _TRAVEL_HEIGHT_M])
