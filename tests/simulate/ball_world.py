"""A ball that is pushed across a table into a goal: a real mujoco world that takes no time.

For tests of everything that needs a world, a policy and a task but no robot. Importing this module
puts the task `ball` into the table of tasks; worker processes find it as they import it too. In a
test, write

    from simulate.ball_world import BALL

and put `BALL` into `TASKS` for the time of the test (`monkeypatch.setitem(TASKS, "ball", BALL)`).

- `pusher`, the first policy, pushes along x, lets the ball slip at random, and stands still for
  some steps after each slip: about half of its episodes reach the goal in time.
- `sleeper` never moves. `slow` is a pusher that takes 5 ms per step. `clumsy` raises an error in
  some episodes, `vanisher` ends its process in the first one.

The camera `above` sees x to the right and y upwards. Four squares mark the corners of its picture:
red at the top left, green at the top right, blue at the bottom left, black at the bottom right. The
camera `side` looks along y, from the front.
"""

import os
import time
from typing import Any

import numpy as np

from goalward.simulate.policies.policy import Policy
from goalward.simulate.tasks import TASKS, SimulatedTask
from goalward.simulate.worlds.world import FloatArray, World

GOAL_X = 0.4
# What the camera above sees: from -1 to 1 in both directions.
HALF_WIDTH = 1.0
_SCENE = f"""
<mujoco>
  <option timestep="0.02" gravity="0 0 0" integrator="implicitfast"/>
  <visual><headlight ambient="1 1 1" diffuse="0 0 0" specular="0 0 0"/></visual>
  <worldbody>
    <camera name="above" pos="0 0 10" xyaxes="1 0 0 0 1 0" fovy="11.4212"/>
    <camera name="side" pos="0 -5 0.3" xyaxes="1 0 0 0 0 1" fovy="24"/>
    <geom name="table" type="box" size="1.2 1.2 0.01" rgba="0.6 0.6 0.6 1"/>
    <geom type="box" pos="-.85 .85 .02" size=".15 .15 .01" rgba="1 0 0 1"/>
    <geom type="box" pos=".85 .85 .02" size=".15 .15 .01" rgba="0 1 0 1"/>
    <geom type="box" pos="-.85 -.85 .02" size=".15 .15 .01" rgba="0 0 1 1"/>
    <geom type="box" pos=".85 -.85 .02" size=".15 .15 .01" rgba="0 0 0 1"/>
    <geom name="goal" type="box" pos="{GOAL_X} 0 .02" size=".01 .6 .01" rgba="0 .5 .5 1"/>
    <body name="ball" pos="0 0 .12">
      <joint name="x" type="slide" axis="1 0 0" damping="2"/>
      <joint name="y" type="slide" axis="0 1 0" damping="2"/>
      <geom type="sphere" size=".1" mass="0.2" rgba="1 1 0 1" contype="0" conaffinity="0"/>
    </body>
  </worldbody>
  <actuator>
    <motor joint="x" gear="1.6"/>
    <motor joint="y" gear="1"/>
  </actuator>
</mujoco>
"""
_PHYSICS_STEPS = 5


class BallWorld(World):
    cameras = ("above", "side")
    fps = 10
    action_size = 2
    proprioception_names = ("push_x", "push_y")
    state_names = ("ball_x", "ball_y", "ball_velocity_x", "ball_velocity_y")

    def __init__(self) -> None:
        from goalward.simulate.worlds.gl import choose_gl

        choose_gl()
        import mujoco

        self._mujoco: Any = mujoco
        self.model = mujoco.MjModel.from_xml_string(_SCENE)
        self.data = mujoco.MjData(self.model)

    def reset(self, generator: np.random.Generator) -> None:
        self._mujoco.mj_resetData(self.model, self.data)
        self.data.qpos[:] = [generator.uniform(-0.7, -0.5), generator.uniform(-0.3, 0.3)]
        self._mujoco.mj_forward(self.model, self.data)

    def step(self, action: FloatArray) -> None:
        self.data.ctrl[:] = np.clip(action, -1, 1)
        for _ in range(_PHYSICS_STEPS):
            self._mujoco.mj_step(self.model, self.data)
        self._mujoco.mj_forward(self.model, self.data)

    def succeeded(self) -> bool:
        return bool(self.data.qpos[0] > GOAL_X)

    def holds(self) -> bool:
        return bool(np.any(self.data.ctrl))

    def proprioception(self) -> FloatArray:
        return np.array(self.data.ctrl)

    def state(self) -> FloatArray:
        return np.concatenate([self.data.qpos, self.data.qvel])

    def snapshot(self) -> FloatArray:
        state = np.empty(self._mujoco.mj_stateSize(self.model, self._all))
        self._mujoco.mj_getState(self.model, self.data, state, self._all)
        return state

    def restore(self, snapshot: FloatArray) -> None:
        self._mujoco.mj_setState(self.model, self.data, snapshot, self._all)
        self._mujoco.mj_forward(self.model, self.data)

    @property
    def _all(self) -> Any:
        return self._mujoco.mjtState.mjSTATE_INTEGRATION


class Pusher(Policy[BallWorld]):
    """Pushes the ball to the right; after a slip it waits for some steps."""

    slip_chance = 0.15

    def first_thought(self, world: BallWorld) -> dict[str, Any]:
        return {"waits": 0}

    def act(self, world: BallWorld) -> FloatArray:
        if self.mind["waits"]:
            self.mind["waits"] -= 1
            return np.zeros(2)
        if self.generator.random() < self.slip_chance:
            self.mind["waits"] = int(self.generator.integers(2, 7))
            self.note("slip")
            return np.zeros(2)
        return np.array([0.9, 0.0]) + self.generator.normal(0.0, 0.2, size=2)


class Sleeper(Pusher):
    def act(self, world: BallWorld) -> FloatArray:
        return np.zeros(2)


class Slow(Pusher):
    def act(self, world: BallWorld) -> FloatArray:
        time.sleep(0.005)
        return super().act(world)


class Clumsy(Pusher):
    def act(self, world: BallWorld) -> FloatArray:
        action = super().act(world)
        if action[1] > 0.45:
            raise ValueError("the ball fell off the table")
        return action


class Vanisher(Pusher):
    def act(self, world: BallWorld) -> FloatArray:
        os._exit(3)


BALL = SimulatedTask(
    name="ball",
    instruction="push the ball over the line",
    time_out=30,
    standard_horizon=20,
    make_world=BallWorld,
    policies={
        "pusher": Pusher,
        "sleeper": Sleeper,
        "slow": Slow,
        "clumsy": Clumsy,
        "vanisher": Vanisher,
    },
)
TASKS.setdefault("ball", BALL)


def skip_where_nothing_is_drawn() -> None:
    """Ends the test with the reason where mujoco or a drawing library is missing."""
    import pytest

    try:
        from goalward.simulate.worlds.cameras import Cameras

        with Cameras(BallWorld(), 16) as cameras:
            cameras.picture("above")
    except Exception as error:
        reason = f"needs mujoco (extra sim) and off-screen drawing: {error}"
        pytest.skip(reason, allow_module_level=True)
