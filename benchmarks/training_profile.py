"""Where the time of a training on CUDA goes: the phases of a grid, and the kernels of a batch.

    python benchmarks/training_profile.py phases [--share 0.1] [--presets libero square cloth]
    python benchmarks/training_profile.py kernels [--runs 20 100] [--size 1544]

`phases` trains the paper's grid (`benchmarks/paper_grid.py`) and says what each group spends on
its problem (placement, standardisation), the state before the first batch, warm-up (kernels are
made, the graph is captured), batches, evaluation and the values it builds on. `kernels` lists the
kernels of a batch of training by the time they take.
"""

import argparse
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch

from goalward.training import fit
from goalward.training.methods.presets import PRESETS
from goalward.training.methods.table import find_method
from goalward.training.runs import all_runs, plan_run
from paper_grid import CASES, METHODS, SEEDS
from paper_grid import random_frames as frames_of_grid
from train_step import random_frames, side_by_side

# Kernels of the first batches are made and captured in them.
_WARM_UP = 4


class Clock:
    """Seconds by phase; work on the device is waited for at the end of each."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)

    def timed(self, phase: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            self._wait()
            started = time.perf_counter()
            result = function(*arguments, **options)
            self._wait()
            self.seconds[phase] += time.perf_counter() - started
            return result

        return call

    def trainer(self, make: Callable[..., Callable[[], None]]) -> Callable[..., Any]:
        """Batches after the warm-up are not waited for one by one."""

        def made(*arguments: Any) -> Callable[[], None]:
            advance = make(*arguments)
            warm_up = self.timed("warm-up", advance)
            calls = 0

            def call() -> None:
                nonlocal calls
                calls += 1
                (warm_up if calls <= _WARM_UP else advance)()

            return call

        return made

    @staticmethod
    def _wait() -> None:
        if torch.cuda.is_available():
            torch.cuda.synchronize()


def phases(share: float, presets: list[str], device: str) -> None:
    parts = ("anchor_values", "problem_of", "initial_state", "evaluate")
    original = {name: getattr(fit, name) for name in (*parts, "batch_trainer", "_train_group")}
    for preset, size, time_out, success_steps, sizes in CASES:
        if preset not in presets:
            continue
        frames = frames_of_grid(max(sizes), size, time_out, success_steps)
        numbers = PRESETS[preset].for_horizon(frames.horizon)
        numbers = replace(numbers, num_steps=max(int(numbers.num_steps * share), 2))
        runs = [
            plan_run(frames, find_method(method), seed, range(count), numbers, name=str(count))
            for count in sizes
            for method in METHODS
            for seed in SEEDS
        ]
        clock = Clock()
        for name in parts:
            setattr(fit, name, clock.timed(name, original[name]))
        fit.batch_trainer = clock.trainer(original["batch_trainer"])
        groups: list[tuple[int, float, float]] = []

        def trained(problem: Any, *others: Any, clock: Clock = clock, groups: Any = groups) -> Any:
            inside = ("initial_state", "evaluate", "warm-up")
            before = sum(clock.seconds[name] for name in inside)
            started = time.perf_counter()
            nets = original["_train_group"](problem, *others)
            spent = time.perf_counter() - started
            spent -= sum(clock.seconds[name] for name in inside) - before
            clock.seconds["batches"] += spent
            steps = problem.numbers.num_batches * problem.numbers.gradient_steps_per_batch
            groups.append((len(problem.runs), spent, spent / (steps * len(problem.runs)) * 1e6))
            return nets

        fit._train_group = trained
        started = time.perf_counter()
        fit.train(frames, runs, numbers, device=device)
        total = time.perf_counter() - started
        clock.seconds["the rest"] = total - sum(clock.seconds.values())
        count = sum(len(group) for wave in all_runs(runs) for group in wave)
        print(f"{preset}: {count} networks x {numbers.num_steps} steps in {total:.1f} s")
        for name, seconds in sorted(clock.seconds.items(), key=lambda item: -item[1]):
            print(f"    {name:>14} {seconds:7.2f} s")
        for num, seconds, each in groups:
            print(f"    {num:>3} networks: batches {seconds:.2f} s, {each:.1f} us per run and step")
        print(end="", flush=True)
    for name, function in original.items():
        setattr(fit, name, function)


def kernels(run_counts: list[int], size: int, num_frames: int, device: torch.device) -> None:
    from torch.profiler import ProfilerActivity, profile

    frames = random_frames(num_frames, size)
    for num_runs in run_counts:
        advance = side_by_side(frames, num_runs, device)
        for _ in range(_WARM_UP + 2):
            advance()
        torch.cuda.synchronize()
        with profile(activities=[ProfilerActivity.CUDA, ProfilerActivity.CPU]) as seen:
            for _ in range(5):
                advance()
            torch.cuda.synchronize()
        rows = [
            (event.key, event.self_device_time_total / 5, event.count // 5)
            for event in seen.key_averages()
            if event.self_device_time_total > 0
        ]
        rows.sort(key=lambda row: -row[1])
        total, count = sum(row[1] for row in rows), sum(row[2] for row in rows)
        per_step = total / (2 * num_runs)
        print(
            f"{num_runs} runs: {count} kernels and {total:.0f} us a batch, {per_step:.1f} us each"
        )
        for name, microseconds, number in rows[:28]:
            print(f"    {microseconds / (2 * num_runs):7.2f} us {number:>4} x  {name[:90]}")
        print(end="", flush=True)
        del advance


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["phases", "kernels"])
    parser.add_argument("--share", type=float, default=0.1)
    parser.add_argument("--presets", nargs="+", default=[case[0] for case in CASES])
    parser.add_argument("--runs", type=int, nargs="+", default=[20, 100])
    parser.add_argument("--size", type=int, default=1544)
    parser.add_argument("--frames", type=int, default=40_000)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    options = parser.parse_args()
    if options.what == "phases":
        phases(options.share, options.presets, options.device)
    else:
        kernels(options.runs, options.size, options.frames, torch.device(options.device))


if __name__ == "__main__":
    main()
