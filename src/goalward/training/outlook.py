"""What a training will take, before it begins: networks, seconds on this machine, memory."""

import math
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import torch

from goalward import spilled
from goalward.devices import chosen_device, on_device
from goalward.errors import GoalwardError
from goalward.rollouts.endings import Endings
from goalward.training.fit import batch_trainer
from goalward.training.frames.blocks import frames_at_once
from goalward.training.frames.lens import Sight
from goalward.training.frames.task_codes import TaskCodes
from goalward.training.frames.training_frames import TrainingFrames
from goalward.training.methods.hyperparameters import Hyperparameters
from goalward.training.networks.fused import product_dtype
from goalward.training.networks.value_net import NetShape
from goalward.training.problem import problem_of
from goalward.training.runs import NetRun, all_runs
from goalward.training.side_by_side import side_by_side
from goalward.training.step import initial_state

# A try of one kind of network takes about so long.
_TRY_S = 0.4
_FEWEST_STEPS = 4
_TRIED_EPISODES, _TRIED_FRAMES = 8, 64
# How episodes ended, and what a network says, of every frame whatever its features.
_BYTES_OF_A_FRAME = 100
# torch and what it loads, of a process that has done nothing yet.
_TORCH_BYTES = 500 << 20


@dataclass(frozen=True)
class TrainingOutlook:
    """All networks to be trained, in groups one after the other; seconds if none stops early."""

    num_networks: int
    num_groups: int
    seconds: float
    num_bytes: int


def training_outlook(
    wanted: Sequence[NetRun],
    numbers: Hyperparameters,
    *,
    num_frames: int,
    num_features: int,
    num_proprioception: int = 0,
    tasks: TaskCodes | None = None,
    device: torch.device | str | None = None,
) -> TrainingOutlook:
    """What training these runs, and those they build on, takes; some steps of each kind are tried.

    Runs are planned from outcomes alone: features need not be there yet, only their number.
    """
    chosen = chosen_device(device)
    groups = [group for wave in all_runs(list(wanted)) for group in wave]
    tried: dict[tuple[str, str, bool, int], tuple[float, int]] = {}
    seconds, weight_bytes, largest = 0.0, 0, 0
    for group in groups:
        own = numbers.of(group[0].stage.family)
        # On the CPU so many runs are computed at a time: they stand for all.
        size = min(len(group), len(group) if chosen.type == "cuda" else torch.get_num_threads())
        stage = group[0].stage
        kind = (stage.family, stage.output.name, stage.backup is not None, size)
        if kind not in tried:
            sample = _Sample(num_features, num_proprioception, numbers, tasks, chosen)
            with _memory_explained(own):
                tried[kind] = sample.try_steps(group[:size])
        per_step, parameters = tried[kind]
        steps = own.num_batches * own.gradient_steps_per_batch
        steps += _steps_of_looks(group[0], own, num_frames)
        seconds += steps * per_step * math.ceil(len(group) / size)
        weight_bytes += 4 * parameters * len(group)
        inputs = _num_inputs(own, num_features, tasks) or num_features
        held = min(num_frames, frames_at_once(group, 4 * inputs, own))
        # Weights, two moments of Adam and the best so far; a chance per frame and run to be drawn;
        # of blocks this one and the next.
        block = 0 if held == num_frames else 8 * inputs * held
        block += len(group) * 16 * held + _table_bytes(group, numbers, held)
        largest = max(largest, len(group) * 16 * parameters + block)
    families = {group[0].stage.family for group in groups}
    inputs = [_num_inputs(numbers.of(family), num_features, tasks) for family in families]
    num_bytes = _TORCH_BYTES + weight_bytes + largest + _BYTES_OF_A_FRAME * num_frames
    # Whatever is larger lies in a file.
    for size in (num_features, *inputs):
        needed = 4 * num_frames * size
        num_bytes += needed if needed <= spilled.IN_MEMORY_BYTES else 0
    return TrainingOutlook(sum(map(len, groups)), len(groups), seconds, num_bytes)


@contextmanager
def _memory_explained(numbers: Hyperparameters) -> Generator[None]:
    """Networks that do not fit are found here, where some steps are tried."""
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        # torch has no kind of its own for a machine without a GPU.
        if isinstance(error, RuntimeError) and "alloc" not in str(error):
            raise
        raise GoalwardError(
            f"networks of width {numbers.width} that learn from batches of {numbers.batch_size} "
            "frames do not fit into memory"
        ) from error


def _steps_of_looks(run: NetRun, numbers: Hyperparameters, num_frames: int) -> float:
    """What judging its held-out episodes takes, at every look and at the end, in gradient steps.

    Forward alone is a third of a step; few frames take nothing, many as long as the training.
    """
    held_out = len(run.held_out) / max(len(run.held_out) + len(run.episodes), 1)
    judged = held_out * num_frames * (numbers.evaluations + 1)
    return judged / numbers.batch_size / 3


def _num_inputs(numbers: Hyperparameters, num_features: int, tasks: TaskCodes | None) -> int:
    """What networks see of a frame besides the features themselves."""
    codes = 0 if tasks is None else tasks.size
    if not (codes or numbers.lags or (numbers.max_inputs and num_features > numbers.max_inputs)):
        return 0
    kept = min(num_features, numbers.max_inputs or num_features)
    return kept * (1 + len(numbers.lags)) + codes


def _table_bytes(group: Sequence[NetRun], numbers: Hyperparameters, num_frames: int) -> int:
    """Targets of a group, and what the networks say that it builds on."""
    first = group[0]
    size = first.stage.output.size(numbers.of(first.stage.family))
    distinct = len({run.anchors for run in group})
    said = len(first.anchors) * size if first.stage.reads == "distribution" else 1
    return 4 * num_frames * (2 * size * distinct + said)


class _Sample:
    """A few made-up episodes with as many features as the real ones, to try steps on."""

    def __init__(
        self,
        num_features: int,
        num_proprioception: int,
        numbers: Hyperparameters,
        tasks: TaskCodes | None,
        device: torch.device,
    ) -> None:
        draws = np.random.default_rng(0)
        shape = (_TRIED_EPISODES * _TRIED_FRAMES, num_features)
        ends = np.arange(1, _TRIED_EPISODES + 1) * _TRIED_FRAMES
        goals = np.where(np.arange(_TRIED_EPISODES) % 2, -1, _TRIED_FRAMES - 1)
        self.numbers = numbers.for_horizon(_TRIED_FRAMES)
        self.frames = TrainingFrames(
            features=draws.normal(size=shape).astype(np.float32),
            endings=Endings(ends, goals),
            episode_task=("",) * _TRIED_EPISODES,
            episode_id=tuple(str(number) for number in range(_TRIED_EPISODES)),
            proprioception=draws.normal(size=(shape[0], num_proprioception)).astype(np.float32),
        )
        self.sight = Sight(self.frames, self.numbers, device, tasks=tasks)
        self.device = device

    def try_steps(self, runs: Sequence[NetRun]) -> tuple[float, int]:
        """Seconds per gradient step of all these runs together, and the weights of one network."""
        family = runs[0].stage.family
        own, seen = self.numbers.of(family), self.sight.of(family)
        everything = tuple(range(_TRIED_EPISODES))
        here = [replace(run, episodes=everything, held_out=()) for run in runs]
        anchors = {run.anchors: self._said_before(run, own) for run in here if run.anchors}
        dtype = product_dtype(self.device)
        problem = problem_of(seen.frames, seen.rows, here, anchors, own, dtype)
        state = initial_state(problem)
        shape = NetShape(problem.rows.size, problem.output_size, own.width, own.num_layers)
        parameters = sum(num_in * num_out + 3 * num_out for num_in, num_out in shape.layer_sizes())
        with on_device(self.device), side_by_side(self.device) as each:
            advance = batch_trainer(problem, state, each)
            for _ in range(min(own.num_batches, _FEWEST_STEPS)):
                advance()
            _wait_for(self.device)
            started, steps = time.perf_counter(), 0
            while steps < min(own.num_batches, _FEWEST_STEPS) or (
                steps < own.num_batches and time.perf_counter() - started < _TRY_S
            ):
                advance()
                steps += 1
                _wait_for(self.device)
            per_batch = (time.perf_counter() - started) / steps
        return per_batch / own.gradient_steps_per_batch, parameters

    def _said_before(self, run: NetRun, numbers: Hyperparameters) -> npt.NDArray[np.float32]:
        """Something to build on, in place of what trained networks say."""
        if run.stage.reads == "value":
            return np.zeros(self.frames.num_frames, dtype=np.float32)
        rising = np.linspace(0, 0.5, run.stage.output.size(numbers), dtype=np.float32)
        return np.tile(rising, (self.frames.num_frames, 1))


def _wait_for(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)
