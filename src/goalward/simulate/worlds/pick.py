"""A can goes from one bin into its compartment of the other: robosuite's PickPlaceCan.

The case with retries that runs from pip alone. It has the shape of the paper's LIBERO case: two
cameras, eight proprioceptive numbers, 250 frames before time runs out.
"""

from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from goalward.simulate.worlds.robosuite_world import RobosuiteWorld
from goalward.simulate.worlds.world import FloatArray

# The hand straight down, its fingers opening along the world's x axis: its start, but for noise.
_HAND_AT_REST = Rotation.from_matrix([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]])
# Height of a standing can's middle above its bin.
_CAN_STANDS_M = 0.06
# Height above the bin's own origin below which the can counts as inside.
_BIN_DEPTH_M = 0.1
# robosuite wants the hand away from what it placed: 1 - tanh(10 * distance) < 0.6.
_LET_GO_M = float(np.arctanh(0.4) / 10.0)


class PickWorld(RobosuiteWorld):
    """One can, two bins; success is the can in its compartment and the hand off it.

    The three objects that robosuite's scene also knows lie out of sight; pale copies of all four
    mark the compartments.
    """

    environment_name = "PickPlaceCan"
    proprioception_names = (
        *("hand_x", "hand_y", "hand_z"),
        *("hand_turn_x", "hand_turn_y", "hand_turn_z"),
        *("left_finger", "right_finger"),
    )
    state_names = (
        *("can_x", "can_y", "can_z"),
        *("can_axis_x", "can_axis_y", "can_axis_z"),
        *("can_velocity_x", "can_velocity_y", "can_velocity_z"),
        *("hand_to_can_x", "hand_to_can_y", "hand_to_can_z"),
        *("can_to_goal_x", "can_to_goal_y", "can_to_goal_z"),
    )

    def proprioception(self) -> FloatArray:
        """Position of the hand, its turn away from rest as a rotation vector, both finger joints.

        Taken from the world's axes, a hand that points down is half a turn away, where a rotation
        vector jumps between an axis and its opposite. Taken from rest it is small and smooth.
        """
        turn = Rotation.from_matrix(self.hand_rotation()) * _HAND_AT_REST.inv()
        return np.concatenate([self.hand(), turn.as_rotvec(), self.fingers()])

    def state(self) -> FloatArray:
        can = self.can()
        return np.concatenate(
            [can, self.can_axis(), self.can_velocity(), can - self.hand(), self.goal() - can]
        )

    def holds(self) -> bool:
        """Both finger pads touch the can."""
        return bool(
            self.env._check_grasp(
                gripper=self._gripper, object_geoms=self._can_object.contact_geoms
            )
        )

    def at_goal(self) -> bool:
        """robosuite's own success, from where the can and the hand are now.

        `_check_success` keeps a list of the objects in their bins between calls and sums over it;
        here nothing is kept.
        """
        can = self.can()
        away = float(np.linalg.norm(can - self.hand())) > _LET_GO_M
        return away and bool(
            np.all(self._compartment_low < can) and np.all(can < self._compartment_high)
        )

    # ---------------------------------------------------------------- what policies read

    def can(self) -> FloatArray:
        """Position of the can's middle; 0.86 m high where it stands in a bin."""
        return np.array(self.data.xpos[self._can_body])

    def can_axis(self) -> FloatArray:
        """From the can's bottom to its top: (0, 0, 1) where it stands, 0 in the last where it lies.

        A can is round: how far it is turned about this axis is nothing.
        """
        return np.array(self.data.xmat[self._can_body]).reshape(3, 3)[:, 2]

    def can_velocity(self) -> FloatArray:
        first = self.model.body_dofadr[self._can_body]
        return np.array(self.data.qvel[first : first + 3])

    def goal(self) -> FloatArray:
        """Middle of the can's compartment, where a can that stands there has its middle."""
        middle = np.array(self.env.target_bin_placements[self.env.object_id])
        return middle + np.array([0.0, 0.0, _CAN_STANDS_M])

    def arm_base(self) -> FloatArray:
        """Where the arm stands."""
        return np.array(self.data.body("robot0_base").xpos)

    @property
    def _compartment_low(self) -> FloatArray:
        # The can has the quarter of the bin with the largest x and y: it begins in the middle.
        return np.array(self.env.bin2_pos)

    @property
    def _compartment_high(self) -> FloatArray:
        length, width, _ = self.env.bin_size
        return self._compartment_low + np.array([length / 2, width / 2, _BIN_DEPTH_M])

    @property
    def _can_object(self) -> Any:
        return self.env.objects[self.env.object_id]

    @property
    def _can_body(self) -> int:
        return self.env.obj_body_id[self._can_object.name]
