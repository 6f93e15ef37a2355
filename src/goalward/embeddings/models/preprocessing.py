"""From a camera's picture to the pixels an encoder takes: the model's own rules, only faster.

Resizing is Pillow's, on bytes: by Pillow in the threads that decode, or on the GPU
(`pillow_resize.py`). What follows (to numbers, minus the mean, over the deviation) runs with the
network: a picture travels as bytes, a quarter of the size.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from PIL import Image as PillowImage

from goalward.rollouts.frames import Image

Resample = Literal["nearest", "bilinear", "bicubic", "lanczos", "box", "hamming"]


@dataclass(frozen=True)
class Geometry:
    """What happens to a picture of known size: resized to one size, of which a part is kept."""

    height: int
    width: int
    top: int
    left: int
    crop_height: int
    crop_width: int


class Prepare(Protocol):
    """A picture of any size as (height, width, 3) bytes of the size the encoder takes."""

    def __call__(self, frame: Image) -> Image: ...


@dataclass(frozen=True)
class Resize:
    """To a fixed size, whatever the shape of the picture."""

    height: int
    width: int
    resample: Resample

    def geometry(self, height: int, width: int) -> Geometry:
        return Geometry(self.height, self.width, 0, 0, self.height, self.width)

    def __call__(self, frame: Image) -> Image:
        return _resized(frame, self.height, self.width, self.resample)


@dataclass(frozen=True)
class ResizeAndCrop:
    """The shorter edge to a size, then the centre cut out."""

    shortest_edge: int
    crop_height: int
    crop_width: int
    resample: Resample

    def geometry(self, height: int, width: int) -> Geometry:
        longest_edge = int(self.shortest_edge * max(height, width) / min(height, width))
        is_upright = width <= height
        resized_height = longest_edge if is_upright else self.shortest_edge
        resized_width = self.shortest_edge if is_upright else longest_edge
        return Geometry(
            resized_height,
            resized_width,
            (resized_height - self.crop_height) // 2,
            (resized_width - self.crop_width) // 2,
            self.crop_height,
            self.crop_width,
        )

    def __call__(self, frame: Image) -> Image:
        shape = self.geometry(*frame.shape[:2])
        resized = _resized(frame, shape.height, shape.width, self.resample)
        rows = slice(shape.top, shape.top + shape.crop_height)
        return resized[rows, shape.left : shape.left + shape.crop_width]


def resize_from(stored: Mapping[str, Any]) -> Resize | ResizeAndCrop:
    """From its arguments, as a file keeps them.

    >>> resize_from({"height": 224, "width": 224, "resample": "bicubic"})
    Resize(height=224, width=224, resample='bicubic')
    """
    return ResizeAndCrop(**stored) if "shortest_edge" in stored else Resize(**stored)


@dataclass(frozen=True)
class ProcessorResize:
    """Whatever a processor of `transformers` does before it turns bytes into numbers: slower."""

    processor: Callable[..., dict[str, list[Image]]]

    def __call__(self, frame: Image) -> Image:
        prepared = self.processor(frame, do_rescale=False, do_normalize=False)["pixel_values"][0]
        return np.ascontiguousarray(np.moveaxis(np.asarray(prepared), 0, -1).astype(np.uint8))


@dataclass(frozen=True)
class Normalisation:
    """Bytes to the numbers a network takes: (pixel * scale - mean) / std, per colour."""

    scale: float
    mean: tuple[float, ...]
    std: tuple[float, ...]


def as_it_is(frame: Image) -> Image:
    """No preparation: the device resizes."""
    return frame


def _resized(frame: Image, height: int, width: int, resample: Resample) -> Image:
    if frame.shape[:2] == (height, width):
        return frame
    method = PillowImage.Resampling[resample.upper()]
    return np.asarray(PillowImage.fromarray(frame).resize((width, height), method))
