"""A step of Adam that refreshes the copy which matrix products read."""

# What a kernel takes, numbers of warps among it, is not said in types; without Triton nothing is.
# pyright: reportIndexIssue=false, reportMissingImports=false
# pyright: reportCallIssue=false, reportAttributeAccessIssue=false

import math

import triton
import triton.language as tl
from torch import Tensor

_BLOCK, _WARPS = 2048, 4


def adam_step_with_copy(
    weight: Tensor,
    gradient: Tensor,
    first_moment: Tensor,
    second_moment: Tensor,
    step_count: Tensor,
    learning_rate: Tensor,
    copy: Tensor,
    betas: tuple[float, float],
    epsilon: float,
) -> None:
    """As `adam.adam_step_with_copy`, in place; all tensors but the gradient are contiguous."""
    num, each, each_of_copy = weight.numel(), weight[0].numel(), copy[0].numel()
    _adam[(triton.cdiv(num, _BLOCK),)](
        weight,
        gradient.contiguous(),
        first_moment,
        second_moment,
        copy,
        step_count,
        learning_rate,
        num,
        EACH=each,
        MORE=each_of_copy - each,
        BETA_1=betas[0],
        BETA_2=betas[1],
        LOG_BETA_1=math.log(betas[0]),
        LOG_BETA_2=math.log(betas[1]),
        EPSILON=epsilon,
        BLOCK=_BLOCK,
        num_warps=_WARPS,
    )


@triton.jit
def _adam(
    weight_ptr,
    gradient_ptr,
    first_ptr,
    second_ptr,
    copy_ptr,
    step_count_ptr,
    rate_ptr,
    num,
    EACH: tl.constexpr,
    MORE: tl.constexpr,
    BETA_1: tl.constexpr,
    BETA_2: tl.constexpr,
    LOG_BETA_1: tl.constexpr,
    LOG_BETA_2: tl.constexpr,
    EPSILON: tl.constexpr,
    BLOCK: tl.constexpr,
):
    place = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = place < num
    # Of the same weight in the copy and its gradient, where each run has more rows.
    beside = place if MORE == 0 else place + place // EACH * MORE
    # In float64: 1 - 0.999 of a float32 has lost four digits.
    count = tl.load(step_count_ptr).to(tl.float64)
    bias_1 = (1.0 - tl.exp(count * LOG_BETA_1)).to(tl.float32)
    bias_2 = (1.0 - tl.exp(count * LOG_BETA_2)).to(tl.float32)
    rate = tl.load(rate_ptr)
    gradient = tl.load(gradient_ptr + beside, mask=inside, other=0.0).to(tl.float32)
    first = tl.load(first_ptr + place, mask=inside, other=0.0)
    second = tl.load(second_ptr + place, mask=inside, other=0.0)
    weight = tl.load(weight_ptr + place, mask=inside, other=0.0)
    first = gradient + BETA_1 * (first - gradient)
    second = gradient * gradient + BETA_2 * (second - gradient * gradient)
    deviation = tl.sqrt(second / bias_2)
    weight -= rate * (first / bias_1) / (deviation + EPSILON)
    tl.store(first_ptr + place, first, mask=inside)
    tl.store(second_ptr + place, second, mask=inside)
    tl.store(weight_ptr + place, weight, mask=inside)
    tl.store(copy_ptr + beside, weight.to(copy_ptr.dtype.element_ty), mask=inside)
