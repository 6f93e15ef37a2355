"""The training loop: the only one, for every method, on the CPU and on CUDA."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch

from goalward.devices import chosen_device
from goalward.training.checkpoint import Checkpoint, fingerprint
from goalward.training.frames import Recording
from goalward.training.inputs import FeatureRows
from goalward.training.nets import Nets, frame_values
from goalward.training.presets import Hyperparameters
from goalward.training.problem import Problem, problem
from goalward.training.runs import Run, all_runs
from goalward.training.step import (
    State,
    folder,
    initial_state,
    score_held_out,
    train_batch,
)

_WARM_UP_BATCHES = 3


@dataclass(frozen=True)
class Progress:
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
OnProgress = Callable[[Progress], None]


def train(
    recording: Recording,
    wanted: Iterable[Run],
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
    rows = FeatureRows(recording.features, chosen, max_feature_bytes)
    reporter = _Reporter(groups, numbers, on_progress, pace)
    origin = fingerprint(recording, numbers, groups)
    checkpoint = Checkpoint(checkpoint_folder, origin) if checkpoint_folder else None
    trained: list[Nets] = []
    for index, group in enumerate(groups):
        nets = checkpoint.finished(index) if checkpoint else None
        if nets is None:
            anchors = anchor_values(recording, rows, group, trained, numbers)
            dtype = torch.bfloat16 if chosen.type == "cuda" else torch.float32
            task = problem(recording, rows, list(group), anchors, numbers, dtype)
            nets = _train_group(task, index, checkpoint, reporter)
            nets = replace(nets, fingerprint=origin)
            if checkpoint:
                checkpoint.finish(index, nets)
        trained.append(nets)
    return trained


def nets_of(run: Run, trained: list[Nets]) -> Nets:
    """The group of networks that holds a run's."""
    return next(nets for nets in trained if run in nets.runs)


def anchor_values(
    recording: Recording,
    rows: FeatureRows,
    runs: tuple[Run, ...],
    trained: list[Nets],
    numbers: Hyperparameters,
) -> dict[Run, npt.NDArray[np.float32]]:
    """The target functions of those runs that build on others: (frames,) each, -1 at goals.

    The mean over those of a run's anchors that never saw the episode, or over all where every
    one did. One anchor trained on everything: the paper's. Folds: no episode is judged by a
    network that learned its label.
    """
    needed = list(dict.fromkeys(anchor for run in runs for anchor in run.anchors))
    values: dict[Run, npt.NDArray[np.float32]] = {}
    for nets in trained:
        here = [run for run in needed if run in nets.runs]
        if here:
            found = frame_values(nets.select(here), rows, numbers)
            values |= dict(zip(here, found, strict=True))
    anchors: dict[Run, npt.NDArray[np.float32]] = {}
    for run in runs:
        if run.anchors:
            unseen = np.stack([~recording.frames_of(anchor.episodes) for anchor in run.anchors])
            counted = np.where(unseen.any(axis=0), unseen, True)
            stacked = np.stack([values[anchor] for anchor in run.anchors])
            mean = (stacked * counted).sum(axis=0) / counted.sum(axis=0)
            anchors[run] = np.where(recording.at_goal, -1.0, mean).astype(np.float32)
    return anchors


def _train_group(
    task: Problem, index: int, checkpoint: Checkpoint | None, reporter: "_Reporter"
) -> Nets:
    stored = checkpoint.progress(index) if checkpoint else None
    state = initial_state(task)
    for name, tensor in (stored or {}).items():
        state[name].copy_(tensor)
    advance = batch_trainer(task, state)
    num_batches = task.numbers.num_batches
    every = max(num_batches // max(task.numbers.evaluations, 1), 1)
    saved = time.monotonic()
    done = int(state["batch"])
    between_batches = True
    try:
        while done < num_batches:
            between_batches = False
            advance()
            between_batches = True
            done += 1
            if done % every == 0 or done == num_batches:
                score_held_out(task, state)
            reporter.report(index, task, state, done)
            if checkpoint and time.monotonic() - saved > reporter.pace.save_s:
                checkpoint.save_progress(index, state)
                saved = time.monotonic()
    except KeyboardInterrupt:
        if checkpoint and between_batches:
            checkpoint.save_progress(index, state)
        raise
    weights = folder(state, "best") or folder(state, "weights")
    weights = {name: tensor.cpu() for name, tensor in weights.items()}
    return Nets(task.runs, weights, task.mean.cpu(), task.scale.cpu())


def batch_trainer(task: Problem, state: State) -> Callable[[], None]:
    """A function that trains one batch; on CUDA it replays a graph after a few batches.

    The batches that warm up the graph are part of the training like any other. Features that
    stay on the host cannot be part of a graph: then every batch is launched by hand.
    """
    if task.device.type != "cuda" or not task.rows.on_device:
        return lambda: train_batch(task, state)
    stream = torch.cuda.Stream()
    graph = torch.cuda.CUDAGraph()
    calls = 0

    def advance() -> None:
        nonlocal calls
        calls += 1
        if calls <= _WARM_UP_BATCHES:
            stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(stream):
                train_batch(task, state)
            torch.cuda.current_stream().wait_stream(stream)
            return
        if calls == _WARM_UP_BATCHES + 1:
            with torch.cuda.graph(graph):
                train_batch(task, state)
        graph.replay()

    return advance


class _Reporter:
    """Calls back now and then, over all groups of a training."""

    def __init__(
        self,
        groups: list[tuple[Run, ...]],
        numbers: Hyperparameters,
        on_progress: OnProgress | None,
        pace: Pace,
    ) -> None:
        self.pace = pace
        self._on_progress = on_progress
        self._numbers = numbers
        # Groups differ in size, and a step of more runs takes longer: count steps of runs.
        self._runs = [len(group) for group in groups]
        self._last = time.monotonic()

    def report(self, index: int, task: Problem, state: State, done: int) -> None:
        now = time.monotonic()
        last = done == task.numbers.num_batches
        if self._on_progress is None or (now - self._last < self.pace.report_s and not last):
            return
        self._last = now
        per_batch = self._numbers.gradient_steps_per_batch
        total = self._numbers.num_batches
        before = sum(self._runs[:index]) * total
        held_out = None
        if task.held_out is not None:
            held_out = float(state["held_out_loss"].mean())
        self._on_progress(
            Progress(
                stages=tuple(dict.fromkeys(run.stage_name for run in task.runs)),
                num_runs=len(task.runs),
                steps=(before + done * self._runs[index]) * per_batch,
                total_steps=sum(self._runs) * total * per_batch,
                loss=float(state["loss"].mean()),
                held_out_loss=held_out,
            )
        )
