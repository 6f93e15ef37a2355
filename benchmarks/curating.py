"""Does what `goalward curate` keeps make a better policy than what it drops?

    python case_studies/truth/record.py mw-pick-place --out worlds --test 2 --frames 1 --at-end 0
    python benchmarks/curating.py worlds mw-pick-place

A run learns values from the recorded episodes of a scripted policy that errs. Then the same small
behaviour cloning network learns from all frames, from successes, from as many frames of random
episodes as curate keeps, and from what curate keeps or weighs; each acts in fresh episodes of the
simulator, the same for all. No pictures: policies and values see the simulator's state.
"""

import argparse
import dataclasses
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

import goalward
from goalward.executors.local import LocalExecutor
from goalward.metrics.uncertainty.proportions import wilson
from goalward.simulate.policies.policy import Policy
from goalward.simulate.tasks import find_task
from goalward.simulate.worlds.world import World
from other_policy import recorded

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
    """One fresh episode; whether it succeeded."""

    layers: Layers
    seed: int
    time_out: int

    def do(self, world: World, /) -> bool:
        policy = Cloned(self.layers)
        world.reset(np.random.default_rng(self.seed))
        policy.reset(world, np.random.default_rng(self.seed))
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


def choices(run: goalward.Run, place: Path, seed: int) -> Mapping[str, Array]:
    """What each policy learns from: a weight for every frame."""

    def curated(name: str, **options: Any) -> Array:
        return goalward.curate(run, out=place / name, anyway=True, **options).weights

    kept = curated("kept")
    lengths = np.array([episode.num_frames for episode in run.episodes])
    order = np.random.default_rng(seed).permutation(len(lengths))
    chosen = order[np.cumsum(lengths[order]) <= (kept > 0).sum()]
    some = np.repeat(np.isin(np.arange(len(lengths)), chosen), lengths).astype(np.float64)
    return {
        "all": np.ones(len(kept)),
        "random episodes, as many frames as curate keeps": some,
        "successes": curated("successes", drop=("not-success", "after-goal")),
        "curate": kept,
        "curate --weigh advantage": curated("weighed", weigh="advantage"),
        "curate --drop no-return,after-goal --weigh advantage": curated(
            "failures", drop=("no-return", "after-goal"), weigh="advantage"
        ),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("world")
    parser.add_argument("--episodes", type=int, default=200, help="recorded ones to learn from")
    parser.add_argument("--fresh", type=int, default=200, help="episodes that each policy acts in")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=4000, help="gradient steps of a policy")
    parser.add_argument("--effort", default="quick")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--only", type=int, help="the first so many choices of frames")
    options = parser.parse_args()
    file = options.folder / f"{options.world}_train.npz"
    rollouts, _ = recorded(file, options.episodes)
    assert rollouts.features is not None
    seen = with_the_one_before(rollouts.features.astype(np.float64), rollouts.episode_ends)
    with np.load(file, allow_pickle=False) as stored:
        actions = stored["action"][: len(seen)].astype(np.float64)
    time_out = find_task(options.world).time_out
    print("| learned from | frames | success by seed | success | 95 % |", flush=True)
    with (
        tempfile.TemporaryDirectory() as place,
        LocalExecutor(WorldOf(options.world), options.workers) as w,
    ):
        run = goalward.evaluate(
            rollouts, Path(place) / "run", effort=options.effort, report=False, progress=False
        )
        for name, first in list(choices(run, Path(place), 0).items())[: options.only]:
            started, counts = time.monotonic(), []
            for seed in range(options.seeds):
                weights = choices(run, Path(place), seed)[name] if "random" in name else first
                layers = cloned(seen, actions, weights, seed=seed, num_steps=options.steps)
                jobs = [Act(layers, FIRST_SEED + i, time_out) for i in range(options.fresh)]
                counts.append(sum(good for _, good in w.results(iter(jobs))))
            total = options.seeds * options.fresh
            low, high = (float(limit) for limit in wilson(sum(counts), total))
            by_seed = ", ".join(f"{100 * count / options.fresh:.0f}" for count in counts)
            print(
                f"| {name} | {int((first > 0).sum())} | {by_seed} % "
                f"| {100 * sum(counts) / total:.1f} % | {100 * low:.0f} to {100 * high:.0f} % |"
                f" ({time.monotonic() - started:.0f} s)",
                flush=True,
            )


if __name__ == "__main__":
    main()
