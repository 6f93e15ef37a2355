"""Episodes of a simulated task and the truth of some of their frames, without drawing anything.

    python case_studies/truth/record.py pick --out worlds                # 200 + 100 episodes, truth
    python case_studies/truth/record.py pick --out worlds --more 600     # more to learn from
    python case_studies/truth/record.py libero --out more --only-test --known worlds   # goes on
    python case_studies/truth/record.py cloth --out worlds --traces traces --minutes 0
    python case_studies/truth/record.py cloth --out worlds --traces traces --go-on     # anywhere

Per task and part one `.npz`: what the simulator knows of every frame (proprioception and state, as
`observation.state` and `observation.environment_state` of a data set), the actions, how episodes
ended, and for those that timed out the steps to success when the policy went on as it was (-1: not
within the cap). What the policy noted of itself, drops and misses, is in `event_frames` (episode,
frame) and `event_names`. Of a success also the frames of the second after it, while the policy goes
on at the goal. For test episodes also the steps of many futures of some frames: 250 spread over
all episodes, and the last frame of 50 time-outs; what an earlier call has measured (`--known`)
is left out, if the test episodes are the same to the bit. With `--traces` what returns to their
frames is kept, and `--go-on` branches without running the episodes again, on another machine too.
Needs numpy and the task's simulator; a machine with many cores takes minutes where two cores take
hours.
"""

import argparse
import contextlib
import functools
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from recorded_episodes import balanced_episodes, episode_arrays, going_on, trace_file_of

from goalward.files import written_whole
from goalward.simulate.tasks import SimulatedTask, find_task
from goalward.simulate.truth import (
    HORIZONS_UNTIL_CAP,
    Branching,
    BranchPoint,
    TaskStage,
    branch_jobs,
    measure,
    sample_frames,
)

TRAIN_SEED, TEST_SEED = 0, 1
NOT_MEASURED = -2


def branch_points(
    episodes: Sequence[dict[str, Any]],
    folder: Path,
    seed: int,
    num_frames: int,
    num_at_end: int,
) -> list[BranchPoint]:
    """The last frames of time-outs, and frames spread over all episodes; ids are positions."""
    traces = {
        str(position): trace_file_of(folder, seed, episode["number"])
        for position, episode in enumerate(episodes)
    }
    late = [i for i, episode in enumerate(episodes) if not episode["success"]][:num_at_end]
    ends = [BranchPoint(traces[str(i)], str(i), len(episodes[i]["action"]) - 1) for i in late]
    if num_frames == 0:
        return ends
    known = {(point.episode_id, point.frame) for point in ends}
    spread = sample_frames(traces, num_frames + num_at_end, seed=seed)
    others = [point for point in spread if (point.episode_id, point.frame) not in known]
    # In turn, so that a recording that is stopped has both kinds.
    return in_turn(ends, others[:num_frames])


def in_turn(few: Sequence[BranchPoint], many: Sequence[BranchPoint]) -> list[BranchPoint]:
    """Both lists as one, the few spread evenly over the many."""
    places = [(i + 0.5) / len(few) for i in range(len(few))]
    places += [(i + 0.5) / len(many) for i in range(len(many))]
    points = [*few, *many]
    return [points[i] for i in sorted(range(len(points)), key=places.__getitem__)]


def save(path: Path, arrays: dict[str, Any]) -> None:
    with written_whole(path) as temporary, temporary.open("wb") as file:
        np.savez_compressed(file, **arrays)
    print(f"{path}: {path.stat().st_size / 1e6:.1f} MB", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("task")
    parser.add_argument("--policy", help="default: the task's own")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--name", help="of the world in file names; default: the task")
    parser.add_argument("--train", type=int, default=200)
    parser.add_argument("--test", type=int, default=100)
    parser.add_argument("--more", type=int, help="only so many more episodes to learn from")
    parser.add_argument("--test-seed", type=int, default=TEST_SEED)
    parser.add_argument("--only-test", action="store_true", help="no episodes to learn from")
    parser.add_argument("--frames", type=int, default=250)
    parser.add_argument("--at-end", type=int, default=50)
    parser.add_argument("--branches", type=int, default=8)
    parser.add_argument("--cap", type=int, help="steps; default: five standard horizons")
    parser.add_argument(
        "--keep-hidden", action="store_true", help="do not look for what the clock hid"
    )
    parser.add_argument("--known", type=Path, help="folder of an earlier call's results")
    parser.add_argument("--traces", type=Path, help="folder for what returns to a frame; kept")
    parser.add_argument(
        "--go-on", action="store_true", help="only branches, of episodes recorded with --traces"
    )
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--minutes", type=float, default=600, help="stop branching after this")
    options = parser.parse_args()
    started = time.monotonic()
    task = find_task(options.task)
    stage = TaskStage.of(task.name, options.policy or task.default_policy)
    cap = options.cap or HORIZONS_UNTIL_CAP * task.standard_horizon
    name = options.name or task.name
    facts = {"time_out": task.time_out, "horizon": task.standard_horizon, "cap": cap}
    options.out.mkdir(parents=True, exist_ok=True)
    clock = functools.partial(_tell, name, started)
    with contextlib.ExitStack() as places:
        folder = Path(places.enter_context(tempfile.TemporaryDirectory()))
        if options.traces is not None:
            folder = options.traces / name
        folder.mkdir(parents=True, exist_ok=True)
        goes_on = not options.keep_hidden
        learn = functools.partial(_learned_from, task, stage, folder, cap, options.workers, goes_on)
        if options.more:
            # Numbers that the first set cannot have used.
            arrays = learn(options.more, first_number=options.train * 20)
            save(options.out / f"{name}_more.npz", arrays | facts)
            return
        rows: list[tuple[int, int, int, int]] = []
        if options.go_on:
            test, test_arrays, rows = recorded(options.out / f"{name}_test.npz", facts)
        else:
            test, count, total = balanced_episodes(
                task, stage, folder, options.test_seed, options.test, options.workers
            )
            clock(f"test: {count} of {total} succeeded")
            test_arrays = episode_arrays(test) | facts | {"natural": np.array([count, total])}
        if options.known is not None:
            rows += known_rows(options.known / f"{name}_test.npz", test_arrays)
            clock(f"{len(rows)} branches are known")
        elif not options.go_on:
            test_arrays["steps_on"] = hidden_steps(
                test, options.test_seed, stage, folder, cap, options.workers, goes_on
            )
        if not (options.only_test or options.go_on):
            train_arrays = learn(options.train)
            clock("train: {} of {} succeeded".format(*train_arrays["natural"]))
            save(options.out / f"{name}_train.npz", train_arrays | facts)
        points = branch_points(test, folder, options.test_seed, options.frames, options.at_end)
        test_arrays["planned"] = np.array([(int(p.episode_id), p.frame) for p in points])
        known = [(str(episode), frame, branch) for episode, frame, branch, _ in rows]
        saved = time.monotonic()

        def save_test() -> None:
            branches = np.array(rows, dtype=np.int64).reshape(-1, 4)
            save(options.out / f"{name}_test.npz", test_arrays | {"branches": branches})

        save_test()
        jobs = branch_jobs(points, options.branches, Branching(cap, options.test_seed), known)
        # All branches of a frame, then those of the next: stopped at any moment, frames are whole.
        place = {(point.episode_id, point.frame): i for i, point in enumerate(points)}
        jobs.sort(key=lambda job: place[job.point.episode_id, job.point.frame])
        for done, (job, steps) in enumerate(measure(jobs, stage, options.workers), 1):
            for branch, found in zip(job.branches, steps, strict=True):
                number = -1 if found is None else found
                rows.append((int(job.point.episode_id), job.point.frame, branch, number))
            if time.monotonic() - saved > 60:
                clock(f"{done} of {len(jobs)} branch jobs")
                saved = time.monotonic()
                save_test()
            if time.monotonic() - started > 60 * options.minutes:
                break
        save_test()
        clock(f"{len(rows)} branches")


def _learned_from(
    task: SimulatedTask,
    stage: TaskStage,
    folder: Path,
    cap: int,
    num_workers: int,
    goes_on: bool,
    num_wanted: int,
    first_number: int = 0,
) -> dict[str, Any]:
    episodes, count, total = balanced_episodes(
        task, stage, folder, TRAIN_SEED, num_wanted, num_workers, first_number
    )
    arrays = episode_arrays(episodes) | {"natural": np.array([count, total])}
    steps = hidden_steps(episodes, TRAIN_SEED, stage, folder, cap, num_workers, goes_on)
    return arrays | {"steps_on": steps}


def recorded(
    path: Path, facts: dict[str, int]
) -> tuple[list[dict[str, Any]], dict[str, Any], list[tuple[int, int, int, int]]]:
    """Test episodes of an earlier call, as far as branching needs them, and its branches."""
    with np.load(path, allow_pickle=False) as stored:
        arrays = dict(stored)
    for name, value in facts.items():
        if int(arrays[name]) != value:
            raise SystemExit(f"{path}: recorded with {name} {arrays[name]}, asked for {value}")
    rows = [(int(e), int(f), int(b), int(steps)) for e, f, b, steps in arrays.pop("branches")]
    actions = np.split(arrays["action"], arrays["episode_ends"][:-1])
    episodes = [
        {"action": action, "success": bool(success), "number": int(number)}
        for action, success, number in zip(
            actions, arrays["success"], arrays["number"], strict=True
        )
    ]
    return episodes, arrays, rows


def known_rows(path: Path, test_arrays: dict[str, Any]) -> list[tuple[int, int, int, int]]:
    """Branches of an earlier call, whose test episodes must be the same to the bit.

    What that call found out of them is taken over.
    """
    with np.load(path, allow_pickle=False) as stored:
        arrays = dict(stored)
    for name in ("number", "proprioception", "state", "action", "cap"):
        if not np.array_equal(arrays[name], test_arrays[name]):
            raise SystemExit(f"{path}: its test episodes are others ({name})")
    test_arrays["steps_on"] = arrays["steps_on"]
    return [(int(e), int(f), int(b), int(steps)) for e, f, b, steps in arrays["branches"]]


def hidden_steps(
    episodes: Sequence[dict[str, Any]],
    seed: int,
    stage: TaskStage,
    folder: Path,
    cap: int,
    num_workers: int,
    goes_on: bool,
) -> npt.NDArray[np.int64]:
    """What the clock hid: steps of each time-out to success as it went on, -1 where the cap came.

    0 for successes; of time-outs that are not let go on, that it was not measured.
    """
    if not goes_on:
        return np.array([0 if one["success"] else NOT_MEASURED for one in episodes])
    late = {
        position: trace_file_of(folder, seed, episode["number"])
        for position, episode in enumerate(episodes)
        if not episode["success"]
    }
    went_on = going_on(stage, list(late.values()), cap, num_workers)
    steps = np.zeros(len(episodes), dtype=np.int64)
    for position, path in late.items():
        steps[position] = went_on[path]
    return steps


def _tell(name: str, started: float, text: str) -> None:
    print(f"{name} {time.monotonic() - started:.0f} s: {text}", flush=True)


if __name__ == "__main__":
    main()
