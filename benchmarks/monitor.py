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
usual), and a limit on the value that is the same at every frame.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import goalward
from goalward.monitor.band import band_of, conformal_rank
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.episode import Episode, Outcome
from goalward.rollouts.frames import ArrayFrames

LEVEL = 0.05
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


# ---- the alarm ----------------------------------------------------------------------------------


def stand_in(num_episodes: int) -> tuple[Rollouts, dict[str, int]]:
    """A hand on its way to a goal that sometimes gets stuck for good; when is known exactly.

    Of the episodes, a third get stuck, after 5 to 25 steps; the clock runs out after 60. The
    others arrive after 25 to 50, with pauses that look as stuck hands do at first.
    """
    generator = np.random.default_rng(0)
    episodes: list[Episode] = []
    rows: list[np.ndarray] = []
    stuck_at: dict[str, int] = {}
    for number in range(num_episodes):
        pace, place = generator.uniform(0.02, 0.045), 0.0
        sticks = generator.random() < 1 / 3
        lost = int(generator.integers(5, 26)) if sticks else 1_000
        pause = int(generator.integers(5, 30))
        path = []
        for step in range(61):
            moves = step < lost and not pause <= step < pause + 4
            place += moves * pace * generator.uniform(0.5, 1.5)
            path.append((place, moves * pace, generator.normal(0, 0.02)))
            if place >= 1:
                break
        good = place >= 1
        seen = np.array(path) + generator.normal(0, 0.01, (len(path), 3))
        rows.append(seen.astype(np.float32))
        outcome = Outcome.SUCCESS if good else Outcome.TIME_OUT
        name = str(number)
        if sticks and not good:
            stuck_at[name] = lost
        episodes.append(Episode(name, len(path), outcome, len(path) - 1 if good else None))
    return Rollouts(episodes, features=np.concatenate(rows)), stuck_at


def recorded(path: Path, num_episodes: int) -> Rollouts:
    """What case_studies/truth/record.py wrote."""
    with np.load(path, allow_pickle=False) as stored:
        arrays = dict(stored)
    rows = np.concatenate([arrays["proprioception"], arrays["state"]], axis=1).astype(np.float32)
    ends, success = arrays["episode_ends"][:num_episodes], arrays["success"][:num_episodes]
    lengths = np.diff(ends, prepend=0).tolist()
    episodes = [
        Episode(str(i), n, Outcome.SUCCESS if good else Outcome.TIME_OUT, n - 1 if good else None)
        for i, (n, good) in enumerate(zip(lengths, success.tolist(), strict=True))
    ]
    return Rollouts(episodes, features=rows[: ends[-1]])


def rows_of(rollouts: Rollouts) -> list[np.ndarray]:
    """The numbers of every episode that motion is seen in: proprioception, or else features."""
    numbers = rollouts.proprioception if rollouts.proprioception.shape[1] else rollouts.features
    assert numbers is not None
    starts = np.append(0, rollouts.episode_ends[:-1])
    return [numbers[a:b] for a, b in zip(starts, rollouts.episode_ends, strict=True)]


def still_for(rows: np.ndarray, scale: np.ndarray, usual: float) -> np.ndarray:
    """For how many frames nothing has moved, at every frame."""
    moved = np.linalg.norm(np.diff(rows, axis=0, prepend=rows[:1]) / scale, axis=1)
    since = np.zeros(len(rows))
    for frame in range(1, len(rows)):
        since[frame] = since[frame - 1] + 1 if moved[frame] < 0.1 * usual else 0
    return since


def limit_of(scores: Sequence[np.ndarray]) -> float:
    """What the scores of a success exceed with a chance of at most the level, anywhere."""
    highest = np.sort([score.max() for score in scores])
    rank = conformal_rank(len(highest), LEVEL)
    return float(highest[-1 if rank is None else rank - 1])


def first_above(scores: np.ndarray, limit: float) -> int | None:
    above = np.flatnonzero(scores > limit)
    return int(above[0]) if len(above) else None


def alarms(
    learned: Rollouts, fresh: Rollouts, effort: str, place: Path, known: Path | None = None
) -> list[dict[str, Any]]:
    """The first alarm of every fresh episode by every rule; `known` is a run on those learned."""
    # Not above: it brings torch, which must not be there when frames are timed.
    from goalward.exports.onnx_monitor import successful_curves

    options: dict[str, Any] = {"report": False, "progress": False}
    if known is None:
        run = goalward.evaluate(learned, place / "run", effort=effort, **options)
    else:
        run = goalward.open_run(known)
    judged = goalward.evaluate(fresh, place / "fresh", values=run, **options)
    band = band_of(successful_curves(run, run.method), LEVEL, from_folds=True)
    assert band is not None
    motion = rows_of(learned)
    steps = [np.diff(rows, axis=0) for rows in motion]
    scale = np.concatenate(motion).std(axis=0) + 1e-9
    usual = float(np.median(np.linalg.norm(np.concatenate(steps) / scale, axis=1)))
    good = [i for i, one in enumerate(learned) if one.outcome is Outcome.SUCCESS]
    clock = limit_of([np.arange(learned[i].goal_frame + 1) for i in good])  # type: ignore
    stillness = limit_of([still_for(motion[i], scale, usual) for i in good])
    level = limit_of(successful_curves(run, run.method))
    value = judged.curves().value
    found: list[dict[str, Any]] = []
    for position, (episode, rows) in enumerate(zip(fresh, rows_of(fresh), strict=True)):
        here = value[judged.frames_of(position)]
        last = episode.num_frames if episode.goal_frame is None else episode.goal_frame + 1
        first: dict[str, int | None] = {
            "band of values": band.first_alarm(here[:last]),
            "one limit for values": first_above(here[:last], level),
            "time since start": first_above(np.arange(last), clock),
            "no motion": first_above(still_for(rows, scale, usual)[:last], stillness),
        }
        found.append({"id": episode.id, "good": episode.outcome is Outcome.SUCCESS, **first})
    return found


def judge_rest(rollouts: Rollouts, run: Path) -> None:
    """The first episodes are those of a finished run, the others are fresh."""
    num_learned = len(goalward.open_run(run).episodes)
    learned, fresh = rollouts[:num_learned], rollouts[num_learned:]
    with tempfile.TemporaryDirectory() as place:
        tell(alarms(learned, fresh, "", Path(place), known=run), {})


def judge(rollouts: Rollouts, num_parts: int, effort: str, stuck_at: dict[str, int]) -> None:
    part_of = np.random.default_rng(1).permutation(len(rollouts)) % num_parts
    found: list[dict[str, Any]] = []
    for part in range(num_parts):
        with tempfile.TemporaryDirectory() as place:
            learned = rollouts.select(np.flatnonzero(part_of != part))
            fresh = rollouts.select(np.flatnonzero(part_of == part))
            found += alarms(learned, fresh, effort, Path(place))
        print(f"part {part + 1} of {num_parts}", file=sys.stderr, flush=True)
    tell(found, stuck_at)


def tell(found: Sequence[dict[str, Any]], stuck_at: dict[str, int]) -> None:
    good = [one for one in found if one["good"]]
    bad = [one for one in found if not one["good"]]
    print(f"{len(good)} fresh successes, {len(bad)} fresh time-outs; bound {100 * LEVEL:.0f} %\n")
    print("| rule | false alarms | time-outs noticed | at frame, median | after stuck, median |")
    print("|---|---|---|---|---|")
    for rule in ("band of values", "one limit for values", "time since start", "no motion"):
        false = sum(one[rule] is not None for one in good)
        noticed = [one for one in bad if one[rule] is not None]
        late = [one[rule] - stuck_at[one["id"]] for one in noticed if one["id"] in stuck_at]
        cells = (
            f"{false} of {len(good)} ({100 * false / max(len(good), 1):.0f} %)",
            f"{len(noticed)} of {len(bad)} ({100 * len(noticed) / max(len(bad), 1):.0f} %)",
            _median([one[rule] for one in noticed]),
            _median(late),
        )
        print(f"| {rule} | " + " | ".join(cells) + " |", flush=True)


def _median(numbers: Sequence[int]) -> str:
    return f"{np.median(numbers):.0f}" if numbers else ""


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
    stuck_at: dict[str, int] = {}
    if options.stand_in:
        rollouts, stuck_at = stand_in(options.episodes)
    elif options.path.endswith(".npz"):
        rollouts = recorded(Path(options.path), options.episodes)
    else:
        rollouts = embedded(options.path, options.encoder)
    if options.run is not None:
        judge_rest(rollouts, options.run)
        return
    judge(rollouts, options.parts, options.effort, stuck_at)


if __name__ == "__main__":
    main()
