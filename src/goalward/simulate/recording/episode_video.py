"""The colours in the pictures of a video, which LeRobot keeps beside it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import av
import numpy as np
import numpy.typing as npt

_LEVELS = 256


@dataclass(frozen=True, eq=False)
class PictureColours:
    """How many pixels of some pictures have each level of red, green and blue: counts (3, 256).

    Whole numbers add up to the same in any order.
    """

    num_pictures: int
    counts: npt.NDArray[np.int64]

    def __add__(self, other: "PictureColours") -> "PictureColours":
        return PictureColours(self.num_pictures + other.num_pictures, self.counts + other.counts)


def picture_colours(path: Path) -> PictureColours:
    """Colours of the key frames of a video: a sample of every tenth picture."""
    counts = np.zeros((3, _LEVELS), dtype=np.int64)
    num_pictures = 0
    with av.open(str(path)) as container:
        stream: Any = container.streams.video[0]
        stream.thread_count = 1
        stream.codec_context.skip_frame = "NONKEY"
        for frame in container.decode(stream):
            num_pictures += 1
            pixels = frame.to_ndarray(format="rgb24").reshape(-1, 3)
            for colour in range(3):
                counts[colour] += np.bincount(pixels[:, colour], minlength=_LEVELS)
    return PictureColours(num_pictures, counts)
