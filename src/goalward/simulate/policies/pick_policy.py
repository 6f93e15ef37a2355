"""A script that picks the can and places it, errs like a person, and tries again."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from goalward.simulate.policies.grasping import GraspingScript, GraspingSkill
from goalward.simulate.policies.hand_motion import shaken
from goalward.simulate.worlds.pick import PickWorld
from goalward.simulate.worlds.world import FloatArray

# The fingers touch the bin's floor below this.
_LOWEST_M = 0.835
# The hand grips a standing can this far above its middle, a lying one in its middle: higher up, it
# is squeezed out downwards.
_GRIP_ABOVE_MIDDLE_M = 0.015
# How far from its base the arm reaches, measured over the floor; what lies beyond is reached for
# at this distance. The compartment's middle is as far as 0.86 m: the can is placed nearer.
_REACH_M = 0.81
_PLACE_FROM_GOAL = np.array([-0.032, -0.072, 0.0])
# Lower than this over its place, the fingers meet the walls: it lets go of the can here.
_LET_FALL_M = 0.045
# A can further from the hand than this is no longer in it.
_LOST_M = 0.06
# Which error its target has, phase by phase; none in the others.
_ERROR_OF = {"approach": "grasp_error", "descend": "grasp_error", "carry": "place_error"}


@dataclass(frozen=True, kw_only=True)
class PickSkill(GraspingSkill):
    """How well the script does it. Errors are drawn anew at each attempt."""

    # Standard deviations, along x and along y, of where it believes the can and its place.
    grasp_error_m: float = 0.018
    place_error_m: float = 0.032
    slip_chance: float = 0.015
    pace_m: float = 0.06


PICK_SKILLS: Mapping[str, PickSkill] = {
    "retry": PickSkill(),
    "clean": PickSkill(grasp_error_m=0.0, place_error_m=0.0, action_noise=0.0, slip_chance=0.0),
    "no-retry": PickSkill(retries=False),
}


class PickScript(GraspingScript[PickWorld, PickSkill]):
    """Picks the can and places it in its compartment.

    It knows where the can is, but for an error that it draws at each attempt. It never turns the
    hand: a can that lies along the fingers' way, or has left the bins, it keeps reaching for in
    vain.
    """

    # High enough for a held can to pass over the walls of the bins, which end at 0.9 m.
    travel_height_m = 1.0
    steps_to_release = 5

    def __init__(self, skill: PickSkill = PICK_SKILLS["retry"]) -> None:
        super().__init__(skill)

    def first_thought(self, world: PickWorld) -> dict[str, Any]:
        return {"attempt": 0, "slip_steps_left": 0, **self._new_attempt(world)}

    def act(self, world: PickWorld) -> FloatArray:
        return self.decide(world)[0]

    def decide(self, world: PickWorld) -> tuple[FloatArray, FloatArray]:
        """The next action, and as it would be at this moment without any of its errors.

        Where it goes wrong, the second leads back: towards the can and its place as they are,
        fingers closed while they slip, and no noise. A demonstration shows this one.
        """
        phase = self.mind["phase"]
        believed = np.array(self.mind[_ERROR_OF[phase]]) if phase in _ERROR_OF else np.zeros(3)
        target = self._target(world)
        grip = self._grip(world)
        action = shaken(self._towards(target, world, grip), self.generator, self.skill.action_noise)
        return action, self._towards(target - believed, world, self._grip_meant())

    # ---------------------------------------------------------------- phases: where to go now

    def _approach(self, world: PickWorld) -> FloatArray:
        over = self._above(world.can() + self.mind["grasp_error"])
        left = _within_reach(over, world.arm_base()) - world.hand()
        if np.linalg.norm(left) < 0.015 or self._longer_than(40):
            self._enter("descend", world)
            # From here on it looks no more: what it pushes aside on its way down, it misses.
            upright = abs(float(world.can_axis()[2]))
            grip_point = world.can() + self.mind["grasp_error"]
            grip_point[2] += upright * _GRIP_ABOVE_MIDDLE_M
            self.mind["anchor"] = grip_point.tolist()
        return over

    def _descend(self, world: PickWorld) -> FloatArray:
        target = np.array(self.mind["anchor"])
        # An arm that presses on a wall for long straightens, and a straight one hardly moves again.
        if self._near(world, height=max(target[2], _LOWEST_M)) or self._longer_than(17):
            self._enter("close", world)
        return target

    def _close(self, world: PickWorld) -> FloatArray:
        target = np.array(self.mind["anchor"])
        if self._longer_than(6):
            self._enter("lift", world)
        return target

    def _carry(self, world: PickWorld) -> FloatArray:
        left = self._way_left(world)
        target = self._above(world.hand() + left)
        if self._lost(world):
            self._fail("drop", world)
        elif _horizontal(left) < 0.015 or self._longer_than(90):
            self._enter("lower", world)
        return target

    def _lower(self, world: PickWorld) -> FloatArray:
        target = np.array([*self.mind["anchor"][:2], world.hand()[2] - 0.04])
        if self._lost(world):
            self._fail("drop", world)
        elif world.can()[2] < world.goal()[2] + _LET_FALL_M or self._longer_than(10):
            self._enter("release", world)
        return target

    # ---------------------------------------------------------------- what it decides

    def _new_attempt(self, world: PickWorld) -> dict[str, Any]:
        def error(deviation: float) -> list[float]:
            return [*self.generator.normal(0.0, deviation, 2).tolist(), 0.0]

        return {
            "phase": "rise",
            "steps_in_phase": 0,
            "anchor": world.hand().tolist(),
            "grasp_error": error(self.skill.grasp_error_m),
            "place_error": error(self.skill.place_error_m),
        }

    def _may_slip(self, world: PickWorld) -> bool:
        # Not near the place: what slips there falls into the compartment all the same.
        on_its_way = self.mind["phase"] in ("lift", "carry")
        return on_its_way and _horizontal(self._way_left(world)) > 0.1

    def _reachable(self, target: FloatArray, world: PickWorld) -> FloatArray:
        return _within_reach(target, world.arm_base())

    def _way_left(self, world: PickWorld) -> FloatArray:
        """From the can to where it believes the can should go."""
        return world.goal() + _PLACE_FROM_GOAL + self.mind["place_error"] - world.can()

    def _near(self, world: PickWorld, height: float) -> bool:
        return abs(world.hand()[2] - height) < 0.01

    def _lost(self, world: PickWorld) -> bool:
        return float(np.linalg.norm(world.can() - world.hand())) > _LOST_M


def _within_reach(target: FloatArray, base: FloatArray) -> FloatArray:
    """The target, or what the arm reaches in its direction; never into the bin's floor."""
    out = (target - base)[:2]
    length = float(np.linalg.norm(out))
    if length > _REACH_M:
        out = out * (_REACH_M / length)
    return np.array([*(base[:2] + out), max(target[2], _LOWEST_M)])


def _horizontal(way: FloatArray) -> float:
    return float(np.linalg.norm(way[:2]))
