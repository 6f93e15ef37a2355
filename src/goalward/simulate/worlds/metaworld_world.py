"""A Sawyer in metaworld, whose hand is pulled by a point in space, restored to the bit."""

from abc import abstractmethod
from collections.abc import Sequence
from importlib import import_module
from typing import Any, ClassVar

import numpy as np

from goalward.simulate.extras import METAWORLD, missing_extra
from goalward.simulate.worlds.mujoco_module import mujoco
from goalward.simulate.worlds.mujoco_state import read_state, settle, state_size, write_state
from goalward.simulate.worlds.world import FloatArray, World

# metaworld calls it a success when the object is no further than this from its goal.
_SUCCESS_M = 0.07
# Fingers this far apart are open.
_OPEN_M = 0.1
# metaworld wants the peg twice as near across the hole as along it.
_ACROSS_THE_HOLE = np.array([1.0, 2.0, 2.0])
# How far off the peg's axis, measured over the table, the middle of a ring that is on it may be.
_RING_ON_PEG_M = 0.02


class MetaworldWorld(World):
    """One metaworld environment, with nothing in it that is not in the snapshot.

    metaworld's own step ends an episode after 500 steps, computes a reward, and remembers what it
    last saw; none of that is used here, only its scene, its start, its action and its success.

    An action moves a point to which the hand is tied along x, y and z, by up to 1 cm a step, and
    tells the fingers how hard to close (1) or to open (-1). `goal_steps` steps in a row at the
    goal make a success.
    """

    # Module below metaworld.envs and class in it.
    environment: ClassVar[tuple[str, str]]
    # What is carried; it moves freely.
    object_body: ClassVar[str]
    # What a start places besides, by moving it in the model itself, where no state of mujoco's is.
    placed_bodies: ClassVar[Sequence[str]] = ()
    # The mark at the goal where no body carries it.
    goal_mark: ClassVar[str | None] = None
    goal_steps: ClassVar[int] = 5
    cameras = ("corner4", "gripperPOV")
    fps = 80
    action_size = 4
    hidden_geom_groups = (4,)
    proprioception_names = ("hand_x", "hand_y", "hand_z", "opening")
    state_names = (
        *("object_x", "object_y", "object_z"),
        *("object_side_x", "object_side_y", "object_side_z"),
        *("object_up_x", "object_up_y", "object_up_z"),
        *("object_velocity_x", "object_velocity_y", "object_velocity_z"),
        *("goal_x", "goal_y", "goal_z"),
        *("hand_to_object_x", "hand_to_object_y", "hand_to_object_z"),
        *("tip_to_goal_x", "tip_to_goal_y", "tip_to_goal_z"),
    )

    def __init__(self) -> None:
        module, name = self.environment
        try:
            self.env: Any = getattr(import_module(f"metaworld.envs.{module}"), name)()
        except ImportError as error:
            raise missing_extra("metaworld", METAWORLD, error) from error
        # It draws a start from its generator, and refuses to judge one that was not set as a task.
        self.env._freeze_rand_vec = False
        self.env.seeded_rand_vec = True
        self.env._set_task_called = True
        self.model = self.env.model
        self.data = self.env.data
        self._state_size = state_size(self.model)
        self._object = self.model.body(self.object_body).id
        self._pads = [self.model.body(pad).id for pad in ("leftpad", "rightpad")]
        self._fingers = [self.model.body(finger).id for finger in ("leftclaw", "rightclaw")]
        self._placed = np.array([self.model.body(body).id for body in self.placed_bodies], int)
        self._bodies_as_built = self.model.body_pos.copy()
        self._marks_as_built = self.model.site_pos.copy()
        self._num_at_goal = 0
        _turn_upright(self.model, self.cameras[0])
        # So that there is a goal, also in a world that is restored before any start.
        self.reset(np.random.default_rng(0))

    # ---------------------------------------------------------------- World

    def reset(self, generator: np.random.Generator) -> None:
        # The hand is brought to its start among what the last episode placed, and may touch it.
        self.model.body_pos[:] = self._bodies_as_built
        mujoco.mj_resetData(self.model, self.data)
        self.env.np_random = generator
        self.env.reset_model()
        self._num_at_goal = 0
        self._set_goal(self.env._target_pos)

    def step(self, action: FloatArray) -> None:
        self.env.set_xyz_action(action[:3])
        self.env.do_simulation([action[3], -action[3]], self.env.frame_skip)
        settle(self.model, self.data)
        self._num_at_goal = self._num_at_goal + 1 if self.at_goal() else 0

    def succeeded(self) -> bool:
        return self._num_at_goal >= self.goal_steps

    def holds(self) -> bool:
        """Both finger pads touch the object."""
        touching = self.model.geom_bodyid[self.data.contact.geom]
        # The object is a tree of bodies: the ring and its handle are parts of one.
        of_object = np.any(self.model.body_rootid[touching] == self._object, axis=1)
        return all(bool(np.any(touching[of_object] == pad)) for pad in self._pads)

    def proprioception(self) -> FloatArray:
        """Position of the hand, and how far its fingers are apart, 1 when they are open."""
        left, right = self.data.xpos[self._fingers]
        apart = float(np.linalg.norm(right - left))
        return np.append(self.hand(), min(apart / _OPEN_M, 1.0))

    def state(self) -> FloatArray:
        held_at, goal = self.grasp_point(), self.goal()
        rotation = np.array(self.data.xmat[self._object]).reshape(3, 3)
        first = self.model.body_dofadr[self._object]
        return np.concatenate(
            [
                held_at,
                rotation[:, 0],
                rotation[:, 2],
                self.data.qvel[first : first + 3],
                goal,
                held_at - self.hand(),
                goal - self.tip(),
            ]
        )

    def snapshot(self) -> FloatArray:
        return np.concatenate(
            [
                read_state(self.model, self.data),
                self.goal(),
                self.model.body_pos[self._placed].ravel(),
                [self._num_at_goal],
            ]
        )

    def restore(self, snapshot: FloatArray) -> None:
        state, goal, placed, num_at_goal = np.split(
            np.asarray(snapshot, dtype=np.float64),
            np.cumsum([self._state_size, 3, 3 * len(self._placed)]),
        )
        write_state(self.model, self.data, state)
        self.model.body_pos[self._placed] = placed.reshape(-1, 3)
        self._num_at_goal = int(num_at_goal[0])
        self._set_goal(goal)

    # ---------------------------------------------------------------- what policies read

    @abstractmethod
    def at_goal(self) -> bool:
        """metaworld's own success, at this very step."""

    def hand(self) -> FloatArray:
        return np.array(self.env.get_endeff_pos())

    def grasp_point(self) -> FloatArray:
        """Where metaworld's experts take hold of the object."""
        return np.array(self.env._get_pos_objects())

    def tip(self) -> FloatArray:
        """The point of the object that should be at the goal."""
        return self.grasp_point()

    def goal(self) -> FloatArray:
        return np.array(self.env._target_pos)

    # ---------------------------------------------------------------- how it is put together

    def _set_goal(self, goal: FloatArray) -> None:
        self.env._target_pos = np.array(goal, dtype=np.float64)
        # metaworld's start moves marks that bodies carry too, and puts them back at every step.
        self.model.site_pos[:] = self._marks_as_built
        if self.goal_mark is not None:
            self.model.site_pos[self.model.site(self.goal_mark).id] = goal
        settle(self.model, self.data)


def _turn_upright(model: Any, camera: str) -> None:
    """Half a turn about the line of sight: metaworld's cameras in the corners are upside down."""
    w, x, y, z = model.cam_quat[model.camera(camera).id]
    model.cam_quat[model.camera(camera).id] = (-z, y, -x, w)


class PickPlaceWorld(MetaworldWorld):
    """A puck is taken from the table to a point in the air."""

    environment = ("sawyer_pick_place_v3", "SawyerPickPlaceEnvV3")
    object_body = "obj"
    goal_mark = "goal"

    def at_goal(self) -> bool:
        return float(np.linalg.norm(self.tip() - self.goal())) <= _SUCCESS_M


class PegInsertWorld(MetaworldWorld):
    """A peg is pushed into a hole in the side of a box."""

    environment = ("sawyer_peg_insertion_side_v3", "SawyerPegInsertionSideEnvV3")
    object_body = "peg"
    placed_bodies = ("box",)
    goal_mark = "goal"

    def tip(self) -> FloatArray:
        return np.array(self.data.site("pegHead").xpos)

    def at_goal(self) -> bool:
        left = (self.tip() - self.goal()) * _ACROSS_THE_HOLE
        return float(np.linalg.norm(left)) <= _SUCCESS_M


class AssemblyWorld(MetaworldWorld):
    """A ring with a handle is put over an upright peg."""

    environment = ("sawyer_assembly_peg_v3", "SawyerNutAssemblyEnvV3")
    object_body = "RoundNut"
    placed_bodies = ("peg",)

    def tip(self) -> FloatArray:
        """The middle of the ring; the goal is the top of the peg."""
        return np.array(self.data.site("RoundNut").xpos)

    def at_goal(self) -> bool:
        left = self.goal() - self.tip()
        return float(np.linalg.norm(left[:2])) < _RING_ON_PEG_M and bool(left[2] > 0.0)


class ShelfPlaceWorld(MetaworldWorld):
    """A block is taken from the table and pushed onto a shelf."""

    environment = ("sawyer_shelf_place_v3", "SawyerShelfPlaceEnvV3")
    object_body = "obj"
    placed_bodies = ("shelf",)

    def at_goal(self) -> bool:
        return float(np.linalg.norm(self.tip() - self.goal())) <= _SUCCESS_M
