"""From a task and a policy to a data set: run episodes, draw them, write their tables.

Stopped at any moment, the same call goes on and ends with the same bytes, whatever the number of
worker processes: an episode is a function of its seed, pictures are a function of its snapshots,
and which episodes are taken is a function of their numbers and outcomes.
"""

import csv
import hashlib
import importlib.metadata
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import reduce
from operator import add

from goalward.embeddings.claims import claim
from goalward.errors import GoalwardError, argument
from goalward.files import check_folder, written_whole
from goalward.simulate.recording.data_set import (
    Plan,
    SimulatedDataSet,
    SimulationSettings,
    differences,
)
from goalward.simulate.recording.episode_jobs import (
    DescribeWorld,
    DrawEpisode,
    SimulateEpisode,
    Simulator,
    WorldFacts,
    simulator_of,
)
from goalward.simulate.recording.episode_video import PictureSums
from goalward.simulate.recording.lerobot_writer import LeRobotWriter, video_key
from goalward.simulate.recording.selection import chosen_numbers, most_attempts
from goalward.simulate.recording.trace import Trace
from goalward.simulate.recording.workers import Workers
from goalward.simulate.tasks import find_task

# What the bytes of a data set may depend on.
_PACKAGES = (
    *("goalward", "mujoco", "robosuite", "metaworld"),
    *("numpy", "scipy", "torch", "av", "pyarrow"),
)

OnProgress = Callable[[str, int, int], None]


def simulate(
    plan: Plan,
    data_set: SimulatedDataSet,
    *,
    num_workers: int | None = None,
    on_progress: OnProgress = lambda phase, done, total: None,
) -> SimulationSettings:
    """Make the data set, or what is missing of it.

    `on_progress` hears of the phases "episodes" and "pictures".
    """
    if data_set.is_finished:
        _check_same(data_set, plan)
        shutil.rmtree(data_set.attempts_folder, ignore_errors=True)
        return data_set.settings
    versions = _versions()
    if data_set.settings_file.is_file():
        _check_same(data_set, plan)
        _check_versions(data_set, versions)
    else:
        _check_nothing_there(data_set)
    check_folder(data_set.simulation_folder)
    num_workers = num_cores() if num_workers is None else num_workers
    with _alone_in(data_set):
        _remove_leftovers(data_set)
        with Workers(simulator_of(plan), min(num_workers, plan.episodes)) as workers:
            world = _facts(workers)
            settings = _settings(plan, world, versions)
            settings.write(data_set.settings_file)
            successes = _run_episodes(workers, plan, data_set, on_progress)
            chosen = chosen_numbers(successes, plan)
            pictures = _draw(workers, chosen, settings, world, data_set, on_progress)
        # Numbers beyond the last one taken were run or not as workers had time.
        natural = [successes[number] for number in range(chosen[-1] + 1)]
        settings = replace(settings, natural_successes=sum(natural), natural_attempts=len(natural))
        _write_results(data_set, settings, world, chosen, pictures)
    return settings


def num_cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


# ---------------------------------------------------------------- before the first episode


def _check_same(data_set: SimulatedDataSet, plan: Plan) -> None:
    different = differences(data_set.settings, plan)
    if different:
        raise GoalwardError(
            f"{data_set.path}: holds a data set with other settings ({'; '.join(different)}): "
            "give another folder, or the same settings"
        )


def _check_versions(data_set: SimulatedDataSet, versions: Mapping[str, str]) -> None:
    there = data_set.settings
    different = differences(there, replace(there, versions=versions))
    if different:
        raise GoalwardError(
            f"{data_set.path}: was begun with other versions ({'; '.join(different)}): "
            "finish it with those, or begin again in another folder"
        )


def _check_nothing_there(data_set: SimulatedDataSet) -> None:
    if data_set.path.is_dir():
        others = {path.name for path in data_set.path.iterdir()}
        others -= {data_set.simulation_folder.name}
        if others:
            raise GoalwardError(
                f"{data_set.path}: holds {sorted(others)[0]}, but no simulated data set: "
                "give a new or an empty folder"
            )


def _versions() -> dict[str, str]:
    versions: dict[str, str] = {}
    for package in _PACKAGES:
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return versions


@contextmanager
def _alone_in(data_set: SimulatedDataSet) -> Iterator[None]:
    held = claim(data_set.lock_file)
    if held is None:
        raise GoalwardError(f"{data_set.path}: another process is working on it")
    try:
        yield
    finally:
        held.drop()


def _remove_leftovers(data_set: SimulatedDataSet) -> None:
    """Files that a killed process was about to write."""
    for folder in ("data", "meta", "videos", data_set.simulation_folder.name):
        for path in (data_set.path / folder).rglob(".*"):
            if path.is_file() and path != data_set.lock_file:
                path.unlink(missing_ok=True)


def _facts(workers: Workers[Simulator]) -> WorldFacts:
    return next(facts for _, facts in workers.results(iter([DescribeWorld()])))


def _settings(plan: Plan, world: WorldFacts, versions: Mapping[str, str]) -> SimulationSettings:
    if world.fps % plan.every:
        fitting = [str(every) for every in range(1, world.fps + 1) if world.fps % every == 0]
        raise GoalwardError(
            f"{argument('every', plan.every)} does not divide the {world.fps} steps per second of "
            f"{plan.task}: choose one of {', '.join(fitting)}"
        )
    return SimulationSettings(**vars(plan), fps=world.fps // plan.every, versions=versions)


# ---------------------------------------------------------------- episodes


def _run_episodes(
    workers: Workers[Simulator], plan: Plan, data_set: SimulatedDataSet, on_progress: OnProgress
) -> dict[int, bool]:
    """Whether each episode succeeded, by number, until all that are wanted are among them."""
    successes = {
        int(path.stem.removeprefix("number_")): Trace.read(path).success
        for path in sorted(data_set.attempts_folder.glob("number_*.npz"))
    }

    def jobs() -> Iterator[SimulateEpisode]:
        number = 0
        while number < most_attempts(plan) and not chosen_numbers(successes, plan):
            if number not in successes:
                yield SimulateEpisode(number, plan, data_set.attempt_file(number))
            number += 1

    def tell() -> None:
        half = plan.episodes // 2
        num_successes = sum(successes.values())
        num_others = len(successes) - num_successes
        balanced = min(num_successes, half) + min(num_others, half)
        on_progress("episodes", balanced if plan.balanced else len(successes), plan.episodes)

    tell()
    for job, success in workers.results(jobs()):
        assert isinstance(job, SimulateEpisode)
        successes[job.number] = success
        tell()
    if not chosen_numbers(successes, plan):
        num_successes = sum(successes.values())
        raise GoalwardError(
            f"{data_set.path}: {num_successes} of {len(successes)} episodes of {plan.task} by "
            f"{plan.policy} succeeded within {plan.time_out} frames, too "
            f"{'few' if num_successes < plan.episodes // 2 else 'many'} for {plan.episodes} "
            f"balanced episodes: change {argument('time_out')} or {argument('policy')}, or leave "
            f"out {argument('balanced', True)}, in another folder; the episodes are kept"
        )
    return successes


# ---------------------------------------------------------------- pictures


def _draw(
    workers: Workers[Simulator],
    chosen: list[int],
    settings: SimulationSettings,
    world: WorldFacts,
    data_set: SimulatedDataSet,
    on_progress: OnProgress,
) -> dict[str, PictureSums]:
    """The videos of all cameras, and the colours in them by camera."""
    jobs = [
        DrawEpisode(
            episode_index,
            settings,
            settings.fps,
            data_set.attempt_file(number),
            {
                camera: data_set.video_file(video_key(camera), episode_index)
                for camera in world.cameras
            },
        )
        for episode_index, number in enumerate(chosen)
    ]
    on_progress("pictures", 0, len(jobs))
    by_episode: list[Mapping[str, PictureSums]] = []
    for _, sums in workers.results(iter(jobs)):
        by_episode.append(sums)
        on_progress("pictures", len(by_episode), len(jobs))
    return {camera: reduce(add, (sums[camera] for sums in by_episode)) for camera in world.cameras}


# ---------------------------------------------------------------- tables


def _write_results(
    data_set: SimulatedDataSet,
    settings: SimulationSettings,
    world: WorldFacts,
    chosen: list[int],
    pictures: Mapping[str, PictureSums],
) -> None:
    traces: list[Trace] = []
    for episode_index, number in enumerate(chosen):
        traces.append(Trace.read(data_set.attempt_file(number)))
        with written_whole(data_set.trace_file(episode_index)) as temporary:
            shutil.copyfile(data_set.attempt_file(number), temporary)
    writer = LeRobotWriter(
        data_set, world, find_task(settings.task).instruction, settings.fps, settings.size
    )
    writer.write_tables(traces, pictures)
    _write_events(data_set, traces)
    settings.write(data_set.settings_file)
    info = writer.info(traces).encode()
    _write_checksums(data_set, info)
    with written_whole(data_set.info_file) as temporary:
        temporary.write_bytes(info)
    shutil.rmtree(data_set.attempts_folder)


def _write_events(data_set: SimulatedDataSet, traces: list[Trace]) -> None:
    with (
        written_whole(data_set.events_file) as temporary,
        temporary.open("w", encoding="utf-8", newline="") as file,
    ):
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["episode_index", "frame_index", "event"])
        for episode_index, trace in enumerate(traces):
            rows.writerows([episode_index, frame, event] for frame, event in trace.events)


def _write_checksums(data_set: SimulatedDataSet, info: bytes) -> None:
    """Of every file but itself; info.json, which is written last, by what it will be."""
    _remove_leftovers(data_set)
    checksums = {data_set.info_file: hashlib.sha256(info).hexdigest()}
    left_out = {data_set.checksums_file, data_set.lock_file}
    for path in data_set.path.rglob("*"):
        if path.is_file() and path not in left_out and data_set.attempts_folder not in path.parents:
            with path.open("rb") as file:
                checksums[path] = hashlib.file_digest(file, "sha256").hexdigest()
    lines = sorted(
        (path.relative_to(data_set.path).as_posix(), checksums[path]) for path in checksums
    )
    with written_whole(data_set.checksums_file) as temporary:
        temporary.write_text(
            "".join(f"{checksum}  {name}\n" for name, checksum in lines), encoding="utf-8"
        )
