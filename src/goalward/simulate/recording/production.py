"""From a task and a policy to a data set: run episodes, draw them, write their tables.

Stopped at any moment, the same call goes on and ends with the same bytes, whatever the number of
worker processes: an episode is a function of its seed, pictures are a function of its snapshots,
and which episodes are taken is a function of their numbers and outcomes.
"""

import logging
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from goalward.errors import GoalwardError, argument
from goalward.executors.choice import LOCAL, executor_on
from goalward.executors.local import LocalExecutor
from goalward.executors.on_ray import RayExecutor
from goalward.executors.piece import Failure, PiecesFailed
from goalward.executors.shard import Shard
from goalward.leftovers import sweep
from goalward.locks import HeldByOther
from goalward.progress import OnSetbacks
from goalward.simulate.recording.beginning import check_same, checked_versions, settings_of
from goalward.simulate.recording.data_set import (
    Plan,
    SimulatedDataSet,
    SimulationSettings,
)
from goalward.simulate.recording.episode_jobs import (
    DescribeWorld,
    DrawEpisode,
    SimulateEpisode,
    Simulator,
    WorldFacts,
    simulator_of,
)
from goalward.simulate.recording.episode_video import PictureColours
from goalward.simulate.recording.finishing import remove_leftovers, write_results
from goalward.simulate.recording.lerobot_writer import video_key
from goalward.simulate.recording.selection import chosen_numbers, most_attempts
from goalward.simulate.recording.shares import ShareDone, at_work_in, has_enough
from goalward.simulate.recording.trace import Trace

OnProgress = Callable[[str, int, int], None]
_Workers = LocalExecutor[Simulator] | RayExecutor[Simulator]

_log = logging.getLogger("goalward.simulate")


def simulate(
    plan: Plan,
    data_set: SimulatedDataSet,
    *,
    num_workers: int | None = None,
    on: str = LOCAL,
    on_progress: OnProgress = lambda phase, done, total: None,
    on_setbacks: OnSetbacks | None = None,
) -> SimulationSettings:
    """Make the data set, or what is missing of it, by processes here or `on` a Ray cluster.

    `on_progress` hears of the phases "episodes" and "pictures", `on_setbacks` of what failed.
    """
    if data_set.is_finished:
        check_same(data_set, plan)
        # What is left of one that was killed after its last file, and its lock with it.
        with suppress(HeldByOther), at_work_in(data_set, None):
            shutil.rmtree(data_set.attempts_folder, ignore_errors=True)
        return data_set.settings
    versions = checked_versions(data_set, plan)
    with at_work_in(data_set, None):
        remove_leftovers(data_set)
        with _workers(plan, data_set, num_workers, on) as workers:
            world, settings = _begun(workers, plan, data_set, versions)
            successes = _run_episodes(workers, plan, data_set, on_progress, on_setbacks)
            _check_enough(successes, plan, data_set)
            chosen = chosen_numbers(successes, plan)
            drawn = list(enumerate(chosen))
            pictures = _draw(workers, drawn, settings, world, data_set, on_progress, on_setbacks)
        # Numbers beyond the last one taken were run or not as workers had time.
        natural = [successes[number] for number in range(chosen[-1] + 1)]
        settings = replace(settings, natural_successes=sum(natural), natural_attempts=len(natural))
        write_results(data_set, settings, world, chosen, pictures)
    return settings


def simulate_shard(
    plan: Plan,
    data_set: SimulatedDataSet,
    shard: Shard,
    *,
    num_workers: int | None = None,
    on: str = LOCAL,
    on_progress: OnProgress = lambda phase, done, total: None,
    on_setbacks: OnSetbacks | None = None,
) -> ShareDone:
    """Run a share of the episodes and draw what can be drawn; `simulate` makes the rest of it.

    Which of balanced episodes belong to the data set is known when enough of all shards are
    there: their pictures wait for that.
    """
    if data_set.is_finished:
        check_same(data_set, plan)
        return ShareDone(0, 0)
    versions = checked_versions(data_set, plan)
    with at_work_in(data_set, shard):
        sweep(data_set.path, below=True)
        with _workers(plan, data_set, num_workers, on) as workers:
            world, settings = _begun(workers, plan, data_set, versions)
            successes = _run_episodes(workers, plan, data_set, on_progress, on_setbacks, shard)
            if plan.balanced:
                successes |= _finished_episodes(plan, data_set)
            chosen = chosen_numbers(successes, plan) if plan.balanced else range(plan.episodes)
            drawn = [(index, number) for index, number in enumerate(chosen) if shard.has(index)]
            _draw(workers, drawn, settings, world, data_set, on_progress, on_setbacks)
    return ShareDone(sum(map(shard.has, successes)), len(drawn))


# ---------------------------------------------------------------- before the first episode


def _workers(plan: Plan, data_set: SimulatedDataSet, num_workers: int | None, on: str) -> _Workers:
    return executor_on(
        on,
        simulator_of(plan),
        num_workers,
        most_workers=plan.episodes,
        shared=[data_set.simulation_folder],
    )


def _begun(
    workers: _Workers, plan: Plan, data_set: SimulatedDataSet, versions: Mapping[str, str]
) -> tuple[WorldFacts, SimulationSettings]:
    world = next(facts for _, facts in workers.results(iter([DescribeWorld()])))
    settings = settings_of(plan, world, versions)
    settings.write(data_set.settings_file)
    return world, settings


# ---------------------------------------------------------------- episodes


def _run_episodes(
    workers: _Workers,
    plan: Plan,
    data_set: SimulatedDataSet,
    on_progress: OnProgress,
    on_setbacks: OnSetbacks | None,
    shard: Shard | None = None,
) -> dict[int, bool]:
    """Whether each episode succeeded, by number, until all that are wanted are among them."""
    successes = _finished_episodes(plan, data_set, shard)
    failed: list[Failure] = []

    def is_enough() -> bool:
        if failed and plan.balanced:
            # Which episodes to take is not known while one before them is not.
            return True
        if shard is not None:
            return plan.balanced and has_enough(shard, successes, plan)
        return bool(chosen_numbers(successes, plan))

    def pieces() -> Iterator[SimulateEpisode]:
        for number in range(most_attempts(plan)):
            if is_enough():
                return
            if number not in successes and (shard is None or shard.has(number)):
                yield SimulateEpisode(number, plan, data_set.attempt_file(number))

    def tell() -> None:
        half = plan.episodes // 2
        num_successes = sum(successes.values())
        num_others = len(successes) - num_successes
        balanced = min(num_successes, half) + min(num_others, half)
        on_progress("episodes", balanced if plan.balanced else len(successes), plan.episodes)

    tell()
    found = workers.results(pieces(), lambda _, failure: failed.append(failure), on_setbacks)
    for piece, success in found:
        assert isinstance(piece, SimulateEpisode)
        successes[piece.number] = success
        tell()
    if failed:
        raise PiecesFailed(failed, len(successes))
    return successes


def _check_enough(successes: Mapping[int, bool], plan: Plan, data_set: SimulatedDataSet) -> None:
    if not chosen_numbers(successes, plan):
        num_successes = sum(successes.values())
        raise GoalwardError(
            f"{data_set.path}: {num_successes} of {len(successes)} episodes of {plan.task} by "
            f"{plan.policy} succeeded within {plan.time_out} frames, too "
            f"{'few' if num_successes < plan.episodes // 2 else 'many'} for {plan.episodes} "
            f"balanced episodes: change {argument('time_out')} or {argument('policy')}, or leave "
            f"out {argument('balanced', True)}, in another folder; the episodes are kept"
        )


def _finished_episodes(
    plan: Plan, data_set: SimulatedDataSet, shard: Shard | None = None
) -> dict[int, bool]:
    """Whether each episode succeeded that is there already; one that is damaged is run again, and
    so is one in whose place lies another."""
    successes: dict[int, bool] = {}
    for path in sorted(data_set.attempts_folder.glob("number_*.npz")):
        number = int(path.stem.removeprefix("number_"))
        if shard is not None and not shard.has(number):
            continue
        try:
            trace = Trace.read(path)
            if trace.seed != plan.seed_of(number):
                raise GoalwardError(
                    f"{path}: holds the episode of seed {trace.seed}, not {plan.seed_of(number)}"
                )
            successes[number] = trace.success
        except GoalwardError as error:
            _log.warning("%s: the episode is run again", error)
            path.unlink(missing_ok=True)
    return successes


# ---------------------------------------------------------------- pictures


def _draw(
    workers: _Workers,
    chosen: Sequence[tuple[int, int]],
    settings: SimulationSettings,
    world: WorldFacts,
    data_set: SimulatedDataSet,
    on_progress: OnProgress,
    on_setbacks: OnSetbacks | None,
) -> list[Mapping[str, PictureColours]]:
    """The videos of all cameras, and of each episode the colours in them by camera.

    `chosen` has the index of an episode in the data set, and the number it was run under.
    """
    pieces = [
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
        for episode_index, number in chosen
    ]
    on_progress("pictures", 0, len(pieces))
    # Results come as workers are done, not in the order of episodes.
    found: dict[str, Mapping[str, PictureColours]] = {}
    for piece, colours in workers.results(iter(pieces), on_setbacks=on_setbacks):
        found[str(piece)] = colours
        on_progress("pictures", len(found), len(pieces))
    return [found[str(piece)] for piece in pieces]
