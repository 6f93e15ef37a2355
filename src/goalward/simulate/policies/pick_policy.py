"""A script that picks the can and places it, errs like a person, and tries again."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from goalward.simulate.policies.hand_motion import CLOSED, OPEN, motion_towards, shaken
from goalward.simulate.policies.policy import Policy
from goalward.simulate.worlds.pick import PickWorld
from goalward.simulate.worlds.world import FloatArray

# The hand's x axis along the world's y, so that the fingers close along x, as at the start.
_YAW = np.pi / 2
# Asked for exactly the way left, the arm creeps up to its targets.
_GAIN = 1.5
# High enough for a held can to pass over the walls of the bins, which end at 0.9 m.
_TRAVEL_HEIGHT_M = 1.0
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


@dataclass(frozen=True)
class PickSkill:
    """How well the script does it. Errors are drawn anew at each attempt."""

    # Standard deviations, along x and along y, of where it believes the can and its place.
    grasp_error_m: float = 0.018
    place_error_m: float = 0.032
    # Standard deviation of the noise on each number of a motion, all within [-1, 1].
    action_noise: float = 0.1
    # Chance at each step with the can in the air that the fingers open for a moment.
    slip_chance: float = 0.015
    fewest_slip_steps: int = 6
    most_slip_steps: int = 9
    # The furthest ahead the hand aims: how fast it moves.
    pace_m: float = 0.06
    retries: bool = True


PICK_SKILLS: Mapping[str, PickSkill] = {
    "retry": PickSkill(),
    "clean": PickSkill(grasp_error_m=0.0, place_error_m=0.0, action_noise=0.0, slip_chance=0.0),
    "no-retry": PickSkill(retries=False),
}


class PickScript(Policy[PickWorld]):
    """Rise, approach, descend, close, lift, carry, lower, release, retreat; after an error, again.

    It knows where the can is, but for an error that it draws at each attempt. It never turns the
    hand: a can that lies along the fingers' way, or has left the bins, it keeps reaching for in
    vain.

    Events: "miss" (lifted without the can), "drop" (the can left the hand in the air), "misplaced"
    (let go, not at the goal).
    """

    def __init__(self, skill: PickSkill = PICK_SKILLS["retry"]) -> None:
        super().__init__()
        self.skill = skill
        self._phases: dict[str, Callable[[PickWorld], FloatArray]] = {
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

    def first_thought(self, world: PickWorld) -> dict[str, Any]:
        return {"attempt": 0, "slip_steps_left": 0, **self._new_attempt(world)}

    def act(self, world: PickWorld) -> FloatArray:
        return self.decide(world)[0]

    def decide(self, world: PickWorld) -> tuple[FloatArray, FloatArray]:
        """The next action, and as it would be at this moment without any of its errors.

        Where it goes wrong, the second leads back: towards the can and its place as they are,
        fingers closed while they slip, and no noise. A demonstration shows this one.
        """
        self.mind["steps_in_phase"] += 1
        phase = self.mind["phase"]
        believed = np.array(self.mind[_ERROR_OF[phase]]) if phase in _ERROR_OF else np.zeros(3)
        target = self._phases[phase](world)
        grip = self._grip(world)
        action = shaken(self._towards(target, world, grip), self.generator, self.skill.action_noise)
        return action, self._towards(target - believed, world, self._grip_meant())

    def _towards(self, target: FloatArray, world: PickWorld, grip: float) -> FloatArray:
        hand = world.hand()
        way = _within_reach(target, world.arm_base()) - hand
        length = float(np.linalg.norm(way))
        if length > self.skill.pace_m:
            way *= self.skill.pace_m / length
        return motion_towards(
            hand, world.hand_rotation(), hand + way, grip=grip, yaw=_YAW, gain=_GAIN
        )

    # ---------------------------------------------------------------- phases: where to go now

    def _rise(self, world: PickWorld) -> FloatArray:
        """Straight up, out of the bin, before anything sideways."""
        if world.hand()[2] > _TRAVEL_HEIGHT_M - 0.04 or self._longer_than(25):
            self._enter("approach", world)
        return self._above(self.mind["anchor"])

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

    def _lift(self, world: PickWorld) -> FloatArray:
        target = self._above(self.mind["anchor"])
        if self._lost(world):
            self._fail("miss", world)
        elif world.hand()[2] > _TRAVEL_HEIGHT_M - 0.015 or self._longer_than(25):
            self._enter("carry", world)
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

    def _release(self, world: PickWorld) -> FloatArray:
        if self._longer_than(5):
            self._enter("retreat", world)
        return np.array(self.mind["anchor"])

    def _retreat(self, world: PickWorld) -> FloatArray:
        if self._longer_than(14):
            self._fail("misplaced", world)
        return self._above(self.mind["anchor"])

    def _give_up(self, world: PickWorld) -> FloatArray:
        return self._above(self.mind["anchor"])

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

    def _enter(self, phase: str, world: PickWorld) -> None:
        """Begin a phase; the anchor is where the hand is when it begins."""
        self.mind |= {"phase": phase, "steps_in_phase": 0, "anchor": world.hand().tolist()}

    def _fail(self, event: str, world: PickWorld) -> None:
        self.note(event)
        self.mind["slip_steps_left"] = 0
        if self.skill.retries:
            self.mind |= {"attempt": self.mind["attempt"] + 1, **self._new_attempt(world)}
        else:
            self._enter("give up", world)

    def _grip(self, world: PickWorld) -> float:
        """Closed while it has the can or thinks so, unless the fingers slip."""
        phase = self.mind["phase"]
        # Not near the place: what slips there falls into the compartment all the same.
        on_its_way = phase in ("lift", "carry") and _horizontal(self._way_left(world)) > 0.1
        if on_its_way and self.generator.random() < self.skill.slip_chance:
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

    def _way_left(self, world: PickWorld) -> FloatArray:
        """From the can to where it believes the can should go."""
        return world.goal() + _PLACE_FROM_GOAL + self.mind["place_error"] - world.can()

    def _longer_than(self, steps: int) -> bool:
        return self.mind["steps_in_phase"] > steps

    def _near(self, world: PickWorld, height: float) -> bool:
        return abs(world.hand()[2] - height) < 0.01

    def _above(self, position: FloatArray | list[float]) -> FloatArray:
        return np.array([position[0], position[1], _TRAVEL_HEIGHT_M])

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
