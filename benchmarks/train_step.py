"""Time per run and gradient step, against a plain research loop in the same process.

    python benchmarks/train_step.py [--runs 1 5 25 100] [--batches 20] [--device cpu]

Both train the first stage of `liveness` (targets through the network) with the paper's network,
batch and replay. The plain loop is what one would write first: one run, `nn.Sequential`, eager,
float32, replay in numpy, a target for every gradient step. Turns alternate and the best of each
counts, as a machine that does other things too only ever makes a turn slower.

On the CPU the last column is the floor: the matrix products of a step alone, nothing around them.
Targets are computed once for two steps here and twice in the plain loop, 4.8 against 5.7 GFLOP: by
products alone no more than 1.17 times is to be had.
"""

import argparse
import time
from collections.abc import Callable

import numpy as np
import torch

import goalward
from goalward.training.fit import batch_trainer
from goalward.training.frames.inputs import FeatureRows
from goalward.training.frames.training_frames import TrainingFrames, training_frames
from goalward.training.methods.presets import hyperparameters
from goalward.training.methods.table import METHODS
from goalward.training.problem import problem_of
from goalward.training.runs import plan_run
from goalward.training.step import initial_state

DISCOUNT = 0.993


def random_frames(num_frames: int, size: int, length: int = 200) -> TrainingFrames:
    rng = np.random.default_rng(0)
    count = num_frames // length
    features = rng.standard_normal((count * length, size), dtype=np.float32)
    ends = np.arange(1, count + 1) * length
    success = np.arange(count) % 2 == 0
    return training_frames(goalward.from_arrays(features, success=success, episode_ends=ends))


def plain_loop(frames: TrainingFrames, device: torch.device) -> Callable[[], int]:
    """A function that trains one batch and returns the gradient steps it took."""
    size = frames.features.shape[1]
    layers: list[torch.nn.Module] = []
    for num_in in (size, 512, 512, 512):
        layers += [torch.nn.Linear(num_in, 512), torch.nn.LayerNorm(512), torch.nn.GELU()]
    net = torch.nn.Sequential(*layers, torch.nn.Linear(512, 1)).to(device)
    optimiser = torch.optim.Adam(net.parameters(), lr=1e-5)
    rng = np.random.default_rng(0)
    priority = np.ones(frames.num_frames)

    def to_device(array: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(array).to(device)

    def train_batch() -> int:
        chance = priority**0.6
        chance /= chance.sum()
        rows = rng.choice(frames.num_frames, size=512, p=chance)
        weight = (frames.num_frames * chance[rows]) ** -0.5
        weight = to_device((weight / weight.max()).astype(np.float32))
        state = to_device(frames.features[rows])
        next_state = to_device(frames.features[np.minimum(rows + 1, frames.num_frames - 1)])
        at_goal, at_end = (
            to_device(frames.endings.at_goal[rows]),
            to_device(frames.endings.at_end[rows]),
        )
        error = torch.zeros(512)
        for _ in range(2):
            with torch.no_grad():
                next_value = torch.where(at_end, 1.0, net(next_state)[:, 0].clamp(-1, 1))
                target = (1 - DISCOUNT) + DISCOUNT * next_value
                target = torch.where(at_goal, -1.0, target)
            error = net(state)[:, 0] - target
            loss = (weight * error**2).mean()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
        priority[rows] = np.abs(error.detach().cpu().numpy()) + 0.01
        return 2

    return train_batch


def side_by_side(frames: TrainingFrames, num_runs: int, device: torch.device) -> Callable[[], int]:
    """The same for this package: all runs in one batch of training."""
    numbers = hyperparameters("libero", capacity=None)
    episodes = range(frames.num_episodes)
    method = METHODS["liveness-nb"]
    runs = [plan_run(frames, method, seed, episodes, numbers) for seed in range(num_runs)]
    rows = FeatureRows(frames.features, device)
    dtype = torch.bfloat16 if device.type == "cuda" else torch.float32
    problem = problem_of(frames, rows, runs, {}, numbers, dtype)
    advance = batch_trainer(problem, initial_state(problem))

    def train_batch() -> int:
        advance()
        return numbers.gradient_steps_per_batch * num_runs

    return train_batch


def products_alone(size: int, batch: int = 512, width: int = 512) -> Callable[[], int]:
    """The matrix products of one batch of one run, with which two steps are taken."""
    sizes = [(size, width), *[(width, width)] * 3, (width, 1)]
    inputs = [torch.randn(batch, num_in) for num_in, _ in sizes]
    weights = [torch.randn(num_in, num_out) for num_in, num_out in sizes]
    gradients = [torch.randn(batch, num_out) for _, num_out in sizes]
    transposed = [given.T for given in inputs]

    def forward() -> None:
        for given, weight in zip(inputs, weights, strict=True):
            torch.mm(given, weight)

    def multiply() -> int:
        forward()
        for _ in range(2):
            forward()
            for layer, gradient in enumerate(gradients):
                torch.mm(transposed[layer], gradient)
                if layer:
                    torch.mm(gradient, weights[layer].T)
        return 2

    return multiply


def microseconds(train_batch: Callable[[], int], num_batches: int, device: torch.device) -> float:
    """Per run and gradient step."""
    if device.type == "cuda":
        torch.cuda.synchronize()
    started = time.perf_counter()
    steps = sum(train_batch() for _ in range(num_batches))
    if device.type == "cuda":
        torch.cuda.synchronize()
    return (time.perf_counter() - started) / steps * 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, nargs="+", default=None)
    parser.add_argument("--batches", type=int, default=None)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--frames", type=int, default=40_000)
    parser.add_argument("--size", type=int, default=1544)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    options = parser.parse_args()
    device = torch.device(options.device)
    on_cuda = device.type == "cuda"
    run_counts = options.runs or ([1, 5, 25, 100] if on_cuda else [1, 5])
    num_batches = options.batches or (100 if on_cuda else 2)
    frames = random_frames(options.frames, options.size)
    plain = plain_loop(frames, device)
    where = torch.cuda.get_device_name() if on_cuda else f"CPU, {torch.get_num_threads()} threads"
    print(f"{where}, torch {torch.__version__}, {options.frames} frames x {options.size}")
    alone = None if on_cuda else products_alone(options.size)
    last = "" if alone is None else f" {'products alone':>15}"
    print(f"{'runs':>5} {'us per run and step':>20} {'plain loop':>12} {'times':>7}{last}")
    for num_runs in run_counts:
        ours = side_by_side(frames, num_runs, device)
        turns: dict[str, list[float]] = {"ours": [], "plain": [], "alone": []}
        microseconds(ours, 6, device)
        microseconds(plain, 3, device)
        for _ in range(options.turns):
            turns["ours"].append(microseconds(ours, num_batches, device))
            turns["plain"].append(microseconds(plain, max(num_batches // 4, 2), device))
            if alone is not None:
                turns["alone"].append(microseconds(alone, max(num_batches, 4), device))
        best, plain_best = min(turns["ours"]), min(turns["plain"])
        last = f" {min(turns['alone']):>15.0f}" if turns["alone"] else ""
        print(
            f"{num_runs:>5} {best:>20.1f} {plain_best:>12.0f} {plain_best / best:>7.2f}{last}",
            flush=True,
        )
        del ours


if __name__ == "__main__":
    main()
