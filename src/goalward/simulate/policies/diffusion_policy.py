"""A learned policy that plans a chunk of actions by denoising, and follows half of it."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch

from goalward.errors import GoalwardError
from goalward.simulate.policies.diffusion_net import read_denoiser
from goalward.simulate.policies.policy import Policy
from goalward.simulate.worlds.world import FloatArray, World

# Digits after the point of what is observed and done: a micrometre, and half the text per frame.
_DIGITS = 6


class DiffusionPolicy(Policy[World]):
    """Acts as the demonstrations did that its network was trained on (Chi et al. 2023).

    It sees `proprioception()` and `state()` of this step and the last one. Each plan starts from
    noise of the policy's own generator; the rest of the plan under way is in its mind.
    """

    def __init__(self, path: Path, *, num_executed: int = 8, num_denoising_steps: int = 10) -> None:
        super().__init__()
        self._path = path
        self._denoiser = read_denoiser(path)
        self._num_executed = num_executed
        self._num_denoising_steps = num_denoising_steps
        sizes = self._denoiser.sizes
        most = sizes.num_predicted - sizes.num_observations + 1
        if not 1 <= num_executed <= most:
            raise GoalwardError(f"{path}: plans 1 to {most} actions ahead, not {num_executed}")

    def first_thought(self, world: World) -> dict[str, Any]:
        sizes = self._denoiser.sizes
        observed = len(world.proprioception()) + len(world.state())
        if (observed, world.action_size) != (sizes.observation, sizes.action):
            raise GoalwardError(
                f"{self._path}: is for {sizes.observation} observed numbers and {sizes.action} "
                f"per action, but {type(world).__name__} has {observed} and {world.action_size}"
            )
        # Observations of the last steps, oldest first, and what is left of the plan.
        return {"observations": [], "actions": []}

    def act(self, world: World) -> FloatArray:
        now = np.concatenate([world.proprioception(), world.state()])
        observations = [*self.mind["observations"], now.round(_DIGITS).tolist()]
        if not self.mind["actions"]:
            self.mind["actions"] = self._plan(observations)
        num_remembered = self._denoiser.sizes.num_observations - 1
        self.mind["observations"] = observations[max(0, len(observations) - num_remembered) :]
        return np.array(self.mind["actions"].pop(0))

    def _plan(self, observations: list[list[float]]) -> list[list[float]]:
        sizes = self._denoiser.sizes
        # Before an episode began all was as at its first step.
        missing = sizes.num_observations - len(observations)
        seen = np.array([observations[0]] * missing + observations, dtype=np.float32)
        noise = self.generator.standard_normal(
            (1, sizes.num_predicted, sizes.action), dtype=np.float32
        )
        with one_thread():
            actions = self._denoiser.sample(
                torch.from_numpy(seen)[None], torch.from_numpy(noise), self._num_denoising_steps
            )
        # The first places of a plan belong to observations that are past.
        present = sizes.num_observations - 1
        executed = actions[0, present : present + self._num_executed]
        return executed.double().numpy().round(_DIGITS).tolist()


@contextmanager
def one_thread() -> Generator[None]:
    """Small products are slower on many threads, and workers share the cores."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
