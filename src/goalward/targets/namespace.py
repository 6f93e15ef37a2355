"""The one place that asks whether an array is numpy's or torch's.

Every function of this room takes either kind and returns the kind it was given, in the float
precision it was given; integers and booleans become the library's default float. Numbers such as
`discount` are Python floats, or arrays that broadcast (one discount per run: shape (runs, 1)).

torch is not imported here: it takes seconds, and a report that turns steps into values has no
tensor. Whoever has one has imported torch.
"""

import sys
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import torch

Array = TypeVar("Array", npt.NDArray[Any], "torch.Tensor")


def namespace(array: Any) -> Any:
    """The library an array belongs to; numpy and torch agree on the names used in this room.

    >>> namespace(np.zeros(2)).__name__
    'numpy'
    >>> import torch
    >>> namespace(torch.zeros(2)).__name__
    'torch'
    """
    torch = sys.modules.get("torch")
    return torch if torch is not None and isinstance(array, torch.Tensor) else np


def arange_like(array: Array, num: int) -> Array:
    """0, 1, ..., num - 1 with the kind, precision and device of an array.

    >>> arange_like(np.zeros(5, dtype=np.float32), 3)
    array([0., 1., 2.], dtype=float32)
    """
    xp = namespace(array)
    if xp is np:
        return xp.arange(num, dtype=array.dtype)
    return xp.arange(num, dtype=array.dtype, device=array.device)
