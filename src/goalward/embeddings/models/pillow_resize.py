"""Pillow's resizing as matrix products, bit for bit, for devices that are faster at it.

Pillow resizes bytes in two passes, along rows and along columns, which of them first depending on
the sizes and on its version; each output pixel is a sum of input pixels times weights in fixed
point (22 bits), rounded to a byte. A weight is split
into two parts of 11 bits here, so that every product and sum is a whole number below 2^24, which
float32 holds exactly; where one pixel takes from too many for that, float64 does it.
"""

import math
import warnings
from collections.abc import Callable, Generator
from contextlib import contextmanager

import numpy as np
import torch
from torch import Tensor, nn

from goalward.embeddings.models.preprocessing import Resample, Resize

_PRECISION_BITS = 22
_LOW_BITS = 11


def _box(x: float) -> float:
    return 1.0 if -0.5 < x <= 0.5 else 0.0


def _triangle(x: float) -> float:
    return max(1.0 - abs(x), 0.0)


def _cubic(x: float) -> float:
    x, a = abs(x), -0.5
    if x < 1.0:
        return ((a + 2.0) * x - (a + 3.0)) * x * x + 1
    return (((x - 5) * x + 8) * x - 4) * a if x < 2.0 else 0.0


def _sinc(x: float) -> float:
    return 1.0 if x == 0.0 else math.sin(x * math.pi) / (x * math.pi)


def _lanczos(x: float) -> float:
    return _sinc(x) * _sinc(x / 3) if -3.0 <= x < 3.0 else 0.0


# Name -> (function, how far it reaches on each side).
_FILTERS: dict[Resample, tuple[Callable[[float], float], float]] = {
    "box": (_box, 0.5),
    "bilinear": (_triangle, 1.0),
    "bicubic": (_cubic, 2.0),
    "lanczos": (_lanczos, 3.0),
}


def can_resize(resample: Resample) -> bool:
    """Nearest neighbour goes another way, and Hamming weights are not exact for large pictures."""
    return resample in _FILTERS


class PillowResize(nn.Module):
    """Pictures of one size to another: (images, height, width, 3) bytes to bytes.

    Nothing is transposed: rows are multiplied from the right with weights that skip from colour
    to colour, columns from the left.
    """

    def __init__(self, before: tuple[int, int], after: tuple[int, int], resample: Resample) -> None:
        super().__init__()
        self.after = after
        # A pass that changes nothing is left out, as Pillow does.
        rows = None if before[1] == after[1] else _weights(before[1], after[1], resample)
        columns = None if before[0] == after[0] else _weights(before[0], after[0], resample)
        colours = np.eye(3, dtype=np.int64)
        self.register_buffer("rows", None if rows is None else _parts(np.kron(rows, colours)))
        self.register_buffer(
            "columns", None if columns is None else _parts(columns).mT.contiguous()
        )
        self.rows: Tensor | None
        self.columns: Tensor | None
        self._columns_first = False
        if rows is not None and columns is not None:
            self._columns_first = self._pillow_takes_columns_first(before, resample)

    def forward(self, pictures: Tensor) -> Tensor:
        images, height, width, _ = pictures.shape
        pixels = pictures.reshape(images, height, width * 3)
        passes = (self._along_rows, self._along_columns)
        with _tensor_cores(pictures):
            for resized in reversed(passes) if self._columns_first else passes:
                pixels = resized(pixels)
        return pixels.reshape(images, *self.after, 3)

    def _along_rows(self, pixels: Tensor) -> Tensor:
        if self.rows is None:
            return pixels
        return _rounded(*(pixels.to(self.rows.dtype) @ self.rows).chunk(2, dim=2))

    def _along_columns(self, pixels: Tensor) -> Tensor:
        if self.columns is None:
            return pixels
        return _rounded(*(self.columns @ pixels.to(self.columns.dtype)).chunk(2, dim=1))

    def _pillow_takes_columns_first(self, before: tuple[int, int], resample: Resample) -> bool:
        """Found out on pictures: rounding in between tells the two orders apart."""
        # One picture is enough, unless it is tiny.
        count = min(-(-2_000 // (self.after[0] * self.after[1])), 250)
        pictures = np.random.default_rng(0).integers(0, 256, (count, *before, 3), dtype=np.uint8)
        wanted = torch.tensor(np.stack([Resize(*self.after, resample)(one) for one in pictures]))
        for columns_first in (False, True):
            self._columns_first = columns_first
            if torch.equal(self(torch.from_numpy(pictures)), wanted):
                return columns_first
        warnings.warn(
            "this version of Pillow resizes in another way than goalward does on the GPU: "
            "embeddings made there differ a little from those made on the CPU",
            stacklevel=2,
        )
        return False


@contextmanager
def _tensor_cores(pictures: Tensor) -> Generator[None]:
    """Let matrix products use TF32, whose 11 bits hold a pixel and a part of a weight exactly."""
    before = torch.get_float32_matmul_precision()
    if pictures.is_cuda:
        torch.set_float32_matmul_precision("high")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


def _parts(weights: np.ndarray) -> Tensor:
    """(before, after) -> (before, 2 * after): high parts of the weights beside the low ones."""
    low = weights & ((1 << _LOW_BITS) - 1)
    both = np.concatenate([(weights - low) >> _LOW_BITS, low], axis=1)
    is_small = 255 * np.abs(both).sum(axis=0).max() < 1 << 24
    return torch.from_numpy(both).to(torch.float32 if is_small else torch.float64)


def _rounded(high: Tensor, low: Tensor) -> Tensor:
    total = high.to(torch.int32).mul_(1 << _LOW_BITS).add_(low.to(torch.int32))
    total.add_(1 << (_PRECISION_BITS - 1)).bitwise_right_shift_(_PRECISION_BITS)
    return total.clamp_(0, 255).to(torch.uint8)


def _weights(before: int, after: int, resample: Resample) -> np.ndarray:
    """(before, after) whole numbers: how much of each input pixel goes into each output pixel."""
    function, reach = _FILTERS[resample]
    scale = before / after
    stretch = max(scale, 1.0)
    reach *= stretch
    weights = np.zeros((before, after), dtype=np.int64)
    for column in range(after):
        centre = (column + 0.5) * scale
        first = max(int(centre - reach + 0.5), 0)
        last = min(int(centre + reach + 0.5), before)
        exact = [function((x - centre + 0.5) * (1.0 / stretch)) for x in range(first, last)]
        total = sum(exact)
        for x, weight in zip(range(first, last), exact, strict=True):
            fixed = (weight / total if total else weight) * (1 << _PRECISION_BITS)
            weights[x, column] = int(fixed - 0.5) if fixed < 0 else int(fixed + 0.5)
    return weights
