"""`goalward truth`: what frames of a simulated data set are really worth."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goalward.cli.console import error_console, plain
from goalward.errors import GoalwardError
from goalward.leftovers import sweep
from goalward.locks import alone_in
from goalward.progress import progress_bar
from goalward.rollouts.findings import counted
from goalward.urls import check_here

if TYPE_CHECKING:
    from goalward.executors.shard import Shard
    from goalward.metrics.truth.frame_truth import FrameTruth
    from goalward.simulate.recording.data_set import SimulationSettings
    from goalward.simulate.truth import Branching

# How the pictures look says nothing about what a frame is worth.
_LOOKS = ("size",)


def truth_command(
    dataset: Path,
    /,
    *,
    frames: int = 300,
    rollouts: int = 16,
    cap: int | None = None,
    seed: int = 0,
    workers: int | None = None,
    on: str = "local",
    shard: str | None = None,
    out: Path | None = None,
) -> None:
    """Measure what frames are worth, by letting the policy go on.

    For a sample of frames, half of them from episodes that timed out, the simulator and the
    policy are put back to where they were, and the policy goes on with other luck and without a
    time limit; the steps to success are counted. `goalward evaluate` then says how far each
    value function is from that truth.

    This takes hours. Stopped at any moment, the same command goes on; what there is by then can
    be used, as all frames get their first futures before any gets more. More frames or rollouts
    later add to what is there. Every result depends on the seed alone.

    Examples:

    ```bash
    goalward simulate square --episodes 100 --out square
    goalward truth square
    goalward truth square --frames 100 --rollouts 4  # a first look
    ```

    Parameters
    ----------
    dataset
        A folder that `goalward simulate` wrote.
    frames
        How many frames.
    rollouts
        How many futures of each.
    cap
        Frames after which a future counts as never reaching the goal. Default: five times the
        task's standard horizon.
    seed
        Which frames, and the luck in each future.
    workers
        Processes that work at the same time. Default: the number of cores.
    on
        Who works: local (processes of this machine), ray (the cluster of RAY_ADDRESS, or one
        that is started here), or the address of a Ray cluster (ray://host:10001).
    shard
        Only this share of the futures, as in 3/16; when all shares are there, the same command
        without it makes the table of them. For schedulers without Ray.
    out
        The table of results. Default: truth.parquet in the data set's folder.
    """
    from goalward.executors.choice import is_local
    from goalward.executors.shard import Shard
    from goalward.metrics.truth.frame_truth import TRUTH_FILE, FrameTruth
    from goalward.simulate.branch_file import BranchFile, branch_file, shard_files
    from goalward.simulate.recording.data_set import SimulatedDataSet
    from goalward.simulate.truth import (
        HORIZONS_UNTIL_CAP,
        Branching,
        TaskStage,
        branch_jobs,
        measure,
        sample_frames,
    )

    _check("frames", frames)
    _check("rollouts", rollouts)
    is_local(on)
    share = None if shard is None else Shard.of(shard)
    check_here(dataset)
    data_set = SimulatedDataSet(dataset)
    settings = data_set.settings
    if not data_set.is_finished:
        raise GoalwardError(f"{dataset}: not all of its episodes are there: finish it first")
    cap = HORIZONS_UNTIL_CAP * settings.standard_horizon if cap is None else cap
    _check("cap", cap)
    out = dataset / TRUTH_FILE if out is None else out
    branching = Branching(cap, seed, settings.every)
    made_with = _made_with(settings, branching)
    traces = {str(episode): data_set.trace_file(episode) for episode in range(settings.episodes)}
    data_set.check(*traces.values())
    points = sample_frames(traces, frames, seed)
    stage = TaskStage.of(settings.task, settings.policy)
    lock = out.name if share is None else f"{out.name}.{share.file_part}"

    with (
        alone_in(out.parent, name=f".{lock}.lock"),
        BranchFile(branch_file(out, share), made_with) as file,
    ):
        sweep(out.parent, name=out.name)
        if share is None:
            for path in shard_files(out):
                file.take_over(path)

        def write_table() -> FrameTruth:
            told = made_with | {"rollouts": rollouts, "frames": frames}
            truth = FrameTruth.from_branches(file.in_order(points, rollouts), cap, told)
            if truth.num_frames:
                truth.write(out)
            return truth

        if share is None:
            jobs = branch_jobs(points, rollouts, branching, file.branches)
        else:
            # Cut before it is looked what is there: a share is the same whenever it goes on.
            own = share.share(branch_jobs(points, rollouts, branching))
            jobs = [job for job in own if not file.has(job)]
        if jobs and share is None:
            # What a killed run had finished.
            write_table()
        done = len(file.of(points, rollouts))
        total = frames * rollouts if share is None else done + sum(len(j.branches) for j in jobs)
        try:
            with progress_bar("futures", unit="futures") as update:
                update(done, total)
                shared = [data_set.simulation_folder]
                for job, steps in measure(jobs, stage, workers, on, shared, update.met):
                    file.add(job, steps)
                    done += len(steps)
                    update(done, total)
        finally:
            if share is None:
                _tell(write_table(), rollouts, frames, out)
            else:
                _tell_share(share, done, total)


def _check(name: str, number: int) -> None:
    if number < 1:
        raise GoalwardError(f"--{name} must be at least 1, got {number}")


def _made_with(settings: SimulationSettings, branching: Branching) -> dict[str, Any]:
    """All that the steps of a branch depend on: the data set's own plan, the cap, the seed."""
    from goalward.simulate.recording.data_set import Plan

    plan = {field.name: getattr(settings, field.name) for field in fields(Plan)}
    kept = {name: value for name, value in plan.items() if name not in _LOOKS}
    kept["data_set_seed"] = kept.pop("seed")
    return kept | {"cap": branching.cap, "seed": branching.seed}


def _tell_share(share: Shard, done: int, total: int) -> None:
    text = f"shard {share}: {done} of its {total} futures"
    goes_on = "the same command goes on"
    makes_table = "when all shards are there, the same command without --shard makes the table"
    text += f"; {makes_table if done == total else goes_on}"
    error_console().print(plain(text), soft_wrap=True)


def _tell(truth: FrameTruth, rollouts: int, frames: int, out: Path) -> None:
    console = error_console()
    if truth.num_frames == 0:
        console.print(plain("no frame is finished yet"))
        return
    counts = truth.num_branches
    least, most = int(counts.min()), int(counts.max())
    span = counted(range(most), "future")
    span = span if least == most else f"{least} to {span}"
    there = truth.more_time_success().mean.mean()
    text = (
        f"truth of {counted(range(truth.num_frames), 'frame')}, {span} each, of which "
        f"{100 * there:.0f} % reach the goal within {truth.cap} frames: {out}"
    )
    if int(counts.sum()) < frames * rollouts:
        text += f" ({int(counts.sum())} of {frames * rollouts} futures: the same command goes on)"
    console.print(plain(text), soft_wrap=True)
