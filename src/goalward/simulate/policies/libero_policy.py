"""A script that takes the bowl by its rim and sets it on the plate, errs, and tries again."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from goalward.simulate.policies.grasping import GraspingScript, GraspingSkill
from goalward.simulate.policies.hand_motion import shaken
from goalward.simulate.worlds.libero import LiberoWorld
from goalward.simulate.worlds.world import FloatArray

# From the middle of the bowl's bottom to where the fingers take its rim, on the side of larger y.
_RIM_FROM_BOWL = np.array([0.0, 0.048, 0.030])
# The fingers touch the table below this.
_LOWEST_M = 0.915
# The bowl's bottom is this near above the plate's when it is let go.
_LET_GO_M = 0.012
# Further from the hand than this, the middle of the bowl's opening is no longer held by the rim.
_LOST_M = 0.085


@dataclass(frozen=True, kw_only=True)
class LiberoSkill(GraspingSkill):
    """How well the script does it. Errors are drawn anew at each attempt."""

    # Standard deviations of where the rim is believed, and the plate in each horizontal direction.
    grasp_error_m: float = 0.022
    grasp_height_error_m: float = 0.016
    place_error_m: float = 0.028
    slip_chance: float = 0.019
    pace_m: float = 0.056


LIBERO_SKILLS: Mapping[str, LiberoSkill] = {
    "retry": LiberoSkill(),
    "clean": LiberoSkill(
        grasp_error_m=0.0,
        grasp_height_error_m=0.0,
        place_error_m=0.0,
        action_noise=0.0,
        slip_chance=0.0,
    ),
    "no-retry": LiberoSkill(retries=False),
}


class LiberoScript(GraspingScript[LiberoWorld, LiberoSkill]):
    """Takes the bowl by its rim and sets it on the plate.

    It knows where bowl and plate are, but for errors that it draws at each attempt, and takes the
    rim on the side away from the ramekin. It expects a bowl that stands: where one lies on its
    side or upside down, it keeps reaching for where the rim would be.
    """

    # The rims of bowl and ramekin end at 0.95 m.
    travel_height_m = 1.08
    steps_to_release = 6

    def __init__(self, skill: LiberoSkill = LIBERO_SKILLS["retry"]) -> None:
        super().__init__(skill)

    def first_thought(self, world: LiberoWorld) -> dict[str, Any]:
        return {"slip_steps_left": 0, "attempt": 0, **self._new_attempt(world)}

    def act(self, world: LiberoWorld) -> FloatArray:
        target = self._target(world)
        action = self._towards(target, world, self._grip(world))
        return shaken(action, self.generator, self.skill.action_noise)

    # ---------------------------------------------------------------- phases: where to go now

    def _approach(self, world: LiberoWorld) -> FloatArray:
        to_rim = _RIM_FROM_BOWL * [1.0, self.mind["side"], 1.0]
        rim = world.bowl() + to_rim + self.mind["grasp_error"]
        over = self._above(rim)
        if np.linalg.norm(over - world.hand()) < 0.015 or self._longer_than(60):
            self._enter("descend", world)
            # From here on it looks no more: what it pushes aside on its way down, it misses.
            self.mind["anchor"] = rim.tolist()
        return over

    def _descend(self, world: LiberoWorld) -> FloatArray:
        target = np.array(self.mind["anchor"])
        if abs(world.hand()[2] - max(target[2], _LOWEST_M)) < 0.008 or self._longer_than(25):
            self._enter("close", world)
        return target

    def _close(self, world: LiberoWorld) -> FloatArray:
        if self._longer_than(8):
            self._enter("lift", world)
        return np.array(self.mind["anchor"])

    def _carry(self, world: LiberoWorld) -> FloatArray:
        left = self._way_to_place(world)
        target = self._above(world.hand() + left)
        if self._lost(world):
            self._fail("drop", world)
        elif np.linalg.norm(left[:2]) < 0.012 or self._longer_than(90):
            self._enter("lower", world)
        return target

    def _lower(self, world: LiberoWorld) -> FloatArray:
        target = world.hand() + self._way_to_place(world)
        target[2] = world.hand()[2] - 0.03
        if self._lost(world):
            self._fail("drop", world)
        elif world.bowl()[2] < world.plate()[2] + _LET_GO_M or self._longer_than(30):
            self._enter("release", world)
        return target

    # ---------------------------------------------------------------- what it decides

    def _new_attempt(self, world: LiberoWorld) -> dict[str, Any]:
        skill = self.skill
        grasp_deviation = [skill.grasp_error_m, skill.grasp_error_m, skill.grasp_height_error_m]
        return {
            "phase": "rise",
            "steps_in_phase": 0,
            "anchor": world.hand().tolist(),
            "side": 1.0 if world.bowl()[1] >= world.ramekin()[1] else -1.0,
            "grasp_error": self.generator.normal(0.0, grasp_deviation).tolist(),
            "place_error": self.generator.normal(0.0, [skill.place_error_m] * 2 + [0.0]).tolist(),
        }

    def _may_slip(self, world: LiberoWorld) -> bool:
        return self.mind["phase"] in ("lift", "carry")

    def _reachable(self, target: FloatArray, world: LiberoWorld) -> FloatArray:
        return np.array([*target[:2], max(target[2], _LOWEST_M)])

    def _way_to_place(self, world: LiberoWorld) -> FloatArray:
        return world.plate() + self.mind["place_error"] - world.bowl()

    def _lost(self, world: LiberoWorld) -> bool:
        opening = world.bowl() + _RIM_FROM_BOWL[2] * world.bowl_up()
        return float(np.linalg.norm(opening - world.hand())) > _LOST_M
