"""What a network's numbers mean: from outputs to values, and how wrong they are."""

import math
from collections.abc import Callable
from typing import Literal

import torch
from torch import Tensor

from goalward.targets.bins import expected_value, project_onto_bins
from goalward.targets.survival import geometric_edges, hazard_loss, survival_value
from goalward.training.presets import Hyperparameters

Output = Literal["value", "bins", "hazard"]
# (outputs (runs, rows, size), target (runs, rows)) -> loss and error, (runs, rows) each
FrameLoss = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]


def value_of(
    output: Output, numbers: Hyperparameters, device: torch.device
) -> Callable[[Tensor], Tensor]:
    """The function from outputs (..., size) to values (...)."""
    if output == "bins":
        return lambda outputs: expected_value(outputs.softmax(-1))
    if output == "hazard":
        edges, discount = survival_edges(numbers).to(device), numbers.discount
        assert discount is not None
        return lambda outputs: survival_value(_logits(outputs), edges, discount)
    return lambda outputs: outputs[..., 0]


def frame_loss(output: Output, numbers: Hyperparameters, device: torch.device) -> FrameLoss:
    """The function from outputs and targets to a loss and an error per frame.

    The error sets a frame's priority in replay: |V - target|, also where bins are learned by
    cross-entropy; for hazards the loss itself, as there is no one number to be off by.
    """
    if output == "bins":
        return _bins_loss
    if output == "hazard":
        edges = survival_edges(numbers).to(device)

        def loss(outputs: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
            reached = target >= 0
            steps = torch.where(reached, target, -1 - target)
            value = hazard_loss(_logits(outputs), steps, reached, edges)
            return value, value.detach()

        return loss
    return _squared_loss


def _squared_loss(outputs: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    difference = outputs[..., 0] - target
    return difference**2, difference.detach()


def _bins_loss(outputs: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    log_chance = outputs.log_softmax(-1)
    loss = -(project_onto_bins(target, outputs.shape[-1]) * log_chance).sum(-1)
    return loss, (expected_value(log_chance.detach().exp()) - target)


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
