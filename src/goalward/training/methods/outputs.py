"""What a network's numbers mean: one object per kind of output."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from goalward.targets.bins import NUM_BINS, bin_centres, expected_value, project_onto_bins
from goalward.targets.survival import (
    chance_by_bin,
    geometric_edges,
    hazard_loss,
    soft_hazard_loss,
    success_probability,
    survival_value,
)
from goalward.training.methods.hyperparameters import Hyperparameters

FloatArray = npt.NDArray[np.floating[Any]]
# outputs (runs, rows, size) -> values (runs, rows)
ValueOf = Callable[[Tensor], Tensor]
# (outputs (runs, rows, size), target (runs, rows)) -> loss and error, (runs, rows) each
FrameLoss = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]
# (outputs (runs, rows, size), steps to the goal (runs, rows), number of steps) -> (runs, rows)
ChanceOf = Callable[[Tensor, Tensor, float], Tensor]
# values -> steps to the goal
StepsOf = Callable[[FloatArray], FloatArray]

# The bin at -0.715 stands for a little more than 286 steps of 400.
_ROUNDING = 1e-6


@dataclass(frozen=True)
class Output:
    """What the numbers that a network says of a frame mean.

    `value`, `loss` and `chance` are given the hyper-parameters and the device once, and return
    the function that is called for every batch: what tensors that needs are made before a CUDA
    graph is, which could not copy them from the host.

    `loss` also returns the error that sets a frame's priority in replay. `chance` is how likely
    success is within a number of steps; besides the outputs it may read the steps that the value
    stands for, and it is given the way from a value to steps.

    `distribution` is the chance of success by the end of each bin of steps, where an output has
    bins of steps: what later stages may build on.

    Networks of the same output are trained side by side. Another loss is
    `replace(VALUE, name="huber", loss=...)`.
    """

    name: str
    size: Callable[[Hyperparameters], int]
    value: Callable[[Hyperparameters, torch.device], ValueOf]
    loss: Callable[[Hyperparameters, torch.device], FrameLoss]
    chance: Callable[[Hyperparameters, torch.device, StepsOf], ChanceOf]
    distribution: Callable[[Hyperparameters, torch.device], ValueOf] | None = None


def _within(steps: Tensor, num_steps: float) -> Tensor:
    """Never (inf) is not within any number of steps, be it infinite."""
    return (steps <= num_steps) & steps.isfinite()


# ---- value: the number itself, by squared error -----------------------------------------------


def _squared_loss(outputs: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    difference = outputs[..., 0] - target
    return difference**2, difference.detach()


def _certain(outputs: Tensor, steps: Tensor, num_steps: float) -> Tensor:
    """A number without a spread is sure of itself: 1 where it says no more steps than these."""
    return _within(steps, num_steps).float()


VALUE = Output(
    name="value",
    size=lambda numbers: 1,
    value=lambda numbers, device: lambda outputs: outputs[..., 0],
    loss=lambda numbers, device: _squared_loss,
    chance=lambda numbers, device, steps_of: _certain,
)


# ---- bins: a distribution over returns, by cross-entropy --------------------------------------


def _bins_loss(outputs: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """The error is |V - target|, as for the number itself, so that both draw frames alike."""
    log_chance = outputs.log_softmax(-1)
    loss = -(project_onto_bins(target, outputs.shape[-1]) * log_chance).sum(-1)
    return loss, (expected_value(log_chance.detach().exp()) - target)


def _bins_chance(numbers: Hyperparameters, device: torch.device, steps_of: StepsOf) -> ChanceOf:
    """The mass of the bins that stand for no more steps."""
    bin_steps = torch.from_numpy(steps_of(bin_centres(np.zeros(1)))).to(device)

    def chance(outputs: Tensor, steps: Tensor, num_steps: float) -> Tensor:
        within = _within(bin_steps, num_steps + _ROUNDING)
        return (outputs.softmax(-1) * within).sum(-1).clamp(max=1.0)

    return chance


BINS = Output(
    name="bins",
    size=lambda numbers: NUM_BINS,
    value=lambda numbers, device: lambda outputs: expected_value(outputs.softmax(-1)),
    loss=lambda numbers, device: _bins_loss,
    chance=_bins_chance,
)


# ---- hazard: a distribution over steps, by the likelihood of what was seen --------------------


def _hazard_value(numbers: Hyperparameters, device: torch.device) -> ValueOf:
    edges, discount = survival_edges(numbers).to(device), numbers.discount
    assert discount is not None
    return lambda outputs: survival_value(_logits(outputs), edges, discount)


def _hazard_loss(numbers: Hyperparameters, device: torch.device) -> FrameLoss:
    """The error is the loss itself, as there is no one number to be off by."""
    edges = survival_edges(numbers).to(device)

    def loss(outputs: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
        reached = target >= 0
        steps = torch.where(reached, target, -1 - target)
        value = hazard_loss(_logits(outputs), steps, reached, edges)
        return value, value.detach()

    return loss


def _hazard_chance(numbers: Hyperparameters, device: torch.device, steps_of: StepsOf) -> ChanceOf:
    edges = survival_edges(numbers).to(device)
    return lambda outputs, steps, num_steps: success_probability(_logits(outputs), edges, num_steps)


def _hazard_distribution(numbers: Hyperparameters, device: torch.device) -> ValueOf:
    """Outputs (runs, rows, bins) become P(K < end of bin), of the same shape."""
    edges = survival_edges(numbers).to(device)
    return lambda outputs: chance_by_bin(_logits(outputs), edges)


def _soft_loss(numbers: Hyperparameters, device: torch.device) -> FrameLoss:
    """Targets (runs, rows, 2 * bins) are what is seen of each bin on average."""
    edges = survival_edges(numbers).to(device)

    def loss(outputs: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
        value = soft_hazard_loss(_logits(outputs), target, edges)
        return value, value.detach()

    return loss


def _logits(outputs: Tensor) -> Tensor:
    """Hazards of a network that says 0: one success is expected over all bins, not one in each.

    From there a trap, where success never comes, is learned in a fraction of the steps.
    """
    return outputs - math.log(outputs.shape[-1])


def survival_edges(numbers: Hyperparameters) -> Tensor:
    """The edges of the hazard's bins: at most one bin per step."""
    assert numbers.survival_max_steps is not None
    max_steps = int(numbers.survival_max_steps)
    edges = geometric_edges(max_steps, min(numbers.survival_bins, max_steps))
    return torch.tensor(edges, dtype=torch.float32)


HAZARD = Output(
    name="hazard",
    size=lambda numbers: len(survival_edges(numbers)) - 1,
    value=_hazard_value,
    loss=_hazard_loss,
    chance=_hazard_chance,
    distribution=_hazard_distribution,
)

# The same network, taught by distributions instead of single futures.
SOFT_HAZARD = replace(HAZARD, name="soft-hazard", loss=_soft_loss)
