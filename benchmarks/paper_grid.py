"""Wall time of the paper's whole grid of trainings, on random features of the real shapes.

    python benchmarks/paper_grid.py [--share 1.0] [--device cuda]

11 data sets (LIBERO and Square with 50 to 200 episodes, cloth with 50 to 150), five methods with
six stages in all, 5 seeds, 10,000 gradient steps: 330 stage-trainings. The first stage of
`liveness` is `liveness-nb`, and the same network is trained once: 275 are left. `--share` takes
that share of the steps, for machines without a GPU.
"""

import argparse
import time
from dataclasses import replace

import numpy as np
import torch

import goalward
from goalward.training.fit import train
from goalward.training.frames.training_frames import TrainingFrames, training_frames
from goalward.training.methods.presets import PRESETS
from goalward.training.methods.table import find_method
from goalward.training.runs import all_runs, plan_run

METHODS = ("liveness", "liveness-nb", "td", "mc", "mc-dist")
SEEDS = range(5)
# preset, features per frame, time-out, mean steps of a success, data set sizes
CASES = (
    ("libero", 1544, 250, 120, (50, 100, 150, 200)),
    ("square", 3090, 200, 130, (50, 100, 150, 200)),
    ("cloth", 768, 200, 130, (50, 100, 150)),
)


def random_frames(
    num_episodes: int, size: int, time_out: int, success_steps: int
) -> TrainingFrames:
    """Successes and time-outs in turn, so that the first episodes of any number are balanced."""
    rng = np.random.default_rng(0)
    success = np.arange(num_episodes) % 2 == 0
    lengths = np.where(success, rng.normal(success_steps, 20, num_episodes).astype(int), time_out)
    ends = np.cumsum(lengths)
    features = rng.standard_normal((ends[-1], size), dtype=np.float32)
    return training_frames(goalward.from_arrays(features, success=success, episode_ends=ends))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--share", type=float, default=1.0)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    options = parser.parse_args()
    total = wanted = trained = 0.0
    for preset, size, time_out, success_steps, sizes in CASES:
        frames = random_frames(max(sizes), size, time_out, success_steps)
        numbers = PRESETS[preset].for_horizon(frames.horizon)
        numbers = replace(numbers, num_steps=max(int(numbers.num_steps * options.share), 2))
        started = time.perf_counter()
        runs = [
            plan_run(frames, find_method(method), seed, range(count), numbers, name=str(count))
            for count in sizes
            for method in METHODS
            for seed in SEEDS
        ]
        train(frames, runs, numbers, device=options.device)
        seconds = time.perf_counter() - started
        count = sum(len(group) for wave in all_runs(runs) for group in wave)
        total, trained = total + seconds, trained + count
        wanted += len(runs) + len(sizes) * len(SEEDS)
        per_step = seconds / (count * numbers.num_steps) * 1e6
        print(
            f"{preset:>7}: {frames.num_frames} frames x {size}, {count} networks x "
            f"{numbers.num_steps} steps in {seconds:.1f} s, {per_step:.1f} us per run and step",
            flush=True,
        )
    print(f"{wanted:.0f} stage-trainings, {trained:.0f} of them different: {total:.0f} s")


if __name__ == "__main__":
    main()
