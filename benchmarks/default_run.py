"""What `goalward evaluate` takes with its defaults: planned and actual minutes, and memory.

    python benchmarks/default_run.py ROLLOUTS ...      # folders of rollouts with cameras
    python benchmarks/default_run.py --made            # 300 tasks of 4 episodes, and 30 frames

Each run is a process of its own with an empty cache, so that its peak memory is its own. The
machine should have nothing else to do: planned minutes come from short tries before the work.
"""

import argparse
import json
import logging
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import goalward
from goalward.rollouts.dataset import Rollouts

MANY_TASKS = (300, 4, 100)
FEW_FRAMES = (1, 6, 5)


def made(num_tasks: int, per_task: int, num_frames: int, size: int = 64) -> Rollouts:
    """Episodes of a square that walks to a corner, or does not; every second one succeeds."""
    draws = np.random.default_rng(0)
    number = num_tasks * per_task
    walked = np.linspace(0, 1, num_frames)

    def film(episode: int) -> np.ndarray:
        frames = np.full((num_frames, size, size, 3), 40 + episode % 50, np.uint8)
        share = walked if episode % 2 == 0 else 0.5 * walked
        for frame, place in zip(frames, (share * (size - 12)).astype(int), strict=True):
            frame[place : place + 12, place : place + 12] = 220
        return frames

    state = [
        np.stack([walked * (1 if episode % 2 == 0 else 0.5), draws.normal(size=num_frames)], axis=1)
        for episode in range(number)
    ]
    # Of many tasks the training is asked for: their numbers are features, and nothing is embedded.
    with_pictures = num_tasks == 1
    return goalward.from_arrays(
        None if with_pictures else state,
        images={"front": [film(episode) for episode in range(number)]} if with_pictures else None,
        proprioception=state if with_pictures else None,
        success=[episode % 2 == 0 for episode in range(number)],
        tasks=[f"task {episode // per_task}" for episode in range(number)],
    )


def one_run(what: str, out: Path) -> None:
    """In a process of its own: evaluate, and tell what was planned and what it took."""
    shapes = {"many tasks": MANY_TASKS, "few frames": FEW_FRAMES}
    rollouts = made(*shapes[what]) if what in shapes else goalward.read(what)
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    started = time.monotonic()
    goalward.plan(rollouts, encoder="effnet-lite0")
    planned = time.monotonic() - started
    run = goalward.evaluate(rollouts, out=out / "run", encoder="effnet-lite0")
    told = {
        "episodes": len(rollouts),
        "frames": rollouts.num_frames,
        "plan_seconds": planned,
        "seconds": time.monotonic() - started - planned,
        "gigabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6,
        "trust": str(run.trust.grade),
    }
    (out / "told.json").write_text(json.dumps(told), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("rollouts", nargs="*")
    parser.add_argument("--made", action="store_true")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        one_run(options.one[0], Path(options.one[1]))
        return
    wanted = [*options.rollouts, *(["few frames", "many tasks"] if options.made else [])]
    print("| rollouts | episodes | frames | plan | planned and actual | in all | memory |")
    print("|---|---|---|---|---|---|---|")
    for what in wanted:
        with tempfile.TemporaryDirectory() as place:
            child = subprocess.run(
                [sys.executable, __file__, "--one", what, place],
                env=os.environ | {"XDG_CACHE_HOME": place},
                capture_output=True,
                text=True,
                check=False,
            )
            if child.returncode:
                print(f"| {what} | failed: {child.stderr[-600:]} |")
                continue
            told = json.loads((Path(place) / "told.json").read_text(encoding="utf-8"))
        against = [line for line in child.stderr.splitlines() if "planned" in line]
        print(
            f"| {Path(what).name} | {told['episodes']} | {told['frames']:,} | "
            f"{told['plan_seconds']:.1f} s | {'; '.join(against)} | {told['seconds']:.0f} s | "
            f"{told['gigabytes']:.1f} GB |",
            flush=True,
        )


if __name__ == "__main__":
    main()
