"""A Panda in robosuite, driven by small motions of its gripper, restored to the bit."""

import logging
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from goalward.simulate.extras import ROBOSUITE, missing_extra
from goalward.simulate.worlds.mujoco_module import mujoco
from goalward.simulate.worlds.mujoco_state import read_state, settle, state_size, write_state
from goalward.simulate.worlds.world import FloatArray, HandWorld

# As it is imported, robosuite warns of what nothing here uses, and sets its own level.
logging.disable(logging.WARNING)
try:
    import robosuite as _robosuite  # pyright: ignore[reportMissingImports]
except ImportError as error:
    raise missing_extra("robosuite", ROBOSUITE, error) from error
finally:
    logging.disable(logging.NOTSET)
logging.getLogger("robosuite_logs").setLevel(logging.ERROR)
robosuite: Any = _robosuite

# The robot's joints are noisy at reset; the controller pulls towards where they were then.
_NUM_ARM_JOINTS = 7
_NUM_FINGERS = 2


class RobosuiteWorld(HandWorld):
    """One robosuite environment, read from the simulator itself.

    robosuite's own observations cost half of its time and lag one physics step behind; nothing
    here uses them. `goal_steps` control steps in a row at the goal make a success: an object that
    bounces through the goal has not reached it.
    """

    environment_name: ClassVar[str]
    environment_options: ClassVar[Mapping[str, Any]] = {}
    goal_steps: ClassVar[int] = 3
    cameras = ("agentview", "robot0_eye_in_hand")
    fps = 20
    action_size = 7
    hidden_geom_groups = (0,)
    # The camera in the hand looks away from the arm, whose fine meshes take most of the time.
    out_of_sight: ClassVar[Mapping[str, Sequence[str]]] = {
        "robot0_eye_in_hand": ("robot0_link", "fixed_mount0")
    }

    def __init__(self) -> None:
        self.env: Any = robosuite.make(
            self.environment_name,
            robots="Panda",
            has_renderer=False,
            has_offscreen_renderer=False,
            use_camera_obs=False,
            control_freq=self.fps,
            ignore_done=True,
            hard_reset=False,
            seed=0,
            **self.environment_options,
        )
        self.env._update_observables = lambda force=False: None
        self.env._get_observations = lambda force_update=False: {}
        # Marks for where the controller aims are hidden by the first reset; without it
        # a world that only draws would show them.
        self.env.reset()
        self.model = self.env.sim.model._model
        self.data = self.env.sim.data._data
        self._num_substeps = int(self.env.control_timestep / self.env.model_timestep)
        self._actuators = {
            part: (actuators, *self.model.actuator_ctrlrange[actuators].T)
            for part, actuators in self.env.robots[0]._ref_actuators_indexes_dict.items()
            if part in self.env.robots[0].part_controllers
        }
        self._num_at_goal = 0
        self._state_size = state_size(self.model)

    def reset(self, generator: np.random.Generator) -> None:
        # One generator is shared by the placement of objects and of the robot.
        self.env.rng.bit_generator.state = generator.bit_generator.state
        self.env.reset()
        # One number after a reset, one per finger after a step, and the same to robosuite.
        self._gripper.current_action = np.zeros(_NUM_FINGERS)
        self._num_at_goal = 0
        self._settle()

    def step(self, action: FloatArray) -> None:
        # What robosuite's own step does (a test compares), less the parts that only its
        # observations, rewards and moving bases need: a third of the time.
        controller = self.env.robots[0].composite_controller
        for substep in range(self._num_substeps):
            mujoco.mj_step1(self.model, self.data)
            if substep == 0:
                controller.update_state()
                controller.set_goal(action)
            for part, (actuators, low, high) in self._actuators.items():
                torque = controller.part_controllers[part].run_controller()
                self.data.ctrl[actuators] = np.clip(torque, low, high)
            mujoco.mj_step2(self.model, self.data)
        self._settle()
        self._num_at_goal = self._num_at_goal + 1 if self.at_goal() else 0

    def succeeded(self) -> bool:
        return self._num_at_goal >= self.goal_steps

    def snapshot(self) -> FloatArray:
        return np.concatenate(
            [
                read_state(self.model, self.data),
                self._gripper.current_action,
                self._arm_controller.initial_joint,
                [self._num_at_goal],
            ]
        )

    def restore(self, snapshot: FloatArray) -> None:
        state, fingers, joints, num_at_goal = np.split(
            np.asarray(snapshot, dtype=np.float64),
            np.cumsum([self._state_size, _NUM_FINGERS, _NUM_ARM_JOINTS]),
        )
        write_state(self.model, self.data, state)
        self._gripper.current_action = fingers.copy()
        self._arm_controller.initial_joint = joints.copy()
        self._num_at_goal = int(num_at_goal[0])
        self._settle()

    @abstractmethod
    def at_goal(self) -> bool:
        """Whether the object is where it should be at this very step."""

    def hand(self) -> FloatArray:
        """Position of the point between the fingers."""
        return np.array(self.data.site_xpos[self._hand_site])

    def hand_rotation(self) -> FloatArray:
        return np.array(self.data.site_xmat[self._hand_site]).reshape(3, 3)

    def fingers(self) -> FloatArray:
        """Both finger joints: (0.04, -0.04) open, (0, 0) closed."""
        return np.array(self.data.qpos[self.env.robots[0]._ref_gripper_joint_pos_indexes["right"]])

    @property
    def _hand_site(self) -> int:
        return self.env.robots[0].eef_site_id["right"]

    @property
    def _gripper(self) -> Any:
        return self.env.robots[0].gripper["right"]

    @property
    def _arm_controller(self) -> Any:
        return self.env.robots[0].part_controllers["right"]

    def _settle(self) -> None:
        settle(self.model, self.data)
        # Otherwise a controller that was just reset acts on what it saw before.
        for controller in self.env.robots[0].part_controllers.values():
            controller.new_update = True
