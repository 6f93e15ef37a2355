"""When the kernels of `kernels/` are used: on CUDA, in bfloat16, where Triton works.

Elsewhere everything is computed as it is written, on CUDA at a third of the speed.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import torch
from torch import Tensor

_log = logging.getLogger("goalward.training")


@dataclass(frozen=True)
class Kernels:
    """The functions of `training/networks/kernels/`, and two that say what these can take."""

    norm_gelu: Callable[..., Tensor]
    takes_width: Callable[[int], bool]
    adam_step_with_copy: Callable[..., None]
    gathered: Callable[..., Tensor]
    draw: Callable[..., tuple[Tensor, Tensor]]
    can_draw: Callable[[int, int], bool]


def product_dtype(device: torch.device) -> torch.dtype:
    """In what matrix products of a training are computed; weights are kept in float32."""
    return torch.bfloat16 if device.type == "cuda" else torch.float32


def kernels_for(tensor: Tensor, dtype: torch.dtype) -> Kernels | None:
    """The kernels, for a tensor that lies on CUDA in a training by bfloat16 products."""
    if not tensor.is_cuda or dtype is not torch.bfloat16:
        return None
    return working_kernels()


@cache
def working_kernels() -> Kernels | None:
    """The kernels if they can be made here: it takes Triton and a C compiler."""
    try:
        found = all_kernels()
        # As wide as networks are by default: made once for both.
        ones = torch.ones(1, 32, 512, dtype=torch.bfloat16, device="cuda", requires_grad=True)
        vectors = torch.ones(1, 1, 512, device="cuda")
        out = found.norm_gelu(ones, vectors, vectors, vectors)
        torch.autograd.grad(out.sum(), ones)[0].sum().item()
    except Exception as error:  # whatever is missing on this machine, training goes on without it
        _log.warning(
            "kernels in Triton cannot be made here, training is slower without them: %s", error
        )
        return None
    return found


def all_kernels() -> Kernels:
    """All of them; an error where there is no Triton."""
    from goalward.training.networks.kernels import adam, draw, gather, norm_gelu

    return Kernels(
        norm_gelu.norm_gelu,
        norm_gelu.takes_width,
        adam.adam_step_with_copy,
        gather.gathered,
        draw.draw,
        draw.can_draw,
    )
