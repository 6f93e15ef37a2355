"""What it costs to cut work into pieces, and what more workers bring, on this machine.

    python benchmarks/many_machines.py overhead [--pieces 200] [--rounds 3]
    python benchmarks/many_machines.py workers [--work simulation encoding] [--workers 1 2 4 8 16]

`overhead`: pieces that do nothing, by processes of this machine and by Ray; the time of one is what
the executor takes for itself. Starting is apart.

`workers`: real pieces, as many for each worker whatever their number. The efficiency is how much of
every worker arrives: frames per second of n workers over n times those of one. `simulation` runs
episodes of the cloth; `encoding` passes frames that are made up through a network of the size of
SigLIP 2 base on one thread; `clips` decodes them from an h264 video of 224 pixels first (PyAV).
The best of some rounds, as other programs may be at work.
"""

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from goalward.executors.choice import executor_on

_FRAMES_PER_EPISODE = 60
_FRAMES_PER_CLIP = 4
_SIDE, _PATCH, _WIDTH = 224, 16, 768


@dataclass(frozen=True)
class Nothing:
    number: int

    def do(self, station: float, /) -> int:
        return self.number


def build(seconds: float) -> float:
    return seconds


# ---------------------------------------------------------------- simulation


@dataclass(frozen=True)
class Episode:
    """So many frames of the cloth, with an operator who never gives up."""

    number: int

    def do(self, station: Any, /) -> int:
        from goalward.simulate.recording.trace import run_episode

        world, policy = station
        frames, seed = 0, 1000 * self.number
        while frames < _FRAMES_PER_EPISODE:
            left = _FRAMES_PER_EPISODE - frames
            frames += len(run_episode(world, policy, seed, time_out=left).actions)
            seed += 1
        return frames


def build_cloth() -> Any:
    from goalward.simulate.truth import TaskStage

    return TaskStage.of("cloth", "retry")()


# ---------------------------------------------------------------- decoding and encoding


@dataclass(frozen=True)
class Clip:
    number: int

    def do(self, station: Any, /) -> int:
        encode, frames = station
        return encode(frames(self.number))


def build_encoder(video: Path | None) -> Any:
    """A network of SigLIP 2 base's size, random: what it costs does not depend on its weights."""
    import torch
    from torch import nn

    torch.set_num_threads(1)
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(
        _WIDTH, 12, 4 * _WIDTH, 0.0, "gelu", batch_first=True, norm_first=True
    )
    patches = nn.Conv2d(3, _WIDTH, _PATCH, _PATCH)
    net = nn.TransformerEncoder(layer, 12, enable_nested_tensor=False).eval()

    def encode(frames: np.ndarray) -> int:
        with torch.inference_mode():
            pixels = torch.from_numpy(frames).permute(0, 3, 1, 2).float() / 127.5 - 1
            net(patches(pixels).flatten(2).transpose(1, 2)).mean(1)
        return len(frames)

    return encode, _made_up if video is None else partial(_decoded, video)


def _made_up(number: int) -> np.ndarray:
    random = np.random.default_rng(number)
    return random.integers(0, 256, (_FRAMES_PER_CLIP, _SIDE, _SIDE, 3), dtype=np.uint8)


def _decoded(video: Path, number: int) -> np.ndarray:
    from goalward.rollouts.video.reading import VideoFrames

    times = np.arange(_FRAMES_PER_CLIP) / 30.0
    return np.stack(list(VideoFrames(video, times, 30.0)))


def _write_video(folder: Path) -> Path:
    from goalward.rollouts.video.writer import VideoWriter

    path = folder / "clip.mp4"
    ramp = np.linspace(0, 255, _SIDE, dtype=np.uint8)
    with VideoWriter(path, 30) as writer:
        for shift in range(_FRAMES_PER_CLIP):
            picture = np.broadcast_to(np.roll(ramp, 7 * shift)[:, None, None], (_SIDE, _SIDE, 3))
            writer.add(np.ascontiguousarray(picture))
    return path


# ---------------------------------------------------------------- measuring


def overhead(num_pieces: int, rounds: int) -> None:
    print("| executor | workers | start, s | per piece, ms |")
    print("|---|---|---|---|")
    for on in ("local", "ray"):
        if on == "ray" and find_spec("ray") is None:
            print("ray is not installed (make ray)")
            continue
        for num_workers in (1, 2):
            started = time.perf_counter()
            with executor_on(on, partial(build, 0.0), num_workers) as executor:
                # All workers are there when each has had something to do.
                for _ in executor.results(iter([Nothing(n) for n in range(4 * num_workers)])):
                    pass
                start_s = time.perf_counter() - started
                times = []
                for _ in range(rounds):
                    began = time.perf_counter()
                    for _ in executor.results(iter([Nothing(n) for n in range(num_pieces)])):
                        pass
                    times.append((time.perf_counter() - began) / num_pieces)
            print(f"| {on} | {num_workers} | {start_s:.1f} | {1e3 * min(times):.2f} |", flush=True)


def workers(
    work: str, counts: list[int], seconds: float, rounds: int, on: str
) -> list[dict[str, Any]]:
    """Frames per second by each number of workers; about so many seconds a round."""
    with tempfile.TemporaryDirectory() as folder:
        video = _write_video(Path(folder)) if work == "clips" else None
        station: Callable[[], Any] = (
            build_cloth if work == "simulation" else partial(build_encoder, video)
        )
        piece = Episode if work == "simulation" else Clip
        rows: list[dict[str, Any]] = []
        each = None
        for num_workers in counts:
            with executor_on(on, station, num_workers) as executor:
                # All workers are there when each has had something to do.
                list(executor.results(iter([piece(n) for n in range(2 * num_workers)])))
                if each is None:
                    began = time.perf_counter()
                    list(executor.results(iter([piece(n) for n in range(2)])))
                    each = max(2, round(seconds * 2 / (time.perf_counter() - began)))
                speeds = []
                for _ in range(rounds):
                    pieces = [piece(n) for n in range(each * num_workers)]
                    began = time.perf_counter()
                    frames = sum(done for _, done in executor.results(iter(pieces)))
                    speeds.append(frames / (time.perf_counter() - began))
            first = rows[0] if rows else {"speed": max(speeds), "workers": num_workers}
            share = max(speeds) / num_workers / (first["speed"] / first["workers"])
            rows.append(
                {
                    "work": work,
                    "workers": num_workers,
                    "speed": max(speeds),
                    "efficiency": share,
                    "load": os.getloadavg()[0],
                }
            )
            told = f"{max(speeds):,.1f} | {share:.2f} | {os.getloadavg()[0]:.1f}"
            print(f"| {work} | {on} | {num_workers} | {told} |", flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser()
    verbs = parser.add_subparsers(dest="verb", required=True)
    first = verbs.add_parser("overhead")
    first.add_argument("--pieces", type=int, default=200)
    second = verbs.add_parser("workers")
    second.add_argument("--work", nargs="+", default=["simulation", "encoding", "clips"])
    second.add_argument("--workers", nargs="+", type=int, default=[1, 2])
    second.add_argument("--seconds", type=float, default=5.0)
    second.add_argument("--on", default="local")
    second.add_argument("--json", type=Path, help="write the table to this file too")
    for verb in (first, second):
        verb.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    if asked.verb == "overhead":
        overhead(asked.pieces, asked.rounds)
        return
    print("| work | executor | workers | frames per second | efficiency | load |")
    print("|---|---|---|---|---|---|", flush=True)
    rows: list[dict[str, Any]] = []
    for work in asked.work:
        rows += workers(work, asked.workers, asked.seconds, asked.rounds, asked.on)
        if asked.json is not None:
            asked.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    # Workers of other machines find pieces by the name of their module, which is not __main__.
    import many_machines

    many_machines.main()
