"""A world of one number whose truth is known in closed form; needs no simulator.

At every control step the policy gets stuck for good with chance q, goes one place ahead with
chance r, and otherwise waits. From a distance d, not stuck:

    E[g^K] = (r g / (1 - (1 - q - r) g))^d          P(ever there) = (r / (q + r))^d
"""

import os
import time
from pathlib import Path

import numpy as np

from goalward.simulate.policies.policy import Policy
from goalward.simulate.recording.trace import run_episode
from goalward.simulate.tasks import TASKS, SimulatedTask
from goalward.simulate.worlds.world import World

GOAL = 6
STUCK, AHEAD = 0.05, 0.5


class WalkWorld(World):
    cameras = ()
    fps = 10
    action_size = 1
    proprioception_names = ("place",)
    state_names = ("to_go",)

    def __init__(self):
        self.place = 0.0

    def reset(self, generator):
        self.place = float(generator.integers(3))

    def step(self, action):
        self.place += float(action[0])

    def succeeded(self):
        return self.place >= GOAL

    def holds(self):
        return False

    def proprioception(self):
        return np.array([self.place])

    def state(self):
        return np.array([GOAL - self.place])

    def snapshot(self):
        return np.array([self.place])

    def restore(self, snapshot):
        self.place = float(snapshot[0])


class WalkPolicy(Policy):
    def first_thought(self, world):
        return {"stuck": False}

    def act(self, world):
        luck = self.generator.random()
        if luck < STUCK:
            self.mind["stuck"] = True
        is_ahead = not self.mind["stuck"] and luck < STUCK + AHEAD
        return np.array([1.0 if is_ahead else 0.0])


class SlowWalkPolicy(WalkPolicy):
    """The same steps, so slowly that a stop comes in between."""

    def act(self, world):
        time.sleep(0.002)
        return super().act(world)


class MortalWalkPolicy(WalkPolicy):
    """Takes its process down with its first step."""

    def act(self, world):
        os._exit(3)


WALK = SimulatedTask(
    name="walk",
    instruction="walk to the end of the line",
    time_out=14,
    standard_horizon=12,
    make_world=WalkWorld,
    policies={"walker": WalkPolicy, "slow": SlowWalkPolicy, "mortal": MortalWalkPolicy},
)
TASKS.setdefault("walk", WALK)


def walk_stage():
    return WalkWorld(), WalkPolicy()


def dying_stage():
    """A stage that takes its process down with it."""
    raise SystemExit(3)


def write_traces(folder: Path, num_episodes: int = 12, time_out: int = 14) -> dict[str, Path]:
    world, policy = walk_stage()
    traces = {}
    for episode in range(num_episodes):
        path = folder / f"episode_{episode:06d}.npz"
        run_episode(world, policy, episode, time_out=time_out).write(path)
        traces[str(episode)] = path
    return traces


def true_discounted(to_go: int, discount: float) -> float:
    """E[g^K] from a distance, not stuck."""
    return (AHEAD * discount / (1 - (1 - STUCK - AHEAD) * discount)) ** to_go
