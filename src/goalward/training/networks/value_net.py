"""Value networks of many runs as one: every weight has the runs on axis 0."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor
from torch.nn import functional

from goalward.training.networks.fused import kernels_for

Weights = dict[str, Tensor]

# Products of matrices whose sides are no multiples of 8 run by kernels that are several times
# slower (measured on an H200, 3,090 inputs: docs/log.md).
_ALIGNED = 8


@dataclass(frozen=True)
class NetShape:
    """The paper's multi-layer perceptron: linear, LayerNorm, GELU, ..., linear."""

    input_size: int
    output_size: int
    width: int = 512
    num_layers: int = 5

    def layer_sizes(self) -> list[tuple[int, int]]:
        """Inputs and outputs of every linear map.

        >>> NetShape(8, 1, width=4, num_layers=3).layer_sizes()
        [(8, 4), (4, 4), (4, 1)]
        """
        sizes = [self.input_size, *[self.width] * (self.num_layers - 1), self.output_size]
        return list(pairwise(sizes))


def initial_weights(shape: NetShape, generators: Sequence[torch.Generator]) -> Weights:
    """Random weights, one generator per run, so that a run starts the same in any company.

    Linear maps are uniform in +-1 / sqrt(inputs), as torch's are; LayerNorm starts as identity.
    """
    weights: Weights = {}
    num_runs = len(generators)
    sizes = shape.layer_sizes()
    for layer, (num_in, num_out) in enumerate(sizes):
        weights[f"weight_{layer}"] = torch.empty(num_runs, num_in, num_out)
        weights[f"bias_{layer}"] = torch.empty(num_runs, 1, num_out)
        if layer < len(sizes) - 1:
            weights[f"gain_{layer}"] = torch.ones(num_runs, 1, num_out)
            weights[f"shift_{layer}"] = torch.zeros(num_runs, 1, num_out)

    def fill(run: int) -> None:
        for layer, (num_in, _) in enumerate(sizes):
            bound = num_in**-0.5
            for name in ("weight", "bias"):
                tensor = weights[f"{name}_{layer}"][run]
                tensor.uniform_(-bound, bound, generator=generators[run])

    # Each from its own generator, so that nobody minds who is first.
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(fill, range(num_runs)))
    return weights


def aligned(size: int) -> int:
    """As many columns as matrix products want: the next multiple of 8.

    >>> aligned(3090), aligned(512)
    (3096, 512)
    """
    return -(-size // _ALIGNED) * _ALIGNED


def product_copy(weight: Tensor, dtype: torch.dtype) -> Tensor:
    """What matrix products read of a weight (runs, inputs, outputs): rows of zeros are added.

    >>> product_copy(torch.ones(2, 9, 4), torch.bfloat16).shape
    torch.Size([2, 16, 4])
    """
    num_in = weight.shape[1]
    return functional.pad(weight.to(dtype), (0, 0, 0, aligned(num_in) - num_in))


def norm_gelu(hidden: Tensor, bias: Tensor, gain: Tensor, shift: Tensor) -> Tensor:
    """Bias, LayerNorm and GELU, with the bias, gain and shift (runs, 1, width) of every run.

    float32 inside, dtype of `hidden` out.
    """
    kernels = kernels_for(hidden, hidden.dtype)
    if kernels is not None and kernels.takes_width(hidden.shape[-1]):
        return kernels.norm_gelu(hidden, bias, gain, shift)
    size = hidden.shape[-1:]
    biased = hidden.float() + bias
    if len(hidden) == 1 and not hidden.is_cuda:
        # One run at a time, torch's own gain and shift save two passes over the batch.
        normal = functional.layer_norm(biased, size, gain.view(size), shift.view(size))
    else:
        normal = torch.addcmul(shift, functional.layer_norm(biased, size), gain)
    return functional.gelu(normal).to(hidden.dtype)


def _as_it_is(hidden: Tensor, layer: int) -> Tensor:
    return hidden


def net_outputs(
    weights: Weights, inputs: Tensor, between: Callable[[Tensor, int], Tensor] = _as_it_is
) -> Tensor:
    """What the networks say: (runs, rows, inputs) becomes (runs, rows, outputs).

    Matrix products take the dtype of `inputs`; weights of another dtype are cast on the way.
    `between` is done to what goes from one layer to the next, in training.
    """
    hidden = inputs
    layer = 0
    while f"gain_{layer}" in weights:
        vectors = [weights[f"{name}_{layer}"] for name in ("bias", "gain", "shift")]
        hidden = between(norm_gelu(_product(weights, layer, hidden), *vectors), layer)
        layer += 1
    return _product(weights, layer, hidden).float() + weights[f"bias_{layer}"]


def _product(weights: Weights, layer: int, inputs: Tensor) -> Tensor:
    weight = weights[f"weight_{layer}"].to(inputs.dtype)
    # Either may have more than the other, zeros, for the sake of alignment.
    shared = min(inputs.shape[-1], weight.shape[1])
    return torch.bmm(inputs[..., :shared].expand(len(weight), -1, -1), weight[:, :shared])


def some_runs(weights: Weights, runs: slice | Tensor | list[int]) -> Weights:
    """The networks of some of the runs."""
    return {name: tensor[runs] for name, tensor in weights.items()}
