"""A monitor on 2 cores: time per frame, memory and start-up; its alarm beside simple rules.

    python benchmarks/monitor.py latency                            # effnet-lite0 and a ViT-B
    python benchmarks/monitor.py alarm demo --encoder effnet-lite0
    python benchmarks/monitor.py alarm worlds/mw-pick-place_train.npz
    python benchmarks/monitor.py alarm --stand-in                   # a world made here, in minutes
    python benchmarks/monitor.py alarm worlds/mw-pick-place_train.npz --run RUN   # fresh: the rest

`alarm` cuts the episodes into parts: one part is fresh, a run on the others makes the band by its
own folds, and its networks judge the fresh part, as a robot would have it. Each part is fresh once.
Rules are given the same successes and the same bound: how long an episode has lasted, how long
nothing moved (the longest stretch of frames whose numbers change by less than a tenth of what is
usual), how little way was made in the last 20 frames, and a limit on the value that is the same at
every frame. Where a world knows what went wrong (a stand-in, or the events of
case_studies/truth/record.py), a second table says how long after the last such frame of a time-out
each rule spoke.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import goalward
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.episode import Episode, Outcome
from goalward.rollouts.frames import ArrayFrames
from monitor_alarms import judge, judge_rest, stand_in
from recorded_world import last_events, recorded

VIT_B: dict[str, Any] = {"hidden_size": 768, "intermediate_size": 3072, "num_hidden_layers": 12}
VIT_B |= {"num_attention_heads": 12, "patch_size": 16}


# ---- time per frame -----------------------------------------------------------------------------


def filmed(num_episodes: int, size: int) -> Rollouts:
    """Episodes of one camera; what they show does not matter to the clock."""
    generator = np.random.default_rng(0)
    episodes = []
    for number in range(num_episodes):
        good = number % 2 == 0
        pictures = generator.integers(0, 256, (4, size, size, 3), dtype=np.uint8)
        cameras = {"front": ArrayFrames(pictures)}
        outcome = Outcome.SUCCESS if good else Outcome.TIME_OUT
        state = generator.normal(size=(4, 7)).astype(np.float32)
        episodes.append(
            Episode(
                str(number),
                4,
                outcome,
                3 if good else None,
                fps=10.0,
                cameras=cameras,
                proprioception=state,
            )
        )
    return Rollouts(episodes)


def write_monitor(encoder: str, precision: str, place: Path) -> Path:
    """With as many networks as `goalward evaluate` has, hardly trained: they take as long."""
    run = goalward.evaluate(
        filmed(8, 256),
        place / "run",
        encoder=encoder,
        embedding={"cache": str(place / "cache"), "precision": precision},
        report=False,
        progress=False,
        num_steps=4,
        batch_size=8,
    )
    return goalward.export(run, "onnx", progress=False).path


def latency(num_frames: int) -> None:
    sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
    from rollout_files.vision_models import write_model

    print(
        "| encoder | start-up, s | median, ms | p99, ms | processor, ms | memory, MB | folder, MB |"
    )
    print("|---|---|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as place:
        vit = str(write_model(Path(place) / "model", "siglip", **VIT_B))
        for name, encoder, precision in (
            ("effnet-lite0", "effnet-lite0", "float"),
            ("ViT-B/16", vit, "float"),
            ("ViT-B/16, int8", vit, "int8"),
        ):
            here = Path(place) / name.replace("/", "-")
            here.mkdir()
            folder = write_monitor(encoder, precision, here)
            # In a process of its own: nothing of training is in its memory or its caches.
            code = [sys.executable, __file__, "frames", str(folder), str(num_frames)]
            told = json.loads(subprocess.run(code, check=True, capture_output=True).stdout)
            size = sum(file.stat().st_size for file in folder.iterdir()) / 1e6
            print(
                f"| {name} | {told['start']:.2f} | {told['median']:.1f} | {told['p99']:.1f} | "
                f"{told['processor']:.1f} | {told['memory']:.0f} | {size:.0f} |",
                flush=True,
            )


def frames(folder: Path, num_frames: int) -> None:
    started = time.perf_counter()
    monitor = goalward.Monitor.load(folder)
    generator = np.random.default_rng(0)
    camera = monitor.settings.cameras[0]
    shape = (16, camera.height, camera.width, 3)
    pictures = generator.integers(0, 256, shape, dtype=np.uint8)
    state = np.zeros(monitor.settings.num_state)
    monitor.step(pictures[:1], state)
    start = time.perf_counter() - started
    taken, processor = [], []
    for number in range(num_frames):
        before, before_cpu = time.perf_counter(), time.process_time()
        monitor.step(pictures[number % 16][None], state)
        taken.append(1000 * (time.perf_counter() - before))
        # What it costs whatever else the machine has to do.
        processor.append(1000 * (time.process_time() - before_cpu))
    assert "torch" not in sys.modules
    # Not getrusage, which counts what the process was before it became this program.
    status = Path("/proc/self/status").read_text()
    memory = int(status.split("VmHWM:")[1].split()[0]) / 1024
    told = {"start": start, "median": np.median(taken), "p99": np.percentile(taken, 99)}
    told |= {"processor": np.median(processor)}
    print(json.dumps(told | {"memory": memory}))


def embedded(path: str, encoder: str) -> Rollouts:
    return goalward.embed(goalward.read(path), encoder)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    verbs = parser.add_subparsers(dest="verb", required=True)
    speed = verbs.add_parser("latency")
    speed.add_argument("--frames", type=int, default=300)
    one = verbs.add_parser("frames")
    one.add_argument("folder", type=Path)
    one.add_argument("num", type=int)
    alarm = verbs.add_parser("alarm")
    alarm.add_argument("path", nargs="?", default="")
    alarm.add_argument("--stand-in", action="store_true")
    alarm.add_argument("--encoder", default="effnet-lite0")
    alarm.add_argument("--effort", default="quick")
    alarm.add_argument("--episodes", type=int, default=200)
    alarm.add_argument("--parts", type=int, default=2)
    alarm.add_argument("--run", type=Path, help="a run on the first of these episodes")
    options = parser.parse_args()
    doors: dict[str, Callable[[], None]] = {
        "latency": lambda: latency(options.frames),
        "frames": lambda: frames(options.folder, options.num),
    }
    if options.verb in doors:
        doors[options.verb]()
        return
    lost_at: dict[str, int] = {}
    if options.stand_in:
        rollouts, lost_at = stand_in(options.episodes)
    elif options.path.endswith(".npz"):
        rollouts, _ = recorded(Path(options.path), options.episodes)
        lost_at = last_events(Path(options.path))
    else:
        rollouts = embedded(options.path, options.encoder)
    if options.run is not None:
        judge_rest(rollouts, options.run, lost_at)
        return
    judge(rollouts, options.parts, options.effort, lost_at)


if __name__ == "__main__":
    main()
