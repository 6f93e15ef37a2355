"""What our method costs against the paper's, on the same episodes with the same seeds.

    python benchmarks/method_cost.py [--device cuda] [--seeds 1] [--episodes 100]

Made-up episodes of 250 frames with 24 numbers each; both methods train by their defaults (and the
paper's by the paper's own numbers too, with `--paper`). Seconds are of processor time on a CPU,
which other work on the machine does not change, and of wall time on CUDA.
"""

import argparse
import time

import numpy as np
import torch

import goalward
from goalward.values.fit import fit


def walks(num_episodes: int) -> goalward.Rollouts:
    rng = np.random.default_rng(0)
    features = [rng.normal(size=(250, 24)).cumsum(axis=0) for _ in range(num_episodes)]
    return goalward.from_arrays(features, success=[i % 2 == 0 for i in range(num_episodes)])


def seconds(
    rollouts: goalward.Rollouts, method: str, preset: str, seeds: int, device: str
) -> float:
    clock = time.perf_counter if device == "cuda" else time.process_time
    started = clock()
    fit(rollouts, method, seeds=seeds, preset=preset, device=device)
    return clock() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--episodes", type=int, default=100)
    parser.add_argument("--paper", action="store_true", help="also liveness by the paper's numbers")
    options = parser.parse_args()
    rollouts = walks(options.episodes)
    asked = [("liveness", "default"), ("lambda-returns", "default")]
    asked += [("liveness", "libero")] if options.paper else []
    found = {
        (method, preset): seconds(rollouts, method, preset, options.seeds, options.device)
        for method, preset in asked
    }
    reference = found["liveness", "default"]
    print(f"{options.episodes} episodes, {options.seeds} seeds, {options.device}")
    for (method, preset), took in found.items():
        print(f"{method:16} {preset:8} {took:8.1f} s  {took / reference:5.2f} x liveness")


if __name__ == "__main__":
    main()
