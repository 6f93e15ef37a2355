"""Frames that a generator gives once, kept in a file so that they can be looked at again."""

import tempfile
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from typing import IO

import numpy as np

from goalward.errors import RolloutError
from goalward.rollouts.frames import ArrayFrames, Image


@dataclass(frozen=True)
class KeptClip:
    """Where in the file the frames of one camera in one episode lie."""

    where: str
    start: int
    shape: tuple[int, ...]


class FrameFile:
    """Frames of many clips, one after the other, in a file without a name.

    Memory holds one frame at a time. The file lies in the system's temporary folder (TMPDIR names
    another) and goes when nobody holds frames of it any more, which may be long after it is closed
    here.
    """

    def __init__(self) -> None:
        self._opened = ExitStack()

    def __enter__(self) -> "FrameFile":
        return self

    def __exit__(self, *_: object) -> None:
        self._opened.close()

    @cached_property
    def _file(self) -> IO[bytes]:
        # With a buffer, a full disk would be noticed a frame late, and once more on closing.
        return self._opened.enter_context(tempfile.TemporaryFile(buffering=0))

    def keep(self, frames: Iterable[Image], where: str) -> KeptClip:
        """Take all frames of a clip; `where` names it in errors."""
        start, shape = self._file.tell(), (0,)
        for frame in frames:
            picture = np.asarray(frame)
            if picture.dtype != np.uint8 or picture.ndim != 3 or picture.shape[2] != 3:
                raise RolloutError(
                    f"{where}: frame {shape[0]} must be (height, width, 3) uint8, "
                    f"got {picture.shape} {picture.dtype}"
                )
            if shape[0] and picture.shape != shape[1:]:
                raise RolloutError(
                    f"{where}: frame {shape[0]} is {picture.shape}, the ones before {shape[1:]}"
                )
            self._write(picture)
            shape = (shape[0] + 1, *picture.shape)
        if not shape[0]:
            raise RolloutError(f"{where}: no frames were generated")
        return KeptClip(where, start, shape)

    def _write(self, picture: Image) -> None:
        left = np.ascontiguousarray(picture).reshape(-1).data
        try:
            while left:
                left = left[self._file.write(left) :]
        except OSError as error:
            raise RolloutError(
                f"{tempfile.gettempdir()}: generated frames cannot be kept there "
                f"({error.strerror}); TMPDIR names another folder"
            ) from error

    @cached_property
    def _pixels(self) -> Image:
        """All that was kept. One map: a system has only so many of them."""
        return np.memmap(self._file, dtype=np.uint8, mode="r")

    def frames(self, clip: KeptClip) -> ArrayFrames:
        """The frames of a clip, read from the file when looked at, once everything is kept."""
        size = int(np.prod(clip.shape))
        pixels = self._pixels[clip.start : clip.start + size]
        return ArrayFrames(pixels.reshape(clip.shape), clip.where)
