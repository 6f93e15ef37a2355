"""Adam for stacked networks, with the copies of the weights that matrix products read."""

import torch
from torch import Tensor
from torch.optim.adam import adam

from goalward.training.networks.fused import kernels_for

BETA_1, BETA_2, EPSILON = 0.9, 0.999, 1e-8


def adam_step(
    weights: list[Tensor],
    gradients: list[Tensor],
    first_moments: list[Tensor],
    second_moments: list[Tensor],
    step_counts: list[Tensor],
    learning_rate: Tensor,
) -> None:
    """One step on float32 weights, in place: torch's own fused kernel, on the CPU and on CUDA."""
    adam(
        weights,
        gradients,
        first_moments,
        second_moments,
        [],
        step_counts,
        fused=True,
        capturable=weights[0].is_cuda,
        amsgrad=False,
        beta1=BETA_1,
        beta2=BETA_2,
        lr=learning_rate,
        weight_decay=0.0,
        eps=EPSILON,
        maximize=False,
    )


def adam_step_with_copy(
    weight: Tensor,
    gradient: Tensor,
    first_moment: Tensor,
    second_moment: Tensor,
    step_count: Tensor,
    learning_rate: Tensor,
    copy: Tensor,
) -> None:
    """One step on a float32 weight that also refreshes its bfloat16 copy.

    The gradient comes in bfloat16 as the matrix product left it. Moving bytes is all this costs:
    28 per weight and step, against 46 for casting the gradient, torch's Adam and casting the
    weight. `step_count` counts this step already. The copy and the gradient may have more rows than
    the weight (`value_net.aligned`), which are left alone.
    """
    kernels = kernels_for(weight, copy.dtype)
    if kernels is not None:
        moments = (first_moment, second_moment)
        kernels.adam_step_with_copy(
            weight, gradient, *moments, step_count, learning_rate, copy, (BETA_1, BETA_2), EPSILON
        )
        return
    num_rows = weight.shape[1]
    gradient = gradient[:, :num_rows].float()
    first = torch.lerp(gradient, first_moment, BETA_1)
    second = torch.lerp(gradient * gradient, second_moment, BETA_2)
    unbiased = first / (1 - BETA_1**step_count)
    deviation = torch.sqrt(second / (1 - BETA_2**step_count))
    updated = weight - learning_rate * unbiased / (deviation + EPSILON)
    first_moment.copy_(first)
    second_moment.copy_(second)
    weight.copy_(updated)
    copy[:, :num_rows].copy_(updated)
