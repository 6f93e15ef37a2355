"""Trained networks of several runs, and what they say of frames."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from goalward.errors import GoalwardError
from goalward.spilled import taken
from goalward.training.frames.inputs import FeatureRows, standardised
from goalward.training.frames.lens import Lens
from goalward.training.frames.training_frames import TrainingFrames
from goalward.training.methods.after import Learned
from goalward.training.methods.hyperparameters import Hyperparameters
from goalward.training.methods.outputs import StepsOf
from goalward.training.networks.value_net import Weights, net_outputs, some_runs
from goalward.training.runs import NetRun

FloatArray = npt.NDArray[np.float32]
# Standardised inputs held at once: 128 MiB.
_NUMBERS_AT_A_TIME = 1 << 25


@dataclass(frozen=True, eq=False)
class LossLog:
    """The losses of runs in the course of their training; NaN where there was nothing to score.

    `steps` (points,) are gradient steps. `loss` (runs, points) is the mean over the steps since
    the point before, on the frames that were drawn, weighted as they were, against the targets
    of the moment. `held_out_loss` (runs, points) is that of the held-out episodes at the point.
    """

    steps: Tensor
    loss: Tensor
    held_out_loss: Tensor


@dataclass(frozen=True, eq=False)
class Nets:
    """The networks of runs with one kind of output: weights and input scaling, runs on axis 0.

    `mean` and `scale` are (runs, 1, size). `lens` turns features into what the networks see; None
    where that is the features themselves. `log` is None where none was stored. `after` holds,
    by method, what its step after training learned of each run. `fingerprint` says which
    training they come from.
    """

    runs: tuple[NetRun, ...]
    weights: Weights
    mean: Tensor
    scale: Tensor
    lens: Lens | None = None
    log: LossLog | None = None
    after: Mapping[str, Sequence[Learned]] = field(default_factory=lambda: MappingProxyType({}))
    fingerprint: str = ""

    @property
    def input_size(self) -> int:
        return self.mean.shape[-1]

    def learned(self, method: str) -> Sequence[Learned]:
        """What a method's step after training learned of each run, which may be nothing."""
        return self.after.get(method, [{}] * len(self.runs))

    def select(self, runs: Sequence[NetRun]) -> "Nets":
        """The networks of these runs, in this order; without their log."""
        chosen = [self.runs.index(run) for run in runs]
        return replace(
            self,
            runs=tuple(runs),
            weights=some_runs(self.weights, chosen),
            mean=self.mean[chosen],
            scale=self.scale[chosen],
            log=None,
            after={name: [learned[i] for i in chosen] for name, learned in self.after.items()},
        )

    def to(self, device: torch.device) -> "Nets":
        weights = {name: tensor.to(device) for name, tensor in self.weights.items()}
        return replace(
            self, weights=weights, mean=self.mean.to(device), scale=self.scale.to(device)
        )


def nets_of(run: NetRun, trained: Sequence[Nets]) -> Nets:
    """The group of networks that holds a run's."""
    return next(nets for nets in trained if run in nets.runs)


@torch.no_grad()
def frame_values(nets: Nets, rows: FeatureRows, numbers: Hyperparameters) -> FloatArray:
    """The value of every frame by every network, within the range of its stage: (runs, frames).

    Always in float32, wherever and however the networks were trained.
    """
    stages = [run.stage for run in nets.runs]
    value = stages[0].output.value(numbers.of(stages[0].family), rows.device)
    parts = [value(outputs).cpu().numpy() for outputs in _outputs(nets, rows)]
    lowest = np.array([[stage.lowest] for stage in stages], dtype=np.float32)
    highest = np.array([[stage.highest] for stage in stages], dtype=np.float32)
    return np.clip(np.concatenate(parts, axis=1), lowest, highest)


def frame_distributions(nets: Nets, rows: FeatureRows, numbers: Hyperparameters) -> FloatArray:
    """The chance of success by the end of each bin of steps: (runs, frames, bins)."""
    return np.concatenate(list(some_distributions(nets, rows, numbers)), axis=1)


@torch.no_grad()
def some_distributions(
    nets: Nets, rows: FeatureRows, numbers: Hyperparameters
) -> Iterator[FloatArray]:
    """The same for some frames at a time."""
    stage = nets.runs[0].stage
    if stage.output.distribution is None:
        raise GoalwardError(f"stage {stage.name} predicts no distribution of steps")
    distribution = stage.output.distribution(numbers.of(stage.family), rows.device)
    for outputs in _outputs(nets, rows):
        yield distribution(outputs).cpu().numpy()


def rows_seen_by(
    nets: Nets,
    frames: TrainingFrames,
    device: torch.device,
    needed: npt.NDArray[np.int64] | None = None,
) -> FeatureRows:
    """Frames as these networks see them; all, or the needed ones. Read once, not moved first."""
    frames = _fitting(nets, frames)
    features = frames.features if nets.lens is None else nets.lens.inputs(frames)
    features = features if needed is None else taken(features, needed)
    return FeatureRows(features, device, max_bytes=0)


def _fitting(nets: Nets, frames: TrainingFrames) -> TrainingFrames:
    """The frames, if their sizes are those learned from; where they are not, an error.

    It speaks of features, where a lens makes other numbers of inputs of them. Networks that learned
    without proprioception of its own are not shown any.
    """
    if nets.lens is None:
        return frames
    wanted = nets.lens.num_features(nets.input_size), nets.lens.num_proprioception(nets.input_size)
    found = frames.features.shape[1], frames.proprioception.shape[1]
    if wanted[0] != found[0]:
        raise _other_features(wanted[0], found[0])
    if not wanted[1]:
        return replace(frames, proprioception=frames.proprioception[:, :0])
    if wanted[1] != found[1]:
        raise GoalwardError(
            f"the networks were trained with {wanted[1]} numbers of proprioception per frame, "
            f"these frames have {found[1]}"
        )
    return frames


def _other_features(wanted: int, found: int) -> GoalwardError:
    return GoalwardError(
        f"the networks were trained on {wanted} features per frame, these frames have {found}"
    )


@torch.no_grad()
def frame_chances(
    nets: Nets,
    rows: FeatureRows,
    numbers: Hyperparameters,
    steps: FloatArray,
    steps_of: StepsOf,
    num_steps: float,
) -> FloatArray:
    """How likely every network holds success within some steps of every frame: (runs, frames).

    `steps` (runs, frames) are those that the values of the frames stand for, by `steps_of`; a
    network that says nothing but a value is sure of them.
    """
    stage = nets.runs[0].stage
    chance = stage.output.chance(numbers.of(stage.family), rows.device, steps_of)
    parts: list[FloatArray] = []
    start = 0
    for outputs in _outputs(nets, rows):
        end = start + outputs.shape[1]
        here = torch.from_numpy(steps[:, start:end]).to(rows.device)
        parts.append(chance(outputs, here, num_steps).float().cpu().numpy())
        start = end
    return np.concatenate(parts, axis=1)


@torch.no_grad()
def chance_curves(
    nets: Nets,
    rows: FeatureRows,
    numbers: Hyperparameters,
    steps: FloatArray,
    steps_of: StepsOf,
    num_steps: Sequence[float],
    apart: npt.NDArray[np.int64],
    share: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """The same within many numbers of steps, asking the networks once.

    The mean over networks at every frame, (frames, points), where each counts by its `share`
    (runs, frames), and what each of them says at the frames `apart`, which rise: (runs,
    len(apart), points).
    """
    stage = nets.runs[0].stage
    chance = stage.output.chance(numbers.of(stage.family), rows.device, steps_of)
    mean = np.empty((rows.num_frames, len(num_steps)), dtype=np.float32)
    each = np.empty((len(nets.runs), len(apart), len(num_steps)), dtype=np.float32)
    start = 0
    for outputs in _outputs(nets, rows):
        end = start + outputs.shape[1]
        here = torch.from_numpy(steps[:, start:end]).to(rows.device)
        first, last = np.searchsorted(apart, [start, end])
        chosen = torch.from_numpy(apart[first:last] - start).to(rows.device)
        weight = torch.from_numpy(share[:, start:end]).to(rows.device).double()
        for point, within in enumerate(num_steps):
            said = chance(outputs, here, within).float()
            mean[start:end, point] = (said.double() * weight).sum(0).cpu().numpy()
            each[:, first:last, point] = said[:, chosen].cpu().numpy()
        start = end
    return mean, each


def _outputs(nets: Nets, rows: FeatureRows) -> Iterator[Tensor]:
    """What the networks say of all rows, (runs, rows, outputs) for some of them at a time."""
    if rows.size != nets.input_size:
        raise _other_features(nets.input_size, rows.size)
    nets = nets.to(rows.device)
    size = max(_NUMBERS_AT_A_TIME // (rows.size * len(nets.runs)), 64)
    for start in range(0, rows.num_frames, size):
        block = rows.block(start, start + size)[None]
        inputs = standardised(block, nets.mean, nets.scale, torch.float32)
        yield net_outputs(nets.weights, inputs)
