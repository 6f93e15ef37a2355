"""The training loop: the only one, for every method, on the CPU and on CUDA."""

import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from goalward.devices import chosen_device, on_device
from goalward.stops import stops_held_back
from goalward.training.frames.blocks import Blocks, frames_per_block
from goalward.training.frames.lens import Sight
from goalward.training.frames.task_codes import TaskCodes
from goalward.training.frames.training_frames import TrainingFrames
from goalward.training.methods.after import JudgedFrames
from goalward.training.methods.hyperparameters import Hyperparameters
from goalward.training.methods.table import Method
from goalward.training.networks.anchors import anchor_values
from goalward.training.networks.fused import product_dtype
from goalward.training.networks.nets import (
    LossLog,
    Nets,
    frame_values,
    nets_of,
    rows_seen_by,
)
from goalward.training.problem import Problem, problem_of
from goalward.training.progress import UNHURRIED, OnProgress, Pace, Reporter, stage_names
from goalward.training.runs import NetRun, all_runs
from goalward.training.scoring import evaluate
from goalward.training.side_by_side import Each, one_by_one, side_by_side
from goalward.training.step import (
    State,
    evaluation_batches,
    folder,
    has_stopped,
    initial_state,
    train_batch,
)
from goalward.training.stored.checkpoint import Checkpoint
from goalward.training.stored.origin import fingerprint

_log = logging.getLogger("goalward.training")

_WARM_UP_BATCHES = 3


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
    tasks: TaskCodes | None = None,
) -> list[Nets]:
    """Networks for the wanted runs and for the runs they build on, group by group.

    With `tasks` the networks are told which task a frame is of.

    With a folder, groups that are finished there are read instead of trained and one that was
    interrupted goes on; on the CPU the result is the same bit for bit as without the break.
    """
    chosen = chosen_device(device)
    groups = [tuple(group) for wave in all_runs(list(wanted)) for group in wave]
    sight = Sight(frames, numbers, chosen, max_feature_bytes, tasks)
    reporter = Reporter(groups, numbers, on_progress, pace)
    origin = fingerprint(frames, numbers, groups, tasks)
    stages = {run.stage.name: run.stage for group in groups for run in group}
    checkpoint = Checkpoint(checkpoint_folder, origin, stages) if checkpoint_folder else None
    trained: list[Nets] = []
    for index, group in enumerate(groups):
        nets = checkpoint.finished(index) if checkpoint else None
        if nets is not None and tuple(nets.runs) != tuple(group):
            _log.warning("networks of other runs lie where these should: they are trained again")
            nets = None
        what = f"{', '.join(stage_names(group))}, {_networks(group)}"
        if nets is not None:
            _log.info("read from checkpoint: %s", what)
        else:
            _log.info("training %s", what)
            anchors = anchor_values(frames, sight, group, trained, numbers)
            dtype = product_dtype(chosen)
            family = group[0].stage.family
            own, seen = numbers.of(family), sight.of(family)
            num_codes = 0 if seen.lens is None else seen.lens.num_codes
            if frames_per_block(seen.frames, group, own) < frames.num_frames:
                blocks = Blocks(seen.frames, group, anchors, own, chosen, dtype, num_codes)
                _log.info("in %d blocks: all frames take more than block_mb", blocks.num_blocks)
                with closing(blocks), on_device(chosen):
                    nets = _train_group(blocks, index, checkpoint, reporter)
            else:
                problem = problem_of(
                    seen.frames, seen.rows, list(group), anchors, own, dtype, num_codes
                )
                with on_device(chosen):
                    nets = _train_group(problem, index, checkpoint, reporter)
            nets = replace(nets, runs=group, lens=seen.lens, fingerprint=origin)
            if checkpoint:
                checkpoint.finish(index, nets)
        trained.append(nets)
    if checkpoint:
        checkpoint.forget_progress()
    return trained


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
    given: Problem | Blocks, index: int, checkpoint: Checkpoint | None, reporter: Reporter
) -> Nets:
    blocks = given if isinstance(given, Blocks) else None
    stored = checkpoint.progress(index) if checkpoint else None
    problem, state = _begun(given, stored)
    batch = int(state["batch"])
    if batch:
        _log.info("going on after batch %d of %d", batch, problem.numbers.num_batches)
    points = set(evaluation_batches(problem.numbers))
    saved = time.monotonic()
    between_batches = True
    try:
        with stops_held_back() as look_for_stops, side_by_side(problem.device) as each:
            advance = batch_trainer(problem, state, each)
            is_over = bool(has_stopped(problem, state).all())
            while batch < problem.numbers.num_batches and not is_over:
                if blocks is not None and batch and blocks.begins(batch):
                    problem = blocks.problem(batch)
                    state["mass"] = problem.first_mass.clone()
                    advance = batch_trainer(problem, state, each)
                between_batches = False
                advance()
                batch += 1
                if batch in points:
                    evaluate(problem, state, *([] if blocks is None else [blocks.held_out()]))
                    is_over = bool(has_stopped(problem, state).all())
                between_batches = True
                reporter.report(index, problem, state, batch)
                if checkpoint and time.monotonic() - saved > reporter.pace.save_s:
                    checkpoint.save_progress(index, state)
                    saved = time.monotonic()
                look_for_stops()
    except KeyboardInterrupt:
        if checkpoint and between_batches:
            checkpoint.save_progress(index, state)
            where = f"after batch {batch} of {problem.numbers.num_batches}"
            _log.info("stopped: the training is saved %s", where)
        raise
    weights = folder(state, "best") or folder(state, "weights")
    weights = {name: tensor.cpu() for name, tensor in weights.items()}
    losses = {name: tensor.cpu() for name, tensor in folder(state, "log").items()}
    steps = torch.tensor(sorted(points)) * problem.numbers.gradient_steps_per_batch
    log = LossLog(steps=steps, **losses)
    return Nets(problem.runs, weights, problem.mean.cpu(), problem.scale.cpu(), log=log)


def _begun(given: Problem | Blocks, stored: Mapping[str, Tensor] | None) -> tuple[Problem, State]:
    """What there is to learn from now, and the state: as it was stored, or before the first batch.

    Another version's state may have other parts: then the training begins again.
    """
    if not isinstance(given, Blocks):
        state = initial_state(given)
        if stored is not None and stored.keys() == state.keys():
            for name, tensor in stored.items():
                state[name].copy_(tensor)
        return given, state
    batch = 0 if stored is None else int(stored["batch"])
    problem = given.problem(min(batch, given.numbers.num_batches - 1))
    state = initial_state(problem, given.holds_out)
    if stored is not None and stored.keys() == state.keys():
        # Between two blocks the priorities are those of the block that went.
        kept = [name for name in stored if name != "mass" or not given.begins(batch)]
        for name in kept:
            state[name].copy_(stored[name])
    elif batch:
        return _begun(given, None)
    return problem, state


def batch_trainer(problem: Problem, state: State, each: Each = one_by_one) -> Callable[[], None]:
    """A function that trains one batch; on CUDA it replays a graph after a few batches.

    The batches that warm up the graph are part of the training like any other. Features that
    stay on the host cannot be part of a graph: then every batch is launched by hand.
    """
    if problem.device.type != "cuda" or not problem.rows.on_device:
        return lambda: train_batch(problem, state, each)
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


def _networks(runs: Sequence[NetRun]) -> str:
    return "1 network" if len(runs) == 1 else f"{len(runs)} networks"
