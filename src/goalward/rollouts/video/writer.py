"""Pictures as a video file that comes out the same, byte by byte, every time."""

from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from fractions import Fraction
from math import isfinite
from pathlib import Path
from types import TracebackType
from typing import Any

import av
import av.error
import numpy as np

from goalward.errors import GoalwardError, RolloutError
from goalward.files import written_whole
from goalward.rollouts.frames import Image

CODEC = "h264"
PIXEL_FORMAT = "yuv420p"
CRF = 23
# A frame in the middle is reached by decoding at most this many. There are no further key frames
# where the picture changes: those that there are, are a regular sample.
KEY_FRAME_EVERY = 10
OPTIONS = {
    "crf": str(CRF),
    "g": str(KEY_FRAME_EVERY),
    # Measured: with B-frames and macroblock trees together x264 reads memory nobody wrote where
    # pictures are small (64 pixels), and the same pictures give other bytes one time in four.
    "bf": "0",
    "x264-params": "mbtree=0:scenecut=0",
}
BROWSER_OPTIONS = OPTIONS | {"preset": "veryfast"}

# Rates such as 30000/1001 and 29.97 are met exactly; the file can hold no finer ones.
_MAX_DENOMINATOR = 100_000
_MAX_FPS = 1000


def frame_rate(fps: float) -> Fraction:
    """Frames per second as the fraction that was meant.

    >>> frame_rate(12.5), frame_rate(29.97), frame_rate(30000 / 1001)
    (Fraction(25, 2), Fraction(2997, 100), Fraction(30000, 1001))
    """
    if isfinite(fps) and 0 < fps <= _MAX_FPS:
        rate = Fraction(fps).limit_denominator(_MAX_DENOMINATOR)
        if rate > 0:
            return rate
    raise GoalwardError(f"no video has {fps} frames per second: wanted above 0, {_MAX_FPS} at most")


@contextmanager
def mp4_in_the_making(path: Path, *, faststart: bool = False) -> Generator[Any]:
    """An open MP4 file that is there, whole, when the block ends, or else not at all.

    With `faststart` the tables lie before the pictures: a browser shows the first of them before
    it has the last. PyAV's own types do not say what its containers take.
    """
    options = {"movflags": "faststart"} if faststart else {}
    with written_whole(path) as temporary:
        try:
            with av.open(str(temporary), "w", format="mp4", options=options) as container:
                yield container
        except av.error.FFmpegError as error:
            raise GoalwardError(f"{path}: the video cannot be written ({error})") from error


class VideoWriter:
    """A video file in the making: pictures (height, width, 3), number i shown at i / fps.

    The file is there, whole, when the block ends. All pictures have one size. h264 has no odd
    sizes: there the last row or column is there twice. `for_browser`: the tables come first, and
    encoding takes less time (measured at 480 x 640: 204 frames/s, else 90; the files are as
    large, the pictures 0.5 dB worse).

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "black.mp4"
    >>> with VideoWriter(path, fps=12.5) as video:
    ...     video.add(np.zeros((32, 32, 3), np.uint8))
    """

    def __init__(self, path: Path, fps: float, *, for_browser: bool = False) -> None:
        self._path = path
        self._rate = frame_rate(fps)
        self._for_browser = for_browser
        self._shape: tuple[int, ...] = ()
        self._num_pictures = 0
        self._open_file = ExitStack()

    def __enter__(self) -> "VideoWriter":
        with ExitStack() as opening:
            file = mp4_in_the_making(self._path, faststart=self._for_browser)
            self._container: Any = opening.enter_context(file)
            self._stream: Any = self._container.add_stream("libx264", rate=self._rate)
            self._open_file = opening.pop_all()
        self._stream.pix_fmt = PIXEL_FORMAT
        self._stream.options = dict(BROWSER_OPTIONS if self._for_browser else OPTIONS)
        # Threads share out the bits as they come: other bytes on other machines.
        self._stream.codec_context.thread_count = 1
        return self

    def add(self, picture: Image) -> None:
        if self._num_pictures == 0:
            self._shape = picture.shape
            height, width = picture.shape[:2]
            self._stream.height, self._stream.width = height + height % 2, width + width % 2
        elif picture.shape != self._shape:
            raise RolloutError(
                f"{self._path}: picture {self._num_pictures} has shape {picture.shape}, "
                f"the ones before it {self._shape}"
            )
        frame = av.VideoFrame.from_ndarray(_of_even_size(picture), format="rgb24")
        frame.pts, frame.time_base = self._num_pictures, 1 / self._rate
        self._num_pictures += 1
        self._container.mux(self._stream.encode(frame))

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if error is not None:
            self._open_file.__exit__(kind, error, traceback)
            return
        # What fails here, writing the last pictures, leaves no file either.
        with self._open_file:
            if self._num_pictures == 0:
                raise RolloutError(f"{self._path}: a video of no pictures")
            self._container.mux(self._stream.encode())


def _of_even_size(picture: Image) -> Image:
    height, width = picture.shape[:2]
    if height % 2 == 0 and width % 2 == 0:
        return picture
    return np.pad(picture, ((0, height % 2), (0, width % 2), (0, 0)), mode="edge")
