"""Trained networks of several runs, and the values they give."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from goalward.errors import GoalwardError
from goalward.training.inputs import FeatureRows, standardised
from goalward.training.losses import value_of
from goalward.training.presets import Hyperparameters
from goalward.training.runs import Run
from goalward.training.value_net import Weights, net_outputs, some_runs

# Standardised inputs held at once: 128 MiB.
_NUMBERS_AT_A_TIME = 1 << 25


@dataclass(frozen=True, eq=False)
class Nets:
    """The networks of runs with one kind of output: weights and input scaling, runs on axis 0.

    `mean` and `scale` are (runs, 1, size). `fingerprint` says which training they come from.
    """

    runs: tuple[Run, ...]
    weights: Weights
    mean: Tensor
    scale: Tensor
    fingerprint: str = ""

    @property
    def input_size(self) -> int:
        return self.mean.shape[-1]

    def select(self, runs: Sequence[Run]) -> "Nets":
        """The networks of these runs, in this order."""
        chosen = [self.runs.index(run) for run in runs]
        return replace(
            self,
            runs=tuple(runs),
            weights=some_runs(self.weights, chosen),
            mean=self.mean[chosen],
            scale=self.scale[chosen],
        )

    def to(self, device: torch.device) -> "Nets":
        weights = {name: tensor.to(device) for name, tensor in self.weights.items()}
        return replace(
            self, weights=weights, mean=self.mean.to(device), scale=self.scale.to(device)
        )


@torch.no_grad()
def frame_values(
    nets: Nets, rows: FeatureRows, numbers: Hyperparameters
) -> npt.NDArray[np.float32]:
    """The value of every frame by every network, within the range of its stage: (runs, frames).

    Always in float32, wherever and however the networks were trained.
    """
    if rows.size != nets.input_size:
        raise GoalwardError(
            f"the networks were trained on {nets.input_size} features per frame, "
            f"these frames have {rows.size}"
        )
    nets = nets.to(rows.device)
    stages = [run.stage for run in nets.runs]
    value = value_of(stages[0].output, numbers, rows.device)
    size = max(_NUMBERS_AT_A_TIME // (rows.size * len(stages)), 64)
    parts: list[npt.NDArray[np.float32]] = []
    for start in range(0, rows.num_frames, size):
        block = rows.block(start, start + size)[None]
        inputs = standardised(block, nets.mean, nets.scale, torch.float32)
        parts.append(value(net_outputs(nets.weights, inputs)).cpu().numpy())
    lowest = np.array([[stage.lowest] for stage in stages], dtype=np.float32)
    highest = np.array([[stage.highest] for stage in stages], dtype=np.float32)
    return np.clip(np.concatenate(parts, axis=1), lowest, highest)
