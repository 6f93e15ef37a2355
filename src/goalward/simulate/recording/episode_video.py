"""The colours in the pictures of a video, which LeRobot keeps beside it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import av
import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class PictureSums:
    """Colours of some pictures, red, green and blue from 0 to 255, as whole numbers.

    Whole numbers add up to the same in any order.
    """

    num_pictures: int
    num_pixels: int
    least: tuple[int, ...]
    most: tuple[int, ...]
    total: tuple[int, ...]
    total_of_squares: tuple[int, ...]

    def __add__(self, other: "PictureSums") -> "PictureSums":
        def added(ours: tuple[int, ...], theirs: tuple[int, ...]) -> tuple[int, ...]:
            return tuple(a + b for a, b in zip(ours, theirs, strict=True))

        return PictureSums(
            self.num_pictures + other.num_pictures,
            self.num_pixels + other.num_pixels,
            tuple(map(min, self.least, other.least)),
            tuple(map(max, self.most, other.most)),
            added(self.total, other.total),
            added(self.total_of_squares, other.total_of_squares),
        )


def picture_sums(path: Path) -> PictureSums:
    """Colours of the key frames of a video: a sample of every tenth picture."""
    pictures: list[npt.NDArray[np.uint8]] = []
    with av.open(str(path)) as container:
        stream: Any = container.streams.video[0]
        stream.thread_count = 1
        stream.codec_context.skip_frame = "NONKEY"
        for frame in container.decode(stream):
            pictures.append(frame.to_ndarray(format="rgb24").reshape(-1, 3))
    pixels = np.concatenate(pictures).astype(np.int64)
    return PictureSums(
        len(pictures),
        len(pixels),
        tuple(pixels.min(axis=0).tolist()),
        tuple(pixels.max(axis=0).tolist()),
        tuple(pixels.sum(axis=0).tolist()),
        tuple((pixels**2).sum(axis=0).tolist()),
    )
