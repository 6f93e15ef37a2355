"""A black bowl goes onto a plate: a task of LIBERO-Spatial, restored to the bit.

LIBERO stands on robosuite 1.4, which cannot be installed beside the robosuite of the other tasks:
it needs an environment of its own.
"""

import logging
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from goalward.simulate.extras import missing_extra
from goalward.simulate.worlds.gl import choose_gl, keep_robosuite_from_egl
from goalward.simulate.worlds.libero_assets import find_assets, keep_libero_from_asking, stand_ins
from goalward.simulate.worlds.mujoco_state import read_state, settle, state_size, write_state
from goalward.simulate.worlds.world import FloatArray, HandWorld

LIBERO = (
    "make an environment of its own for LIBERO, then pip install --no-deps hf-libero==0.1.4 "
    "robosuite==1.4.0 bddl==1.0.1 and pip install 'goalward[libero]'"
)

choose_gl()
keep_robosuite_from_egl()
_package = keep_libero_from_asking()
# As it is imported, robosuite warns of what nothing here uses, and sets its own level.
logging.disable(logging.WARNING)
try:
    # By name, as none of them says what types it has.
    mujoco: Any = import_module("mujoco")
    robosuite: Any = import_module("robosuite")
    robosuite_errors: Any = import_module("robosuite.utils.errors")
    libero: Any = import_module("libero.libero")
    libero_envs: Any = import_module("libero.libero.envs")
except ImportError as error:
    raise missing_extra("LIBERO", LIBERO, error) from error
finally:
    logging.disable(logging.NOTSET)
logging.getLogger("robosuite_logs").setLevel(logging.ERROR)

_TASK_FILE = (
    "bddl_files/libero_spatial/"
    "pick_up_the_black_bowl_next_to_the_ramekin_and_place_it_on_the_plate.bddl"
)
_BOWL = "akita_black_bowl_1"
_PLATE = "plate_1"
_RAMEKIN = "glazed_rim_porcelain_ramekin_1"
_FIXTURES = ("wooden_cabinet_1", "flat_stove_1")
_FINGERS = (
    ("gripper0_finger1_collision", "gripper0_finger1_pad_collision"),
    ("gripper0_finger2_collision", "gripper0_finger2_pad_collision"),
)
# LIBERO places objects a few centimetres above the table; this many steps later they lie still.
_NUM_FALLING_STEPS = 10
_STAND_STILL_OPEN = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -1.0])
# LIBERO's On: bowl and plate touch, the bowl's origin is no lower, and this near over the table.
_ON_PLATE_M = 0.03
# Rotation that the controller keeps to while an action asks for none.
_GOAL_ROTATION_SIZE = 9
_NUM_FINGERS = 2
_FIXTURE_POSE_SIZE = 7


class LiberoWorld(HandWorld):
    """LIBERO-Spatial: the black bowl next to the ramekin, its plate, and what stands around.

    Success is LIBERO's own, for `goal_steps` control steps in a row: a bowl that bounces across
    the plate has not been placed. LIBERO does not ask that the hand let go of it.

    `stand_ins` lists the asset files in use that are not LIBERO's own.
    """

    goal_steps: ClassVar[int] = 3
    cameras = ("agentview", "robot0_eye_in_hand")
    fps = 20
    action_size = 7
    hidden_geom_groups = (0,)
    proprioception_names = (
        *("hand_x", "hand_y", "hand_z"),
        *("hand_axis_angle_x", "hand_axis_angle_y", "hand_axis_angle_z"),
        *("left_finger", "right_finger"),
    )
    state_names = (
        *("bowl_x", "bowl_y", "bowl_z"),
        *("bowl_up_x", "bowl_up_y", "bowl_up_z"),
        *("plate_x", "plate_y", "plate_z"),
        *("ramekin_x", "ramekin_y", "ramekin_z"),
    )

    def __init__(self, assets: Path | None = None) -> None:
        assets = find_assets(assets)
        self.stand_ins: Sequence[str] = stand_ins(assets)
        # Where LIBERO remembers them; with nothing there it would fetch them by itself.
        libero._assets_path_cache = str(assets)
        assert _package is not None
        self.env: Any = libero_envs.TASK_MAPPING["libero_tabletop_manipulation"](
            str(_package / _TASK_FILE),
            robots=["Panda"],
            controller_configs=robosuite.load_controller_config(default_controller="OSC_POSE"),
            initialization_noise=None,
            use_camera_obs=False,
            has_renderer=False,
            has_offscreen_renderer=False,
            control_freq=self.fps,
            ignore_done=True,
            hard_reset=False,
        )
        # Observations take nine tenths of LIBERO's time, and nothing here uses them.
        self.env._get_observations = lambda force_update=False: {}
        self.model = self.env.sim.model._model
        self.data = self.env.sim.data._data
        self._state_size = state_size(self.model)
        self._num_physics_steps = round(self.env.control_timestep / self.env.model_timestep)
        self._bowl, self._plate, self._ramekin = (
            self.env.obj_body_id[name] for name in (_BOWL, _PLATE, _RAMEKIN)
        )
        self._fixtures = [self.env.obj_body_id[name] for name in _FIXTURES]
        self._first_fixture_poses = self._fixture_poses()
        self._fingers = [[self.model.geom(name).id for name in names] for names in _FINGERS]
        of_hand = [
            self.model.body(body).name.startswith("gripper0_") for body in range(self.model.nbody)
        ]
        self._is_of_hand = np.array(of_hand)[self.model.geom_bodyid]
        self._num_at_goal = 0
        # The first reset hides robosuite's marks, which a world that only draws would show.
        self.reset(np.random.default_rng(0))

    # ---------------------------------------------------------------- World

    def reset(self, generator: np.random.Generator) -> None:
        # LIBERO draws from numpy's one generator for everybody: it gets that back as it was.
        everybodys_state = np.random.get_state()  # noqa: NPY002
        try:
            np.random.seed(generator.integers(2**32, size=4, dtype=np.uint32))  # noqa: NPY002
            self._place_everything()
        finally:
            np.random.set_state(everybodys_state)  # noqa: NPY002
        for _ in range(_NUM_FALLING_STEPS):
            self.step(_STAND_STILL_OPEN)
        self._num_at_goal = 0

    def step(self, action: FloatArray) -> None:
        # What LIBERO's own step does (a test compares), less rewards and observations. It works out
        # all forces three times per physics step; the controller needs no more than mj_step1.
        self.env.sim.forward = lambda: None
        try:
            for physics_step in range(self._num_physics_steps):
                mujoco.mj_step1(self.model, self.data)
                self.env._pre_action(action, physics_step == 0)
                mujoco.mj_step2(self.model, self.data)
        finally:
            del self.env.sim.forward
        self._settle()
        self._num_at_goal = self._num_at_goal + 1 if self.at_goal() else 0

    def succeeded(self) -> bool:
        return self._num_at_goal >= self.goal_steps

    def holds(self) -> bool:
        """Both fingers touch the bowl; or it touches the hand alone, wedged behind a finger."""
        touching = self._geoms_at_bowl()
        if all(np.isin(finger, touching).any() for finger in self._fingers):
            return True
        return len(touching) > 0 and bool(self._is_of_hand[touching].all())

    def proprioception(self) -> FloatArray:
        """Position of the hand, its rotation as axis times angle, both finger joints.

        As LIBERO's data sets and the policies trained on them have it: the angle lies between 0
        and two pi, so that a hand that points down, near pi, does not jump.
        """
        real, *imaginary = self.data.body("robot0_right_hand").xquat
        length = float(np.linalg.norm(imaginary))
        angle = 2.0 * np.arctan2(length, real)
        axis = np.array(imaginary) / length if length > 0.0 else np.zeros(3)
        return np.concatenate([self.hand(), angle * axis, self.fingers()])

    def state(self) -> FloatArray:
        return np.concatenate([self.bowl(), self.bowl_up(), self.plate(), self.ramekin()])

    def snapshot(self) -> FloatArray:
        return np.concatenate(
            [
                read_state(self.model, self.data),
                self._robot.gripper.current_action,
                self._robot.controller.goal_ori.ravel(),
                self._fixture_poses().ravel(),
                [self._num_at_goal],
            ]
        )

    def restore(self, snapshot: FloatArray) -> None:
        sizes = [self._state_size, _NUM_FINGERS, _GOAL_ROTATION_SIZE]
        sizes.append(len(self._fixtures) * _FIXTURE_POSE_SIZE)
        state, fingers, goal_rotation, fixture_poses, num_at_goal = np.split(
            np.asarray(snapshot, dtype=np.float64), np.cumsum(sizes)
        )
        self._set_fixture_poses(fixture_poses)
        write_state(self.model, self.data, state)
        self._robot.gripper.current_action = fingers.copy()
        self._robot.controller.goal_ori = goal_rotation.reshape(3, 3).copy()
        self._num_at_goal = int(num_at_goal[0])
        self._settle()

    def close(self) -> None:
        self.env.close()

    # ---------------------------------------------------------------- what policies read

    def at_goal(self) -> bool:
        """LIBERO's own success: the bowl touches the plate, over it and not beside it."""
        bowl, plate = self.bowl(), self.plate()
        return bool(
            plate[2] <= bowl[2]
            and np.linalg.norm(plate[:2] - bowl[:2]) < _ON_PLATE_M
            and self._plate in self.model.geom_bodyid[self._geoms_at_bowl()]
        )

    def hand(self) -> FloatArray:
        """Position of the point between the fingers."""
        return np.array(self.data.site_xpos[self._robot.eef_site_id])

    def hand_rotation(self) -> FloatArray:
        return np.array(self.data.site_xmat[self._robot.eef_site_id]).reshape(3, 3)

    def fingers(self) -> FloatArray:
        """Both finger joints: (0.04, -0.04) open, (0, 0) closed."""
        return np.array(self.data.qpos[self._robot._ref_gripper_joint_pos_indexes])

    def bowl(self) -> FloatArray:
        """Middle of the bowl's bottom; its rim is 5.2 cm higher."""
        return np.array(self.data.xpos[self._bowl])

    def bowl_up(self) -> FloatArray:
        """Where the bowl opens to: (0, 0, 1) as it stands. It is round: this says how it lies."""
        return np.array(self.data.xmat[self._bowl]).reshape(3, 3)[:, 2]

    def plate(self) -> FloatArray:
        return np.array(self.data.xpos[self._plate])

    def ramekin(self) -> FloatArray:
        return np.array(self.data.xpos[self._ramekin])

    # ---------------------------------------------------------------- inside

    @property
    def _robot(self) -> Any:
        return self.env.robots[0]

    def _geoms_at_bowl(self) -> npt.NDArray[np.int32]:
        """What touches the bowl."""
        pairs = self.data.contact.geom
        is_bowl = self.model.geom_bodyid[pairs] == self._bowl
        return pairs[is_bowl[:, ::-1]]

    def _place_everything(self) -> None:
        # A reset works out forces before it moves the cabinet and the stove: from where they first
        # were, not from where the last episode had them.
        self._set_fixture_poses(self._first_fixture_poses)
        self._robot.gripper.current_action = np.zeros(_NUM_FINGERS)
        while True:
            try:
                self.env.reset()
            except robosuite_errors.RandomizationError:
                # No room for one of the objects: LIBERO draws again.
                continue
            return

    def _fixture_poses(self) -> FloatArray:
        """Cabinet and stove stand on no joint: LIBERO moves them by changing the model."""
        position, rotation = self.model.body_pos, self.model.body_quat
        return np.concatenate([position[self._fixtures], rotation[self._fixtures]], axis=1)

    def _set_fixture_poses(self, poses: FloatArray) -> None:
        poses = poses.reshape(len(self._fixtures), _FIXTURE_POSE_SIZE)
        self.model.body_pos[self._fixtures] = poses[:, :3]
        self.model.body_quat[self._fixtures] = poses[:, 3:]

    def _settle(self) -> None:
        settle(self.model, self.data)
        # Otherwise a controller that was just reset acts on what it saw before.
        self._robot.controller.new_update = True
        # The glow of the stove follows its knob.
        self.env._post_process()
