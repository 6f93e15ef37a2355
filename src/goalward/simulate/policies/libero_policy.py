"""A script that takes the bowl by its rim and sets it on the plate, errs, and tries again."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from goalward.simulate.policies.hand_motion import CLOSED, OPEN, motion_towards, shaken
from goalward.simulate.policies.policy import Policy
from goalward.simulate.worlds.libero import LiberoWorld
from goalward.simulate.worlds.world import FloatArray

# The fingers close along the world's y axis, as at the start.
_YAW = np.pi / 2
# Asked for exactly the way left, the arm creeps up to its targets.
_GAIN = 1.5
# From the middle of the bowl's bottom to where the fingers take its rim, on the side of larger y.
_RIM_FROM_BOWL = np.array([0.0, 0.048, 0.030])
# The hand's height on its way; the rims of bowl and ramekin end at 0.95 m.
_TRAVEL_HEIGHT_M = 1.08
# The fingers touch the table below this.
_LOWEST_M = 0.915
# The bowl's bottom is this near above the plate's when it is let go.
_LET_GO_M = 0.012
# Further from the hand than this, the middle of the bowl's opening is no longer held by the rim.
_LOST_M = 0.085


@dataclass(frozen=True)
class LiberoSkill:
    """How well the script does it. Errors are drawn anew at each attempt."""

    # Standard deviations of where the rim is believed, and the plate in each horizontal direction.
    grasp_error_m: float = 0.022
    grasp_height_error_m: float = 0.016
    place_error_m: float = 0.028
    # Standard deviation of the noise on each number of a motion, all within [-1, 1].
    action_noise: float = 0.1
    # Chance at each step with the bowl in the air that the fingers open for a moment.
    slip_chance: float = 0.019
    fewest_slip_steps: int = 6
    most_slip_steps: int = 9
    # The furthest ahead the hand aims: how fast it moves.
    pace_m: float = 0.056
    retries: bool = True


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


class LiberoScript(Policy[LiberoWorld]):
    """Rise, approach, descend, close, lift, carry, lower, release, retreat; after an error, again.

    It knows where bowl and plate are, but for errors that it draws at each attempt, and takes the
    rim on the side away from the ramekin. It expects a bowl that stands: where one lies on its
    side or upside down, it keeps reaching for where the rim would be.

    Events: "miss" (lifted without the bowl), "drop" (the bowl left the hand in the air),
    "misplaced" (let go, not at the goal).
    """

    def __init__(self, skill: LiberoSkill = LIBERO_SKILLS["retry"]) -> None:
        super().__init__()
        self.skill = skill
        self._phases: dict[str, Callable[[LiberoWorld], FloatArray]] = {
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

    def first_thought(self, world: LiberoWorld) -> dict[str, Any]:
        return {"slip_steps_left": 0, **self._new_attempt(world, attempt=0)}

    def act(self, world: LiberoWorld) -> FloatArray:
        self.mind["steps_in_phase"] += 1
        target = self._phases[self.mind["phase"]](world)
        target[2] = max(target[2], _LOWEST_M)
        hand = world.hand()
        way = target - hand
        length = float(np.linalg.norm(way))
        if length > self.skill.pace_m:
            way *= self.skill.pace_m / length
        action = motion_towards(
            hand, world.hand_rotation(), hand + way, grip=self._grip(), yaw=_YAW, gain=_GAIN
        )
        return shaken(action, self.generator, self.skill.action_noise)

    # ---------------------------------------------------------------- phases: where to go now

    def _rise(self, world: LiberoWorld) -> FloatArray:
        """Straight up before anything sideways: the fingers may be inside the bowl."""
        if world.hand()[2] > _TRAVEL_HEIGHT_M - 0.04 or self._longer_than(25):
            self._enter("approach", world)
        return self._above(self.mind["anchor"])

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

    def _lift(self, world: LiberoWorld) -> FloatArray:
        target = self._above(self.mind["anchor"])
        if self._lost(world):
            self._fail("miss", world)
        elif world.hand()[2] > _TRAVEL_HEIGHT_M - 0.015 or self._longer_than(25):
            self._enter("carry", world)
        return target

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

    def _release(self, world: LiberoWorld) -> FloatArray:
        if self._longer_than(6):
            self._enter("retreat", world)
        return np.array(self.mind["anchor"])

    def _retreat(self, world: LiberoWorld) -> FloatArray:
        if self._longer_than(14):
            self._fail("misplaced", world)
        return self._above(self.mind["anchor"])

    def _give_up(self, world: LiberoWorld) -> FloatArray:
        return self._above(self.mind["anchor"])

    # ---------------------------------------------------------------- what it decides

    def _new_attempt(self, world: LiberoWorld, attempt: int) -> dict[str, Any]:
        skill = self.skill
        grasp_deviation = [skill.grasp_error_m, skill.grasp_error_m, skill.grasp_height_error_m]
        return {
            "attempt": attempt,
            "phase": "rise",
            "steps_in_phase": 0,
            "anchor": world.hand().tolist(),
            "side": 1.0 if world.bowl()[1] >= world.ramekin()[1] else -1.0,
            "grasp_error": self.generator.normal(0.0, grasp_deviation).tolist(),
            "place_error": self.generator.normal(0.0, [skill.place_error_m] * 2 + [0.0]).tolist(),
        }

    def _enter(self, phase: str, world: LiberoWorld) -> None:
        """Begin a phase; the anchor is where the hand is when it begins."""
        self.mind |= {"phase": phase, "steps_in_phase": 0, "anchor": world.hand().tolist()}

    def _fail(self, event: str, world: LiberoWorld) -> None:
        self.note(event)
        self.mind["slip_steps_left"] = 0
        if self.skill.retries:
            self.mind |= self._new_attempt(world, attempt=self.mind["attempt"] + 1)
        else:
            self._enter("give up", world)

    def _grip(self) -> float:
        """Closed while it has the bowl or thinks so, unless the fingers slip."""
        phase = self.mind["phase"]
        if phase in ("lift", "carry") and self.generator.random() < self.skill.slip_chance:
            self.mind["slip_steps_left"] = int(
                self.generator.integers(
                    self.skill.fewest_slip_steps, self.skill.most_slip_steps + 1
                )
            )
        if self.mind["slip_steps_left"] > 0:
            self.mind["slip_steps_left"] -= 1
            return OPEN
        return CLOSED if phase in ("close", "lift", "carry", "lower") else OPEN

    def _longer_than(self, steps: int) -> bool:
        return self.mind["steps_in_phase"] > steps

    def _way_to_place(self, world: LiberoWorld) -> FloatArray:
        return world.plate() + self.mind["place_error"] - world.bowl()

    def _above(self, position: FloatArray | list[float]) -> FloatArray:
        return np.array([position[0], position[1], _TRAVEL_HEIGHT_M])

    def _lost(self, world: LiberoWorld) -> bool:
        opening = world.bowl() + _RIM_FROM_BOWL[2] * world.bowl_up()
        return float(np.linalg.norm(opening - world.hand())) > _LOST_M
