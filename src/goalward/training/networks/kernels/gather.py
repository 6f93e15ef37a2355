"""Rows of features, standardised, where matrix products want them."""

# What a kernel takes, numbers of warps among it, is not said in types; without Triton nothing is.
# pyright: reportIndexIssue=false, reportMissingImports=false
# pyright: reportCallIssue=false, reportAttributeAccessIssue=false

import torch
import triton
import triton.language as tl
from torch import Tensor

from goalward.training.networks.value_net import aligned

_BLOCK, _WARPS = 1024, 4


def gathered(
    features: Tensor, rows: Tensor, mean: Tensor, scale: Tensor, dtype: torch.dtype
) -> Tensor:
    """As `inputs.standardised` of the features at rows (runs, batch), with columns of zeros.

    As many of them as matrix products want: 3,090 numbers of each row become 3,096.
    """
    num_runs, num_rows = rows.shape
    size = features.shape[1]
    wide = aligned(size)
    out = torch.empty(num_runs, num_rows, wide, dtype=dtype, device=features.device)
    _gathered[(num_rows, num_runs)](
        features,
        rows.contiguous(),
        mean.contiguous(),
        scale.contiguous(),
        out,
        num_rows,
        SIZE=size,
        WIDE=wide,
        BLOCK=min(triton.next_power_of_2(wide), _BLOCK),
        num_warps=_WARPS,
    )
    return out


@triton.jit
def _gathered(
    features_ptr,
    rows_ptr,
    mean_ptr,
    scale_ptr,
    out_ptr,
    num_rows,
    SIZE: tl.constexpr,
    WIDE: tl.constexpr,
    BLOCK: tl.constexpr,
):
    run = tl.program_id(1).to(tl.int64)
    to = run * num_rows + tl.program_id(0)
    source = tl.load(rows_ptr + to)
    for first in range(0, WIDE, BLOCK):
        column = first + tl.arange(0, BLOCK)
        inside = column < SIZE
        feature = tl.load(features_ptr + source * SIZE + column, mask=inside, other=0.0)
        mean = tl.load(mean_ptr + run * SIZE + column, mask=inside, other=0.0)
        scale = tl.load(scale_ptr + run * SIZE + column, mask=inside, other=1.0)
        # Beyond the features (0 - 0) / 1.
        number = ((feature.to(tl.float32) - mean) / scale).to(out_ptr.dtype.element_ty)
        tl.store(out_ptr + to * WIDE + column, number, mask=column < WIDE)
