"""A person folding the towel: misses the corner, lets it slip, folds short, tries again."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from goalward.simulate.policies.policy import Policy
from goalward.simulate.worlds.cloth import METRES_PER_SECOND, ClothWorld
from goalward.simulate.worlds.world import FloatArray

# Velocity per distance to where the hand should be; an action is over in 0.1 s.
_GAIN_PER_S = 6.0
# Fingers closed and open, as commands.
_CLOSED, _OPEN = 1.0, -1.0
# Heights of the hand above the table or above the corner, in metres.
_ABOVE_CORNER = 0.06
_PINCH_HEIGHT = 0.003
_LIFT_HEIGHT = 0.08
_ARC_HEIGHT = 0.06
_RELEASE_HEIGHT = 0.018
_REST_HEIGHT = 0.20
# Most steps spent on a phase before going on as if it had come to its end.
_PATIENCE = {"approach": 60, "descend": 15, "lift": 20, "carry": 90, "lower": 25}
_STEPS_TO_PINCH = 3
_STEPS_TO_LET_GO = 3
# The towel comes to lie, and the person looks at the fold.
_STEPS_TO_LOOK = 8


@dataclass(frozen=True)
class Habits:
    """How a person errs. Distances in metres; where to grasp and let go and how fast to move are
    drawn per attempt, the rest from step to step."""

    # Spread of where the fingers close around the corner, along each axis (half of it in height).
    grasp_error: float = 0.009
    # Spread of where the corner is let go, along each axis.
    target_error: float = 0.034
    # The mean share of the way to the far corner that is left out, drawn exponentially.
    short_share: float = 0.10
    # Chance per step that the carrying fingers open by themselves.
    slip_chance: float = 0.025
    # Chance per step of stopping to think, and for how many steps on average.
    pause_chance: float = 0.03
    pause_steps: float = 8.0
    # Slowest and fastest attempt, as a share of the hand's top speed.
    speed: tuple[float, float] = (0.3, 0.7)
    # Spread of the hand's velocity from step to step, as a share of its top speed.
    tremor: float = 0.03
    # How long it takes to notice that the towel has slipped, on average.
    reaction_steps: float = 5.0
    # Whether a failed attempt is followed by another.
    retries: bool = True


ORDINARY = Habits()
# Someone with a steadier hand, who stops after the first attempt.
NO_RETRY = Habits(
    grasp_error=0.006,
    target_error=0.016,
    short_share=0.03,
    slip_chance=0.008,
    retries=False,
)
# Someone who does it right: the towel is folded at the first attempt.
CAREFUL = Habits(
    grasp_error=0.001,
    target_error=0.002,
    short_share=0.0,
    slip_chance=0.0,
    pause_chance=0.0,
    speed=(0.8, 0.8),
    tremor=0.0,
)
CLOTH_HABITS = {"retry": ORDINARY, "no-retry": NO_RETRY, "careful": CAREFUL}


class ClothOperator(Policy[ClothWorld]):
    """Pinches the corner A, carries it over to C in an arc, lets go, looks, and tries again.

    Phases: approach, descend, pinch, lift, carry, lower, let go, look; then rest, or approach
    anew. Events are noted when they happen: "slip" as the fingers open by themselves, "miss" as
    the lifted hand turns out to be empty, "short" as the fold that was let go is not complete.
    """

    def __init__(self, habits: Habits = ORDINARY) -> None:
        super().__init__()
        self.habits = habits

    def first_thought(self, world: ClothWorld) -> dict[str, Any]:
        return self._attempt(previous=0)

    def _attempt(self, previous: int) -> dict[str, Any]:
        """What is in mind as an attempt begins, with the errors that this one will make."""
        habits, generator = self.habits, self.generator
        return {
            "attempts": previous + 1,
            "phase": "approach",
            "phase_steps": 0,
            "grasp_error": (
                generator.normal(0.0, habits.grasp_error, 3) * [1.0, 1.0, 0.5]
            ).tolist(),
            "target_error": generator.normal(0.0, habits.target_error, 2).tolist(),
            "share": 1.0 - float(generator.exponential(habits.short_share)),
            "speed": float(generator.uniform(*habits.speed)),
            "pinched_at": [0.0, 0.0, 0.0],
            "target": [0.0, 0.0],
            "pause_steps": 0,
            # Steps until an empty hand is noticed; None while the towel is in it.
            "unnoticed_steps": None,
        }

    def act(self, world: ClothWorld) -> FloatArray:
        mind, habits, generator = self.mind, self.habits, self.generator
        tremor = generator.normal(0.0, habits.tremor, 3)
        pauses = generator.random() < habits.pause_chance
        slips = generator.random() < habits.slip_chance

        carrying = mind["phase"] in ("lift", "carry", "lower")
        if carrying and world.holds() and slips:
            self.note("slip")
            mind["unnoticed_steps"] = self._random_steps(habits.reaction_steps)
            return np.append(tremor, _OPEN)
        if mind["unnoticed_steps"] is not None:
            mind["unnoticed_steps"] -= 1
            if mind["unnoticed_steps"] <= 0:
                self._fail()
        if mind["pause_steps"] > 0:
            mind["pause_steps"] -= 1
            return np.append(tremor, self._fingers())
        if pauses and mind["phase"] not in ("pinch", "let go", "rest"):
            mind["pause_steps"] = self._random_steps(habits.pause_steps)

        mind["phase_steps"] += 1
        goal = self._aim(world)
        velocity = (goal - world.hand()) * _GAIN_PER_S / METRES_PER_SECOND
        velocity *= min(1.0, mind["speed"] / max(float(np.linalg.norm(velocity)), 1e-9))
        return np.append(np.clip(velocity + tremor, -1.0, 1.0), self._fingers())

    # ---------------------------------------------------------------- the phases

    def _aim(self, world: ClothWorld) -> FloatArray:
        """Where the hand should be now; goes on to the next phase when it is there."""
        mind, hand = self.mind, world.hand()
        corner_a, _, corner_c, _ = world.corners()
        phase, goal = mind["phase"], hand
        if phase == "approach":
            goal = corner_a + mind["grasp_error"] + [0.0, 0.0, _ABOVE_CORNER]
            self._go_on_if(np.linalg.norm(goal - hand) < 0.01, "descend")
        elif phase == "descend":
            goal = corner_a + mind["grasp_error"] + [0.0, 0.0, _PINCH_HEIGHT]
            self._go_on_if(np.linalg.norm(goal - hand) < 0.005, "pinch")
        elif phase == "pinch":
            if mind["phase_steps"] >= _STEPS_TO_PINCH:
                mind["pinched_at"] = hand.tolist()
                way = (corner_c - hand)[:2] * mind["share"]
                mind["target"] = (hand[:2] + way + mind["target_error"]).tolist()
                self._enter("lift")
        elif phase == "lift":
            goal = np.append(mind["pinched_at"][:2], _LIFT_HEIGHT)
            if hand[2] > _LIFT_HEIGHT - 0.01 or self._out_of_patience():
                if world.holds() or mind["unnoticed_steps"] is not None:
                    self._enter("carry")
                else:
                    self.note("miss")
                    self._fail()
        elif phase == "carry":
            goal = self._along_arc(hand)
            self._go_on_if(np.linalg.norm(goal[:2] - hand[:2]) < 0.008, "lower")
        elif phase == "lower":
            goal = np.append(mind["target"], _RELEASE_HEIGHT)
            self._go_on_if(hand[2] < _RELEASE_HEIGHT + 0.004, "let go")
        elif phase == "let go":
            if mind["phase_steps"] >= _STEPS_TO_LET_GO:
                self._enter("look")
        elif phase == "look":
            goal = hand + np.array([0.0, 0.0, 0.05])
            if mind["phase_steps"] >= _STEPS_TO_LOOK:
                if world.at_goal():
                    self._enter("rest")
                else:
                    self.note("short")
                    self._fail()
        else:
            goal = np.append(hand[:2], _REST_HEIGHT)
        return goal

    def _along_arc(self, hand: FloatArray) -> FloatArray:
        """Towards the target, highest half-way."""
        target = np.array(self.mind["target"])
        whole = float(np.linalg.norm(target - self.mind["pinched_at"][:2]))
        left = float(np.linalg.norm(target - hand[:2]))
        share = np.clip(left / max(whole, 1e-6), 0.0, 1.0)
        return np.append(target, _LIFT_HEIGHT + _ARC_HEIGHT * np.sin(np.pi * share))

    def _fingers(self) -> float:
        return _CLOSED if self.mind["phase"] in ("pinch", "lift", "carry", "lower") else _OPEN

    def _fail(self) -> None:
        """The attempt has failed: another one, or rest."""
        if self.habits.retries:
            self.mind.update(self._attempt(self.mind["attempts"]))
        else:
            self._enter("rest")
            self.mind["unnoticed_steps"] = None

    def _enter(self, phase: str) -> None:
        self.mind["phase"] = phase
        self.mind["phase_steps"] = 0

    def _go_on_if(self, arrived: bool | np.bool_, phase: str) -> None:
        if arrived or self._out_of_patience():
            self._enter(phase)

    def _out_of_patience(self) -> bool:
        return self.mind["phase_steps"] >= _PATIENCE[self.mind["phase"]]

    def _random_steps(self, mean: float) -> int:
        """A whole number of steps, at least one, with about this mean."""
        return 1 + int(self.generator.exponential(mean))
