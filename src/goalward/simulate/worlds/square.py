"""A square nut with a handle, to be put over a square peg (robosuite NutAssemblySquare)."""

import numpy as np
from scipy.spatial.transform import Rotation

from goalward.simulate.policies.hand_motion import yaw_of
from goalward.simulate.worlds.robosuite_world import RobosuiteWorld
from goalward.simulate.worlds.world import FloatArray

# The hand straight down, in the middle of what its wrist can turn (yaw 135 degrees), x y z w. The
# wrist turns 166 degrees to either side: a quaternion in this half does not come to where it jumps.
_MIDDLE_OF_WRIST = np.array([np.cos(3 * np.pi / 8), np.sin(3 * np.pi / 8), 0.0, 0.0])


class SquareWorld(RobosuiteWorld):
    """One square nut lies on the table at any angle; the hole leaves 7 mm around the peg.

    At the goal the nut is round its peg, near the table, and the hand is more than 4 cm from the
    nut's centre. The end of the handle is further away than that: as robosuite counts, a nut
    that is still held may be at the goal.
    """

    environment_name = "NutAssemblySquare"
    proprioception_names = (
        *("hand_x", "hand_y", "hand_z"),
        *("hand_quaternion_x", "hand_quaternion_y", "hand_quaternion_z", "hand_quaternion_w"),
        *("left_finger", "right_finger"),
    )
    state_names = (
        *("nut_x", "nut_y", "nut_z"),
        # The nut's own x axis (along its handle) and y axis, which turn without a jump.
        *("nut_forward_x", "nut_forward_y", "nut_forward_z"),
        *("nut_left_x", "nut_left_y", "nut_left_z"),
        *("hand_to_handle_x", "hand_to_handle_y", "hand_to_handle_z"),
        *("nut_to_peg_x", "nut_to_peg_y", "nut_to_peg_z"),
        # Twice the angle from hand to handle: two fingers look the same after half a turn.
        *("grasp_angle_cosine", "grasp_angle_sine"),
    )

    def __init__(self) -> None:
        super().__init__()
        model = self.env.sim.model
        self._nut_body = self.env.obj_body_id["SquareNut"]
        self._handle_site = self.env.object_site_ids[0]
        self._nut_geoms = frozenset(self.env.obj_geom_id["SquareNut"])
        pads = self._gripper.important_geoms
        self._finger_geoms = tuple(
            frozenset(model.geom_name2id(name) for name in pads[finger])
            for finger in ("left_fingerpad", "right_fingerpad")
        )

    def at_goal(self) -> bool:
        # robosuite works it out from positions at every call and keeps nothing that it reads again.
        return bool(self.env._check_success())

    def holds(self) -> bool:
        """Both finger pads touch the nut, as robosuite defines a grasp."""
        touching = [
            set(pair) for pair in np.asarray(self.data.contact.geom).reshape(-1, 2).tolist()
        ]
        return all(
            any(pair & self._nut_geoms and pair & finger for pair in touching)
            for finger in self._finger_geoms
        )

    def proprioception(self) -> FloatArray:
        return np.concatenate([self.hand(), self._hand_quaternion(), self.fingers()])

    def state(self) -> FloatArray:
        nut, rotation = self.nut(), self.nut_rotation()
        grasp_angle = 2 * (yaw_of(rotation) - yaw_of(self.hand_rotation()))
        return np.concatenate(
            [
                nut,
                rotation[:, 0],
                rotation[:, 1],
                self.handle() - self.hand(),
                self.peg() - nut,
                [np.cos(grasp_angle), np.sin(grasp_angle)],
            ]
        )

    # ---------------------------------------------------------------- what policies read

    def nut(self) -> FloatArray:
        """Centre of the hole."""
        return np.array(self.data.xpos[self._nut_body])

    def nut_rotation(self) -> FloatArray:
        return np.array(self.data.xmat[self._nut_body]).reshape(3, 3)

    def handle(self) -> FloatArray:
        """Where to take the nut: 5.4 cm from its centre."""
        return np.array(self.data.site_xpos[self._handle_site])

    def peg(self) -> FloatArray:
        """Centre of the square peg, which stands 10 cm above it."""
        return np.array(self.data.xpos[self.env.peg1_body_id])

    def other_peg(self) -> FloatArray:
        """The round peg, which stands in the way."""
        return np.array(self.data.xpos[self.env.peg2_body_id])

    def table_height(self) -> float:
        return float(self.env.table_offset[2])

    def _hand_quaternion(self) -> FloatArray:
        """x y z w; of q and -q, which are one rotation, the one that does not jump."""
        quaternion = Rotation.from_matrix(self.hand_rotation()).as_quat()
        return quaternion if quaternion @ _MIDDLE_OF_WRIST >= 0 else -quaternion
