"""Policies cloned from recorded frames of a simulated world, and their fresh episodes."""

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from goalward.simulate.policies.policy import Policy
from goalward.simulate.tasks import find_task
from goalward.simulate.worlds.world import World

# Of fresh episodes: no other set of the case studies begins here.
FIRST_SEED = 90_000_000
Array = npt.NDArray[np.float64]


@dataclasses.dataclass(frozen=True)
class Layers:
    """A small network that several outputs share: weights of its layers, and how inputs scale."""

    mean: Array
    scale: Array
    weights: tuple[tuple[Array, Array], ...]

    def __call__(self, seen: Array) -> Array:
        hidden = (seen - self.mean) / self.scale
        for weight, bias in self.weights[:-1]:
            hidden = np.maximum(hidden @ weight.T + bias, 0.0)
        weight, bias = self.weights[-1]
        return hidden @ weight.T + bias

    def write(self, path: Path) -> None:
        arrays = [self.mean, self.scale, *(array for pair in self.weights for array in pair)]
        np.savez(path, *arrays)

    @staticmethod
    def read(path: Path) -> "Layers":
        with np.load(path) as stored:
            mean, scale, *rest = (stored[name] for name in stored)
        return Layers(mean, scale, tuple(zip(rest[::2], rest[1::2], strict=True)))


class Cloned(Policy[World]):
    """Does what the network says of the state it sees, and of the one before."""

    def __init__(self, layers: Layers) -> None:
        super().__init__()
        self.layers = layers

    def first_thought(self, world: World) -> dict[str, Any]:
        return {"before": observed(world).tolist()}

    def act(self, world: World) -> Array:
        seen = observed(world)
        action = self.layers(np.concatenate([seen, self.mind["before"]]))
        self.mind["before"] = seen.tolist()
        return np.clip(action, -1.0, 1.0)


def observed(world: World) -> Array:
    return np.concatenate([world.proprioception(), world.state()]).astype(np.float64)


@dataclasses.dataclass(frozen=True)
class WorldOf:
    task: str

    def __call__(self) -> World:
        return find_task(self.task).make_world()


@dataclasses.dataclass(frozen=True)
class Act:
    """One fresh episode of a policy, by its start; whether it succeeded."""

    layers: Layers
    name: str
    seed: int
    start: int
    time_out: int

    def do(self, world: World, /) -> bool:
        policy = Cloned(self.layers)
        world.reset(np.random.default_rng(FIRST_SEED + self.start))
        policy.reset(world, np.random.default_rng(FIRST_SEED + self.start))
        for _ in range(self.time_out):
            if world.succeeded():
                return True
            world.step(policy.act(world))
        return world.succeeded()


def with_the_one_before(rows: Array, ends: npt.NDArray[np.int64]) -> Array:
    before = np.concatenate([rows[:1], rows[:-1]])
    starts = np.concatenate([[0], ends[:-1]])
    before[starts] = rows[starts]
    return np.concatenate([rows, before], axis=1)


def cloned(
    seen: Array, actions: Array, weights: Array, *, seed: int, num_steps: int, width: int = 256
) -> Layers:
    """Frames are drawn by their weights; the loss is the absolute error of the action."""
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    used = weights > 0
    mean, scale = seen[used].mean(axis=0), seen[used].std(axis=0)
    scale = np.where(scale > 1e-6, scale, 1.0)
    inputs = torch.from_numpy(((seen - mean) / scale).astype(np.float32))
    targets = torch.from_numpy(actions.astype(np.float32))
    chances = torch.from_numpy(weights / weights.sum())
    net = nn.Sequential(
        *(nn.Linear(inputs.shape[1], width), nn.ReLU(), nn.Linear(width, width), nn.ReLU()),
        nn.Linear(width, targets.shape[1]),
    )
    optimiser = torch.optim.AdamW(net.parameters(), lr=1e-3, weight_decay=1e-4)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, num_steps)
    batch = 512
    for _ in range(num_steps):
        drawn = torch.multinomial(chances, batch, replacement=True, generator=generator)
        loss = (net(inputs[drawn]) - targets[drawn]).abs().mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
    layers = [layer for layer in net if isinstance(layer, nn.Linear)]
    return Layers(
        mean,
        scale,
        tuple(
            (
                layer.weight.detach().numpy().astype(np.float64),
                layer.bias.detach().numpy().astype(np.float64),
            )
            for layer in layers
        ),
    )
