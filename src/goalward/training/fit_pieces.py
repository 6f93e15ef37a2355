"""Trainings by the machines of a cluster: networks that build on each other are a piece.

A piece trains in a folder of its own that all machines see, and goes on there when another worker
takes it over. At the end all networks are put together, as if one process had trained them. On CPUs
of one kind they are the same to the last bit, but for second stages: values that they build on are
computed for several networks at once there, and differ by a rounding (3e-8 in a weight).
"""

import json
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from math import nan
from pathlib import Path

import torch

from goalward.errors import GoalwardError, argument
from goalward.executors.choice import executor_on
from goalward.files import check_folder
from goalward.progress import Setbacks
from goalward.training.fit import train
from goalward.training.frames.task_codes import TaskCodes
from goalward.training.frames.training_frames import TrainingFrames
from goalward.training.methods.hyperparameters import Hyperparameters
from goalward.training.methods.stages import Stage
from goalward.training.methods.table import known_methods, stages_by_name
from goalward.training.networks.nets import LossLog, Nets, nets_of
from goalward.training.progress import OnProgress, TrainingProgress, stage_names
from goalward.training.runs import NetRun, all_runs
from goalward.training.stored.checkpoint import Checkpoint, runs_as_json, runs_from_json
from goalward.training.stored.frames_file import holds, read_frames, write_frames
from goalward.training.stored.origin import fingerprint

# In the folder of the networks, until all of them are there.
PIECES = "pieces"
_NAME_BYTES = 16


@dataclass(frozen=True)
class FramesOf:
    """Opens, in every worker, the file of the frames."""

    path: Path

    def __call__(self) -> TrainingFrames:
        return read_frames(self.path)


@dataclass(frozen=True)
class TrainRuns:
    """The training of runs that share what they build on; its folder is its result.

    Runs travel as JSON: stages hold functions, which every machine has under their names.
    """

    name: str
    folder: Path
    runs: str = field(repr=False)
    numbers: Hyperparameters = field(repr=False)
    device: str | None = field(repr=False)
    tasks: TaskCodes | None = field(repr=False)

    def __str__(self) -> str:
        return self.name

    def do(self, frames: TrainingFrames, /) -> str:
        train(
            frames,
            runs_from_json(json.loads(self.runs), _known_stages(self.numbers)),
            self.numbers,
            device=self.device,
            checkpoint_folder=self.folder,
            tasks=self.tasks,
        )
        return str(self.folder)


@dataclass(frozen=True)
class _Part:
    """Runs that train together, and where."""

    runs: tuple[NetRun, ...]
    folder: Path

    def piece(
        self, numbers: Hyperparameters, device: torch.device | str | None, tasks: TaskCodes | None
    ) -> TrainRuns:
        seeds = ", ".join(str(seed) for seed in sorted({run.seed for run in self.runs}))
        where = f" of {self.runs[0].name}" if self.runs[0].name else ""
        name = f"training{where}: {', '.join(stage_names(self.runs))}, seed {seeds}"
        told = json.dumps(runs_as_json(self.runs))
        where = None if device is None else str(device)
        return TrainRuns(name, self.folder, told, numbers, where, tasks)

    def trained(
        self, frames: TrainingFrames, numbers: Hyperparameters, tasks: TaskCodes | None
    ) -> list[Nets]:
        """What a worker left."""
        groups = _groups(self.runs)
        origin = fingerprint(frames, numbers, groups, tasks)
        there = _finished(_checkpoint(self.folder, origin, groups), len(groups))
        if there is None:
            raise GoalwardError(f"{self.folder}: its networks are gone; the same command goes on")
        return there


def train_on(
    on: str,
    frames: TrainingFrames,
    wanted: Iterable[NetRun],
    numbers: Hyperparameters,
    *,
    device: torch.device | str | None,
    checkpoint_folder: Path | None,
    on_progress: OnProgress | None,
    tasks: TaskCodes | None,
    num_workers: int | None,
) -> list[Nets]:
    """As `train`, by the workers of a cluster that share the folder."""
    if checkpoint_folder is None:
        raise GoalwardError(
            f"{argument('on', on)} needs a folder that all machines share: {argument('checkpoint')}"
        )
    runs = list(wanted)
    groups = _groups(runs)
    origin = fingerprint(frames, numbers, groups, tasks)
    checkpoint = _checkpoint(checkpoint_folder, origin, groups)
    there = _finished(checkpoint, len(groups))
    if there is not None:
        return there
    _check_known(groups, numbers, on)
    folder = (checkpoint_folder / PIECES / origin[:_NAME_BYTES]).absolute()
    check_folder(folder)
    path = folder / "frames.npz"
    if not holds(path, frames):
        write_frames(path, frames)
    parts = {
        str(folder / f"part-{i}"): _Part(part, folder / f"part-{i}")
        for i, part in enumerate(independent_parts(runs))
    }
    executor = executor_on(
        on,
        FramesOf(path),
        num_workers,
        most_workers=len(parts),
        shared=[folder],
        num_gpus=0 if str(device) == "cpu" else None,
    )
    pieces = (part.piece(numbers, device, tasks) for part in parts.values())
    nets: list[Nets] = []
    everything = [run for group in groups for run in group]
    now = _progress(everything, nan, 0, len(parts))

    def tell(change: TrainingProgress) -> None:
        nonlocal now
        now = change
        if on_progress is not None:
            on_progress(now)

    def on_setbacks(setbacks: Setbacks) -> None:
        tell(replace(now, setbacks=setbacks))

    with executor:
        # The first piece may take minutes.
        tell(now)
        for done, (_, name) in enumerate(executor.results(pieces, None, on_setbacks), 1):
            found = parts[name].trained(frames, numbers, tasks)
            nets += found
            trained_runs = [run for one in found for run in one.runs]
            told = _progress(trained_runs, _last_loss(found[-1]), done, len(parts))
            tell(replace(told, setbacks=now.setbacks))
    trained = [replace(_joined(group, nets), fingerprint=origin) for group in groups]
    for index, of_group in enumerate(trained):
        checkpoint.finish(index, of_group)
    shutil.rmtree(checkpoint_folder / PIECES, ignore_errors=True)
    return trained


def independent_parts(runs: Sequence[NetRun]) -> list[tuple[NetRun, ...]]:
    """Runs by what they build on: no network of one part is asked for by another."""
    parts: list[tuple[set[NetRun], list[NetRun]]] = []
    for run in dict.fromkeys(runs):
        needed, members = _all_of(run), [run]
        apart: list[tuple[set[NetRun], list[NetRun]]] = []
        for other, its_members in parts:
            if needed & other:
                needed, members = needed | other, [*its_members, *members]
            else:
                apart.append((other, its_members))
        parts = [*apart, (needed, members)]
    return [tuple(members) for _, members in parts]


def _all_of(run: NetRun) -> set[NetRun]:
    """A run and all that it builds on, each looked at once."""
    found: set[NetRun] = set()
    waiting = [run]
    while waiting:
        one = waiting.pop()
        if one not in found:
            found.add(one)
            waiting += one.anchors
    return found


def _groups(runs: Sequence[NetRun]) -> list[tuple[NetRun, ...]]:
    return [tuple(group) for wave in all_runs(list(runs)) for group in wave]


def _known_stages(numbers: Hyperparameters) -> dict[str, Stage]:
    return stages_by_name(known_methods().values(), numbers)


def _check_known(groups: Sequence[Sequence[NetRun]], numbers: Hyperparameters, on: str) -> None:
    known = _known_stages(numbers)
    for stage in (run.stage for group in groups for run in group):
        if known.get(stage.name) != stage:
            raise GoalwardError(
                f"stage {stage.name} is of a method of your own, which other machines do not know: "
                f"leave out {argument('on', on)}"
            )


def _finished(checkpoint: Checkpoint, num_groups: int) -> list[Nets] | None:
    """All networks, if all are there."""
    found = [checkpoint.finished(index) for index in range(num_groups)]
    there = [nets for nets in found if nets is not None]
    return there if len(there) == num_groups else None


def _checkpoint(folder: Path, origin: str, groups: Sequence[Sequence[NetRun]]) -> Checkpoint:
    stages = {run.stage.name: run.stage for group in groups for run in group}
    return Checkpoint(folder, origin, stages)


def _joined(runs: tuple[NetRun, ...], parts: Sequence[Nets]) -> Nets:
    """The networks of a group, from wherever each was trained."""
    owners = [nets_of(run, parts) for run in runs]
    alone = [owner.select([run]) for owner, run in zip(owners, runs, strict=True)]
    logged = [
        (owner.log, owner.runs.index(run))
        for owner, run in zip(owners, runs, strict=True)
        if owner.log is not None
    ]
    log = None
    if len(logged) == len(runs):
        log = LossLog(
            steps=logged[0][0].steps,
            loss=torch.stack([one.loss[position] for one, position in logged]),
            held_out_loss=torch.stack([one.held_out_loss[position] for one, position in logged]),
        )
    return Nets(
        runs,
        {name: torch.cat([nets.weights[name] for nets in alone]) for name in alone[0].weights},
        torch.cat([nets.mean for nets in alone]),
        torch.cat([nets.scale for nets in alone]),
        lens=owners[0].lens,
        log=log,
    )


def _last_loss(nets: Nets) -> float:
    losses = nets.log.loss if nets.log is not None else torch.tensor([torch.nan])
    known = losses[~losses.isnan()]
    return float(known[-1]) if len(known) else nan


def _progress(
    runs: Sequence[NetRun], loss: float, num_done: int, num_pieces: int
) -> TrainingProgress:
    """Counted in pieces; runs and loss are those of the networks that came last."""
    return TrainingProgress(
        stages=stage_names(runs),
        num_runs=len(runs),
        group=max(num_done - 1, 0),
        num_groups=num_pieces,
        steps=num_done,
        total_steps=num_pieces,
        loss=loss,
        held_out_loss=None,
    )
