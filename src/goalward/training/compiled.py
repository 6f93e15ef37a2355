"""Functions that torch.compile fuses on CUDA; elsewhere they run as they are written.

On CUDA these are bound by memory traffic: written out, LayerNorm and GELU read and write their
input ten times, fused once. The first axis is the runs and may change from call to call; without
the mark every number of runs would be compiled anew.
"""

from collections.abc import Callable
from functools import cache, wraps
from typing import Any, TypeVar

import torch
from torch import Tensor

_MOST_SHAPES = 256

Function = TypeVar("Function", bound=Callable[..., Any])


def fused_on_cuda(function: Function) -> Function:
    """The function, compiled for bfloat16 training on CUDA.

    Where compiling is not possible (no Triton, no C compiler) it runs as it is written, slower.
    """

    @cache
    def compiled() -> Callable[..., Any]:
        # torch gives up on a function after 8 shapes, for good and with a warning alone: a second
        # fit in the same process then ran at a third of the speed.
        limit = torch._dynamo.config.recompile_limit
        torch._dynamo.config.recompile_limit = max(limit, _MOST_SHAPES)
        return torch.compile(function)

    @wraps(function)
    def call(*arguments: Any) -> Any:
        if not _training_on_cuda(arguments) or not can_compile():
            return function(*arguments)
        for argument in arguments:
            if isinstance(argument, Tensor) and argument.dim() > 0:
                _mark(argument)
        return compiled()(*arguments)

    return call  # type: ignore[return-value]


def _mark(argument: Tensor) -> None:
    if argument.shape[0] > 1:
        torch._dynamo.maybe_mark_dynamic(argument, 0)
    # A width that is known lets LayerNorm read its row once instead of twice.
    for axis in range(1, argument.dim()):
        torch._dynamo.mark_static(argument, axis)


def _training_on_cuda(arguments: tuple[Any, ...]) -> bool:
    dtypes = [getattr(argument, "dtype", argument) for argument in arguments]
    return arguments[0].is_cuda and torch.bfloat16 in dtypes


@cache
def can_compile() -> bool:
    try:
        torch.compile(lambda x: x * 2 + 1)(torch.ones(8, device="cuda"))
    except Exception:  # whatever is missing on this machine, training goes on without it
        return False
    return True
