"""Learning from features that do not fit in memory: how much it takes, and how fast it is.

    python benchmarks/larger_than_memory.py memory [--gb 0.3] [--times 1 2 4] [--block-mb 64]
    python benchmarks/larger_than_memory.py speed [--gb 20] [--runs 25] [--steps 4000]

Features are random float16 numbers in a file, 1,544 of a frame, 200 frames an episode.

`memory` reads the file as `goalward fit` does, fits and predicts, a process for each size, and says
the most memory that the process could not have given back: `RssAnon` of /proc/self/status, looked
at every 10 ms, less what it was before. Pages of mapped files are not in it: the system takes them
back when it is short of memory. With `--limit-mb` the largest size is done once more by a process
that may not have more than that of private memory (RLIMIT_DATA): it ends with an error if it tries.

`speed` trains the same networks for the same number of steps from features that are all in memory
(of the GPU, with one) and from the file in blocks, and says seconds and microseconds per run and
step; mean and deviation of the features are worked out before, as both need them.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from goalward.rollouts.endings import Endings
from goalward.training.fit import train
from goalward.training.frames.inputs import standardisation
from goalward.training.frames.training_frames import TrainingFrames
from goalward.training.methods.presets import hyperparameters
from goalward.training.methods.table import METHODS
from goalward.training.runs import plan_run

SIZE, LENGTH = 1544, 200
_MEGABYTE = 1 << 20


def write_features(path: Path, num_bytes: float) -> tuple[int, int]:
    """A plain file of float16 numbers: the same 4,096 rows over and over, shifted. Its shape."""
    num_episodes = max(int(num_bytes / (2 * SIZE * LENGTH)), 8)
    draws = np.random.default_rng(0)
    some = draws.standard_normal((4096, SIZE), dtype=np.float32).astype(np.float16)
    left = num_episodes * LENGTH
    with path.open("wb") as file:
        while left:
            part = np.roll(some, int(draws.integers(SIZE)), axis=1)[:left]
            file.write(np.ascontiguousarray(part).data)
            left -= len(part)
    return num_episodes * LENGTH, SIZE


def frames_of(features: np.ndarray) -> TrainingFrames:
    count = len(features) // LENGTH
    ends = np.arange(1, count + 1) * LENGTH
    goals = np.where(np.arange(count) % 2 == 0, LENGTH - 1, -1)
    names = tuple(str(number) for number in range(count))
    nothing = np.zeros((len(features), 0), dtype=np.float32)
    return TrainingFrames(features, Endings(ends, goals), ("",) * count, names, nothing)


# ---- memory -------------------------------------------------------------------------------------


def own_bytes() -> int:
    """Resident memory of this process that lies in no file."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) * 1024
    raise SystemExit("this system does not say RssAnon")


class Peak:
    """The most own memory while it is open, looked at by a thread."""

    def __enter__(self) -> "Peak":
        self.before = self.most = own_bytes()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()
        return self

    def _look(self) -> None:
        while not self._over.wait(0.01):
            self.most = max(self.most, own_bytes())

    def __exit__(self, *error: object) -> None:
        self._over.set()
        self._thread.join()

    @property
    def added(self) -> int:
        return self.most - self.before


def fit_a_file(path: Path, methods: list[str], options: dict[str, Any]) -> dict[str, float]:
    """Peaks of reading, fitting and predicting, in bytes."""
    import goalward
    from goalward.training.stored.feature_file import read_features

    found: dict[str, float] = {}
    with Peak() as peak:
        rollouts = read_features(path)
        found["frames"] = rollouts.num_frames
        found["read"] = peak.added
    started = time.perf_counter()
    with Peak() as peak:
        fitted = goalward.fit(rollouts, methods, seeds=1, device="cpu", **options)
    found["fit"], found["fit_s"] = peak.added, time.perf_counter() - started
    with Peak() as peak:
        fitted.predict(rollouts, device="cpu")
    found["predict"] = peak.added
    return found


def memory(options: argparse.Namespace) -> None:
    numbers = {"width": 64, "num_steps": options.steps, "block_mb": options.block_mb}
    print(f"blocks of {options.block_mb:g} MB, {', '.join(options.methods)}, {options.steps} steps")
    print("    file MB     frames  read MB   fit MB  predict MB  fit s")
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        for times in options.times:
            path = Path(folder) / "features.npz"
            write_npz(path, options.gb * times * 1e9)
            limits = [0, options.limit_mb] if times == max(options.times) else [0]
            for limit in dict.fromkeys(limits):
                told = json.dumps([str(path), options.methods, numbers, limit])
                command = [sys.executable, __file__, "one", told]
                answer = subprocess.run(command, capture_output=True, text=True, check=False)
                if answer.returncode:
                    raise SystemExit(answer.stderr[-2000:])
                found = json.loads(answer.stdout.splitlines()[-1])
                parts = [found[name] / _MEGABYTE for name in ("read", "fit", "predict")]
                print(
                    f"{path.stat().st_size / _MEGABYTE:>11.0f} {found['frames']:>10} "
                    f"{parts[0]:>8.0f} {parts[1]:>8.0f} {parts[2]:>11.0f} {found['fit_s']:>6.1f}"
                    + (f"   with no more than {limit} MB allowed" if limit else ""),
                    flush=True,
                )


def write_npz(path: Path, num_bytes: float) -> None:
    """As `np.savez` writes it, without having it all in memory."""
    plain = path.with_suffix(".raw")
    shape = write_features(plain, num_bytes)
    count = shape[0] // LENGTH
    with path.open("wb") as file:
        np.savez(
            file,
            features=np.memmap(plain, np.float16, "r", shape=shape),
            episode_ends=np.arange(1, count + 1) * LENGTH,
            outcomes=np.array(["success", "time_out"] * count)[:count],
        )
    plain.unlink()


def one(told: str) -> None:
    path, methods, numbers, limit = json.loads(told)
    if limit:
        import goalward  # noqa: F401  # what is loaded does not count

        resource.setrlimit(resource.RLIMIT_DATA, (private_bytes() + limit * _MEGABYTE,) * 2)
    print(json.dumps(fit_a_file(Path(path), methods, numbers)))


def private_bytes() -> int:
    """What RLIMIT_DATA counts already."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmData:"):
            return int(line.split()[1]) * 1024
    return 0


# ---- speed --------------------------------------------------------------------------------------


def speed(options: argparse.Namespace) -> None:
    device = torch.device(options.device)
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        path = Path(folder) / "features.raw"
        started = time.perf_counter()
        shape = write_features(path, options.gb * 1e9)
        mapped = np.memmap(path, np.float16, "r", shape=shape)
        print(
            f"{mapped.nbytes / 1e9:.1f} GB, {shape[0]} frames, written in "
            f"{time.perf_counter() - started:.0f} s; {options.runs} runs x {options.steps} steps",
            flush=True,
        )
        frames = frames_of(mapped)
        numbers = hyperparameters("libero", capacity=None, num_steps=options.steps)
        numbers = numbers.for_horizon(frames.horizon)
        runs = [
            plan_run(frames, METHODS[options.methods[0]], seed, range(frames.num_episodes), numbers)
            for seed in range(options.runs)
        ]
        started = time.perf_counter()
        standardisation(frames, [run.episodes for run in runs])
        print(f"mean and deviation: {time.perf_counter() - started:.1f} s", flush=True)
        whole = replace(numbers, block_mb=1e9)
        _timed(
            "all in memory", lambda: train(_in_memory(frames), runs, whole, device=device), options
        )
        for block_mb in options.blocks:
            own = replace(numbers, block_mb=block_mb)
            _timed(
                f"blocks of {block_mb:g} MB",
                lambda own=own: train(frames, runs, own, device=device),
                options,
            )


def _in_memory(frames: TrainingFrames) -> TrainingFrames:
    loaded = replace(frames, features=np.array(frames.features))
    loaded.scalings.update(frames.scalings)
    return loaded


def _timed(what: str, work: Callable[[], Any], options: argparse.Namespace) -> None:
    started = time.perf_counter()
    work()
    seconds = time.perf_counter() - started
    each = seconds / (options.runs * options.steps) * 1e6
    print(f"{what:>20}: {seconds:6.1f} s, {each:.1f} us per run and step", flush=True)


def main() -> None:
    if sys.argv[1:2] == ["one"]:
        one(sys.argv[2])
        return
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["memory", "speed"])
    parser.add_argument("--gb", type=float, default=0.3)
    parser.add_argument("--times", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--methods", nargs="+", default=["liveness-nb"])
    parser.add_argument("--block-mb", type=float, default=64.0)
    parser.add_argument("--blocks", type=float, nargs="+", default=[2048.0])
    parser.add_argument("--limit-mb", type=int, default=0)
    parser.add_argument("--runs", type=int, default=25)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--folder", default=None, help="where the file lies; not in memory")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    options = parser.parse_args()
    {"memory": memory, "speed": speed}[options.what](options)


if __name__ == "__main__":
    main()
