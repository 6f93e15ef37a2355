"""A towel on a table, to be folded along its diagonal by one pinching hand."""

import numpy as np

from goalward.simulate.worlds.cloth_scene import (
    CORNER_A,
    CORNER_B,
    CORNER_C,
    CORNER_D,
    FOLD_TOLERANCE_M,
    PHYSICS_STEP_S,
    PINCH_NAMES,
    TOWEL_DIAGONAL_M,
    scene,
)
from goalward.simulate.worlds.mujoco_module import mujoco
from goalward.simulate.worlds.mujoco_state import read_state, settle, state_size, write_state
from goalward.simulate.worlds.world import FloatArray, World

# A velocity of 1 in an action.
METRES_PER_SECOND = 0.25
# Where the point between the fingertips may go.
_LOWEST_HAND = np.array([-0.32, -0.32, 0.004])
_HIGHEST_HAND = np.array([0.32, 0.32, 0.30])
# Opening and closing the hand takes two control steps.
_OPENING_PER_STEP = 0.5
_FINGER_GAP_M = 0.016
_FINGER_HALF_WIDTH_M = 0.004
# The fingers take hold of a vertex no farther than this from where they meet: of the highest, as
# they come from above and reach the upper half of a folded towel first.
PINCH_RADIUS_M = 0.014
# A pinched vertex higher than this is off the table, also off the other half of the towel.
_LIFTED_M = 0.03
# Higher than this the towel is not lying flat.
_FLAT_M = 0.05
_NOTHING = -1
# Spread of the towel's place and turn at the start, and of the hand's place.
_PLACE_SPREAD_M = 0.02
_TURN_SPREAD_RAD = 0.15
_HAND_START = np.array([0.0, -0.05, 0.16])
_HAND_SPREAD_M = 0.02
_STEPS_TO_REST = 50


class ClothWorld(World):
    """A 0.30 m towel and a hand that moves freely, without an arm that could be in its way.

    An action is the hand's velocity along x, y and z, in units of 0.25 m/s within [-1, 1], and a
    command to the fingers: above 0 closes them, anything else opens them. Fingers that close near
    a vertex of the towel hold it until they open; fingers that close on nothing hold nothing.

    The world draws nothing at random after `reset`: a hand that slips is a hand whose fingers
    were told to open. `goal_steps` control steps in a row with the towel folded make a success.
    """

    cameras = ("base", "wrist")
    fps = 10
    action_size = 4
    goal_steps = 3
    proprioception_names = ("hand_x", "hand_y", "hand_z", "opening")
    state_names = (
        *(f"hand_to_a_{axis}" for axis in "xyz"),
        *(f"a_to_c_{axis}" for axis in "xyz"),
        *(f"a_to_b_{axis}" for axis in "xyz"),
        *(f"a_to_d_{axis}" for axis in "xyz"),
        "corner_error",
        "height",
        "holds",
    )

    def __init__(self) -> None:
        self.model = mujoco.MjModel.from_xml_string(scene())
        self.data = mujoco.MjData(self.model)
        self._pinches = np.array([self.model.equality(name).id for name in PINCH_NAMES])
        # The compiler puts the anchors where hand and vertex are at first, 20 cm apart.
        self.model.eq_data[self._pinches, :6] = 0.0
        # Four by four checks: a flex takes no notice of its material's texrepeat.
        self.model.flex_texcoord *= 2.0
        self._state_size = state_size(self.model)
        self._physics_steps = round(1 / (self.fps * PHYSICS_STEP_S))
        self._hand = _HAND_START.copy()
        self._opening = 1.0
        self._held = _NOTHING
        self._num_at_goal = 0
        self._move_fingers()
        self._settle()

    # ---------------------------------------------------------------- World

    def reset(self, generator: np.random.Generator) -> None:
        mujoco.mj_resetData(self.model, self.data)
        self._hand = _HAND_START + generator.normal(0.0, _HAND_SPREAD_M, 3)
        self._opening = 1.0
        self._held = _NOTHING
        self._num_at_goal = 0
        self._move_fingers()
        mujoco.mj_kinematics(self.model, self.data)
        mujoco.mj_flex(self.model, self.data)
        flat = self.vertices()[:, :2]
        turn = generator.normal(0.0, _TURN_SPREAD_RAD)
        rotation = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
        placed = flat @ rotation.T + generator.normal(0.0, _PLACE_SPREAD_M, 2)
        # Each vertex slides along x, y and z from where it was built.
        self.data.qpos.reshape(-1, 3)[:, :2] += placed - flat
        mujoco.mj_step(self.model, self.data, _STEPS_TO_REST)
        self._settle()

    def step(self, action: FloatArray) -> None:
        action = np.clip(np.asarray(action, dtype=np.float64), -1.0, 1.0)
        self._move_opening(closing=bool(action[3] > 0))
        start = self._hand
        stride = action[:3] * METRES_PER_SECOND / self.fps
        for physics_step in range(1, self._physics_steps + 1):
            hand = start + stride * (physics_step / self._physics_steps)
            self._hand = np.clip(hand, _LOWEST_HAND, _HIGHEST_HAND)
            self._move_fingers()
            mujoco.mj_step(self.model, self.data)
        self._settle()
        self._num_at_goal = self._num_at_goal + 1 if self.at_goal() else 0

    def succeeded(self) -> bool:
        return self._num_at_goal >= self.goal_steps

    def holds(self) -> bool:
        """Whether a vertex is pinched and off the table."""
        return self._held != _NOTHING and bool(self.vertices()[self._held, 2] > _LIFTED_M)

    def proprioception(self) -> FloatArray:
        return np.append(self._hand, self._opening)

    def state(self) -> FloatArray:
        corner_a, corner_b, corner_c, corner_d = self.corners()
        return np.concatenate(
            [
                corner_a - self._hand,
                corner_c - corner_a,
                corner_b - corner_a,
                corner_d - corner_a,
                [self.corner_error(), self.height(), float(self.holds())],
            ]
        )

    def snapshot(self) -> FloatArray:
        return np.concatenate(
            [
                read_state(self.model, self.data),
                self._hand,
                [self._opening, self._held, self._num_at_goal],
            ]
        )

    def restore(self, snapshot: FloatArray) -> None:
        state, hand, rest = np.split(
            np.asarray(snapshot, dtype=np.float64), np.cumsum([self._state_size, 3])
        )
        write_state(self.model, self.data, state)
        self._hand = hand.copy()
        self._opening = float(rest[0])
        self._held = int(rest[1])
        self._num_at_goal = int(rest[2])
        self._settle()

    # ---------------------------------------------------------------- what policies and labels read

    def hand(self) -> FloatArray:
        """Position of the point between the fingertips."""
        return self._hand.copy()

    def vertices(self) -> FloatArray:
        """Position of every vertex of the towel, (81, 3)."""
        return np.array(self.data.flexvert_xpos)

    def corners(self) -> FloatArray:
        """Positions of the corners A, B, C and D, (4, 3): A is to come to lie on C."""
        return self.vertices()[[CORNER_A, CORNER_B, CORNER_C, CORNER_D]]

    def height(self) -> float:
        """How high the highest vertex is."""
        return float(self.vertices()[:, 2].max())

    def corner_error(self) -> float:
        """How far the corners are from those of a perfect fold, seen from above, in metres.

        The larger of two distances: from A to C, which a perfect fold makes 0, and how far B and
        D have each been drawn in from the ends of the diagonal, so that a towel crumpled into a
        heap, with A on C, is no fold.
        """
        corner_a, corner_b, corner_c, corner_d = self.corners()[:, :2]
        drawn_in = (TOWEL_DIAGONAL_M - np.linalg.norm(corner_b - corner_d)) / 2
        return float(max(np.linalg.norm(corner_a - corner_c), drawn_in))

    def goal_error(self) -> float:
        return self.fold_error()

    def fold_error(self) -> float:
        """How far the fold is from a perfect one; infinite while the towel is held or stands up.

        The fold is complete below `FOLD_TOLERANCE_M`: the distance to that boundary says how
        doubtful a person's label would be.
        """
        if self._held != _NOTHING or self.height() > _FLAT_M:
            return float("inf")
        return self.corner_error()

    def at_goal(self) -> bool:
        """Whether the fold is complete and let go at this very step."""
        return self.fold_error() < FOLD_TOLERANCE_M

    # ---------------------------------------------------------------- how the hand works

    def _move_opening(self, closing: bool) -> None:
        """One control step of the fingers; they take hold as they meet, and let go as they part."""
        was_open = self._opening > 0
        change = -_OPENING_PER_STEP if closing else _OPENING_PER_STEP
        self._opening = float(np.clip(self._opening + change, 0.0, 1.0))
        if self._opening > 0 and self._held != _NOTHING:
            self.data.eq_active[self._pinches[self._held]] = 0
            self._held = _NOTHING
        if self._opening == 0 and was_open:
            vertices = self.vertices()
            distance = np.linalg.norm(vertices - self._hand, axis=1)
            within_reach = np.flatnonzero(distance < PINCH_RADIUS_M)
            if within_reach.size:
                self._held = int(within_reach[vertices[within_reach, 2].argmax()])
                self.data.eq_active[self._pinches[self._held]] = 1

    def _move_fingers(self) -> None:
        apart = np.array([_FINGER_HALF_WIDTH_M + _FINGER_GAP_M * self._opening, 0.0, 0.0])
        self.data.mocap_pos[:] = (self._hand, self._hand - apart, self._hand + apart)

    def _settle(self) -> None:
        settle(self.model, self.data)
