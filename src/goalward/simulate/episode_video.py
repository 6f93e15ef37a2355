"""Pictures as a video file that comes out the same, byte by byte, every time."""

from contextlib import ExitStack
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import Any

import av
import numpy as np
import numpy.typing as npt

from goalward.files import written_whole

CODEC = "h264"
PIXEL_FORMAT = "yuv420p"
CRF = 23
# A frame in the middle is reached by decoding at most this many. There are no further key frames
# where the picture changes: those that there are, are a regular sample.
KEY_FRAME_EVERY = 10
_OPTIONS = {
    "crf": str(CRF),
    "g": str(KEY_FRAME_EVERY),
    # Measured: with B-frames and macroblock trees together x264 reads memory nobody wrote where
    # pictures are small (64 pixels), and the same pictures give other bytes one time in four.
    "bf": "0",
    "x264-params": "mbtree=0:scenecut=0",
}


class EpisodeVideo:
    """A video file in the making: pictures (height, width, 3), the first at second 0.

    The file is there, whole, when the block ends.
    """

    def __init__(self, path: Path, fps: int) -> None:
        self._path = path
        self._fps = fps
        self._num_pictures = 0
        self._open_files = ExitStack()

    def __enter__(self) -> "EpisodeVideo":
        with ExitStack() as open_files:
            temporary = open_files.enter_context(written_whole(self._path))
            self._container = open_files.enter_context(av.open(str(temporary), "w"))
            self._open_files = open_files.pop_all()
        self._stream: Any = self._container.add_stream("libx264", rate=self._fps)
        self._stream.pix_fmt = PIXEL_FORMAT
        self._stream.options = dict(_OPTIONS)
        # Threads share out the bits as they come: other bytes on other machines.
        self._stream.codec_context.thread_count = 1
        return self

    def add(self, picture: npt.NDArray[np.uint8]) -> None:
        if self._num_pictures == 0:
            self._stream.height, self._stream.width = picture.shape[:2]
        frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
        frame.pts, frame.time_base = self._num_pictures, Fraction(1, self._fps)
        self._num_pictures += 1
        self._container.mux(self._stream.encode(frame))

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if error is None:
            self._container.mux(self._stream.encode())
        self._open_files.__exit__(kind, error, traceback)


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
