"""What our method costs against the paper's, on the same episodes with the same seeds.

    python benchmarks/method_cost.py [--device cuda] [--seeds 1] [--episodes 100] [--share 0.1]

Made-up episodes of 250 frames with 24 numbers each; both methods train by their defaults (and the
paper's by the paper's own numbers too, with `--paper`). Seconds are of processor time on a CPU,
which other work on the machine does not change, and of wall time on CUDA, after a training of a few
steps that is not timed: the first of a process waits for the GPU to start. With `--share` every
network trains for that share of its steps; looks at held-out frames stay as many.
"""

import argparse
import functools
import time
from typing import Any

import numpy as np
import torch

import goalward
from goalward.training.methods.presets import OWN_NUMBERS, hyperparameters
from goalward.values.fit import fit


def walks(num_episodes: int) -> goalward.Rollouts:
    rng = np.random.default_rng(0)
    features = [rng.normal(size=(250, 24)).cumsum(axis=0) for _ in range(num_episodes)]
    return goalward.from_arrays(features, success=[i % 2 == 0 for i in range(num_episodes)])


def seconds(
    rollouts: goalward.Rollouts, method: str, preset: str, options: argparse.Namespace
) -> float:
    clock = time.perf_counter if options.device == "cuda" else time.process_time
    train = functools.partial(
        fit, rollouts, method, seeds=options.seeds, preset=preset, device=options.device
    )
    if options.device == "cuda":
        train(**_steps(method, 20))
    # A method's own number, where it has one, comes before the preset's.
    whole = OWN_NUMBERS.get(method, {}).get("num_steps", hyperparameters(preset).num_steps)
    steps = _steps(method, round(options.share * whole))
    started = clock()
    train(**steps)
    return clock() - started


def _steps(method: str, num_steps: int) -> dict[str, Any]:
    return {f"{method}.num_steps" if method in OWN_NUMBERS else "num_steps": num_steps}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--episodes", type=int, default=100)
    parser.add_argument("--paper", action="store_true", help="also liveness by the paper's numbers")
    parser.add_argument("--share", type=float, default=1.0, help="of every network's steps")
    options = parser.parse_args()
    rollouts = walks(options.episodes)
    asked = [("liveness", "default"), ("lambda-returns", "default")]
    asked += [("liveness", "libero")] if options.paper else []
    found = {
        (method, preset): seconds(rollouts, method, preset, options) for method, preset in asked
    }
    reference = found["liveness", "default"]
    share = "" if options.share == 1 else f", {options.share:g} of the steps"
    print(f"{options.episodes} episodes, {options.seeds} seeds, {options.device}{share}")
    for (method, preset), took in found.items():
        print(f"{method:16} {preset:8} {took:8.1f} s  {took / reference:5.2f} x liveness")


if __name__ == "__main__":
    main()
