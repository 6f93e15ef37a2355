"""The training loop: the only one, for every method, on the CPU and on CUDA."""

import logging
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch

from goalward.devices import chosen_device
from goalward.training.after import JudgedFrames
from goalward.training.checkpoint import Checkpoint, fingerprint
from goalward.training.frames import TrainingFrames
from goalward.training.hyperparameters import Hyperparameters
from goalward.training.inputs import FeatureRows
from goalward.training.lens import Lens, lens_of
from goalward.training.methods import Method
from goalward.training.nets import (
    LossLog,
    Nets,
    frame_distributions,
    frame_values,
    nets_of,
    rows_seen_by,
)
from goalward.training.problem import Problem, problem_of
from goalward.training.runs import NetRun, all_runs
from goalward.training.step import (
    State,
    evaluate,
    evaluation_batches,
    folder,
    initial_state,
    train_batch,
)

_log = logging.getLogger("goalward.training")

_WARM_UP_BATCHES = 3


@dataclass(frozen=True)
class TrainingProgress:
    """Where a training stands. Losses are means over the runs of the group."""

    stages: tuple[str, ...]
    num_runs: int
    steps: int
    total_steps: int
    loss: float
    held_out_loss: float | None


@dataclass(frozen=True)
class Pace:
    """How often a training reports and is saved, in seconds of wall time."""

    report_s: float = 0.5
    save_s: float = 60.0


UNHURRIED = Pace()
OnProgress = Callable[[TrainingProgress], None]


def train(
    frames: TrainingFrames,
    wanted: Iterable[NetRun],
    numbers: Hyperparameters,
    *,
    device: torch.device | str | None = None,
    checkpoint_folder: Path | None = None,
    on_progress: OnProgress | None = None,
    pace: Pace = UNHURRIED,
    max_feature_bytes: int | None = None,
) -> list[Nets]:
    """Networks for the wanted runs and for the runs they build on, group by group.

    With a folder, groups that are finished there are read instead of trained and one that was
    interrupted goes on; on the CPU the result is the same bit for bit as without the break.
    """
    chosen = chosen_device(device)
    groups = [tuple(group) for wave in all_runs(list(wanted)) for group in wave]
    sight = Sight(frames, numbers, chosen, max_feature_bytes)
    reporter = _Reporter(groups, numbers, on_progress, pace)
    origin = fingerprint(frames, numbers, groups)
    stages = {run.stage.name: run.stage for group in groups for run in group}
    checkpoint = Checkpoint(checkpoint_folder, origin, stages) if checkpoint_folder else None
    trained: list[Nets] = []
    for index, group in enumerate(groups):
        nets = checkpoint.finished(index) if checkpoint else None
        what = f"{', '.join(_stage_names(group))}, {_networks(group)}"
        if nets is not None:
            _log.info("read from checkpoint: %s", what)
        else:
            _log.info("training %s", what)
            anchors = anchor_values(frames, sight, group, trained, numbers)
            dtype = torch.bfloat16 if chosen.type == "cuda" else torch.float32
            family = group[0].stage.family
            own, seen = numbers.of(family), sight.of(family)
            problem = problem_of(seen.frames, seen.rows, list(group), anchors, own, dtype)
            nets = _train_group(problem, index, checkpoint, reporter)
            nets = replace(nets, lens=seen.lens, fingerprint=origin)
            if checkpoint:
                checkpoint.finish(index, nets)
        trained.append(nets)
    return trained


class Seen(NamedTuple):
    """Frames as some networks see them: through a lens, if they have one."""

    lens: Lens | None
    frames: TrainingFrames
    rows: FeatureRows


class Sight:
    """Frames as the networks of each family see them, made when first asked for."""

    def __init__(
        self,
        frames: TrainingFrames,
        numbers: Hyperparameters,
        device: torch.device,
        max_bytes: int | None = None,
    ) -> None:
        self._frames = frames
        self._numbers = numbers
        self._make_rows = lambda features: FeatureRows(features, device, max_bytes)
        self._made: dict[str, Seen] = {}

    def of(self, family: str) -> Seen:
        if family not in self._made:
            lens = lens_of(self._frames, self._numbers.of(family))
            self._made[family] = self._as_they_are if lens is None else self._through(lens)
        return self._made[family]

    @cached_property
    def _as_they_are(self) -> Seen:
        return Seen(None, self._frames, self._make_rows(self._frames.features))

    def _through(self, lens: Lens) -> Seen:
        frames = replace(self._frames, features=lens.inputs(self._frames))
        return Seen(lens, frames, self._make_rows(frames.features))


def anchor_values(
    frames: TrainingFrames,
    sight: Sight,
    runs: tuple[NetRun, ...],
    trained: list[Nets],
    numbers: Hyperparameters,
) -> dict[tuple[NetRun, ...], npt.NDArray[np.float32]]:
    """What the networks say that some runs build on: (frames,) values, -1 at goals, or
    (frames, bins) distributions.

    The mean over those of a run's anchors that never saw the episode, or over all where every
    one did. One anchor trained on everything: the paper's. Folds: no episode is judged by a
    network that learned its label.
    """
    values = _values_of_anchors(sight, runs, trained, numbers)
    anchors: dict[tuple[NetRun, ...], npt.NDArray[np.float32]] = {}
    for run in runs:
        if not run.anchors or run.anchors in anchors:
            continue
        unseen = np.stack([~frames.frames_of(anchor.episodes) for anchor in run.anchors])
        counted = np.where(unseen.any(axis=0), unseen, True)
        if run.stage.reads == "distribution":
            nets = nets_of(run.anchors[0], trained).select(run.anchors)
            rows = sight.of(run.anchors[0].stage.family).rows
            weight = (counted / counted.sum(axis=0)).astype(np.float32)
            said = frame_distributions(nets, rows, numbers)
            anchors[run.anchors] = np.einsum("afb,af->fb", said, weight)
        else:
            stacked = np.stack([values[anchor] for anchor in run.anchors])
            mean = (stacked * counted).sum(axis=0) / counted.sum(axis=0)
            anchors[run.anchors] = np.where(frames.endings.at_goal, -1.0, mean).astype(np.float32)
    return anchors


def _values_of_anchors(
    sight: Sight, runs: tuple[NetRun, ...], trained: list[Nets], numbers: Hyperparameters
) -> dict[NetRun, npt.NDArray[np.float32]]:
    """Values (frames,) of every network that runs build on by its value.

    All networks of a group at once: alone or in company they would round differently, and values
    are to be those of version 0.1.0 bit for bit. Distributions are many numbers per frame, and are
    read for one seed at a time.
    """
    by_value = [run for run in runs if run.stage.reads == "value"]
    needed = list(dict.fromkeys(anchor for run in by_value for anchor in run.anchors))
    values: dict[NetRun, npt.NDArray[np.float32]] = {}
    for nets in trained:
        here = [run for run in needed if run in nets.runs]
        if here:
            rows = sight.of(here[0].stage.family).rows
            found = frame_values(nets.select(here), rows, numbers)
            values |= dict(zip(here, found, strict=True))
    return values


def learn_after(
    method: Method,
    runs: Sequence[NetRun],
    frames: TrainingFrames,
    trained: Sequence[Nets],
    numbers: Hyperparameters,
    device: torch.device | str | None = None,
) -> list[Nets]:
    """The trained networks with what a method's step after training learns of some runs.

    The runs are those of all seeds on one task and subset. A step learns from the frames of
    held-out episodes, or from those a run was trained on where it holds none out.
    """
    if method.after is None:
        return list(trained)
    _log.info("%s after training %s, %s", method.after.name, method.name, _networks(runs))
    nets = nets_of(runs[0], trained)
    rows = [np.flatnonzero(frames.frames_of(run.held_out or run.episodes)) for run in runs]
    needed = np.unique(np.concatenate(rows))
    features = rows_seen_by(nets, frames, chosen_device(device), needed)
    values = frame_values(nets.select(runs), features, numbers)
    judged = [
        JudgedFrames(frames, here, value[np.searchsorted(needed, here)], bool(run.held_out))
        for run, here, value in zip(runs, rows, values, strict=True)
    ]
    own = numbers.of(runs[0].stage.family)
    learned = dict(zip(runs, method.after.learn(judged, own), strict=True))
    known = zip(nets.runs, nets.learned(method.name), strict=True)
    after = {**nets.after, method.name: [learned.get(run, before) for run, before in known]}
    return [replace(one, after=after) if one is nets else one for one in trained]


def _train_group(
    problem: Problem, index: int, checkpoint: Checkpoint | None, reporter: "_Reporter"
) -> Nets:
    stored = checkpoint.progress(index) if checkpoint else None
    state = initial_state(problem)
    for name, tensor in (stored or {}).items():
        state[name].copy_(tensor)
    batch = int(state["batch"])
    if batch:
        _log.info("going on after batch %d of %d", batch, problem.numbers.num_batches)
    advance = batch_trainer(problem, state)
    points = set(evaluation_batches(problem.numbers))
    saved = time.monotonic()
    between_batches = True
    try:
        while batch < problem.numbers.num_batches:
            between_batches = False
            advance()
            batch += 1
            if batch in points:
                evaluate(problem, state)
            between_batches = True
            reporter.report(index, problem, state, batch)
            if checkpoint and time.monotonic() - saved > reporter.pace.save_s:
                checkpoint.save_progress(index, state)
                saved = time.monotonic()
    except KeyboardInterrupt:
        if checkpoint and between_batches:
            checkpoint.save_progress(index, state)
        raise
    weights = folder(state, "best") or folder(state, "weights")
    weights = {name: tensor.cpu() for name, tensor in weights.items()}
    losses = {name: tensor.cpu() for name, tensor in folder(state, "log").items()}
    steps = torch.tensor(sorted(points)) * problem.numbers.gradient_steps_per_batch
    log = LossLog(steps=steps, **losses)
    return Nets(problem.runs, weights, problem.mean.cpu(), problem.scale.cpu(), log=log)


def batch_trainer(problem: Problem, state: State) -> Callable[[], None]:
    """A function that trains one batch; on CUDA it replays a graph after a few batches.

    The batches that warm up the graph are part of the training like any other. Features that
    stay on the host cannot be part of a graph: then every batch is launched by hand.
    """
    if problem.device.type != "cuda" or not problem.rows.on_device:
        return lambda: train_batch(problem, state)
    stream = torch.cuda.Stream()
    graph = torch.cuda.CUDAGraph()
    calls = 0

    def advance() -> None:
        nonlocal calls
        calls += 1
        if calls <= _WARM_UP_BATCHES:
            stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(stream):
                train_batch(problem, state)
            torch.cuda.current_stream().wait_stream(stream)
            return
        if calls == _WARM_UP_BATCHES + 1:
            with torch.cuda.graph(graph):
                train_batch(problem, state)
        graph.replay()

    return advance


class _Reporter:
    """Calls back now and then, over all groups of a training."""

    def __init__(
        self,
        groups: list[tuple[NetRun, ...]],
        numbers: Hyperparameters,
        on_progress: OnProgress | None,
        pace: Pace,
    ) -> None:
        self.pace = pace
        self._on_progress = on_progress
        # Groups differ in size, and a step of more runs takes longer: count steps of runs.
        own = [numbers.of(group[0].stage.family) for group in groups]
        self._runs = [len(group) for group in groups]
        self._steps = [
            len(group) * mine.num_batches * mine.gradient_steps_per_batch
            for group, mine in zip(groups, own, strict=True)
        ]
        self._last = time.monotonic()

    def report(self, index: int, problem: Problem, state: State, batch: int) -> None:
        now = time.monotonic()
        last = batch == problem.numbers.num_batches
        if self._on_progress is None or (now - self._last < self.pace.report_s and not last):
            return
        self._last = now
        per_batch = problem.numbers.gradient_steps_per_batch
        before = sum(self._steps[:index])
        held_out = None
        if problem.held_out is not None:
            held_out = float(state["held_out_loss"].mean())
        self._on_progress(
            TrainingProgress(
                stages=_stage_names(problem.runs),
                num_runs=len(problem.runs),
                steps=before + batch * self._runs[index] * per_batch,
                total_steps=sum(self._steps),
                loss=float(state["loss"].mean()),
                held_out_loss=held_out,
            )
        )


def _stage_names(runs: Sequence[NetRun]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(run.stage.name for run in runs))


def _networks(runs: Sequence[NetRun]) -> str:
    return "1 network" if len(runs) == 1 else f"{len(runs)} networks"
