"""The pictures of one camera in one episode of an HDF5 file."""

# pyright: standard
# (h5py ships no type stubs)

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np

from goalward.rollouts.frames import MAX_PIXELS, Image, checked_indices, raw_fingerprint
from goalward.rollouts.readers.hdf5.storage import (
    DamagedFile,
    Stored,
    child,
    damage_named,
    opened,
    printable,
)

FRAMES_PER_READ = 64
BYTES_PER_READ = 32 << 20


@dataclass(frozen=True)
class Hdf5Frames:
    """Frames in a (num_frames, height, width, 3) uint8 data set.

    The file is opened when frames are asked for, and checked again: it may have changed.
    """

    path: Path
    dataset: str
    num_frames: int
    height: int
    width: int
    codec: str = "raw"

    def __post_init__(self) -> None:
        if not 0 < self.height * self.width <= MAX_PIXELS:
            raise DamagedFile(f"{self._where}: images of {self.width} x {self.height} pixels")

    @property
    def _where(self) -> str:
        return f"{self.path}: {printable(self.dataset)}"

    @contextmanager
    def _stored(self) -> Iterator[h5py.Dataset]:
        with opened(self.path) as file, damage_named(self._where):
            stored = child(file["/"].id, self.dataset, self.path)
            wanted = (self.num_frames, self.height, self.width, 3)
            if not isinstance(stored, Stored) or stored.shape != wanted or stored.dtype != np.uint8:
                raise DamagedFile(f"{self._where}: is no longer {wanted} uint8; the file changed")
            yield h5py.Dataset(stored)

    def _blocks(self) -> Iterator[Image]:
        """All frames in order, several at a time."""
        frame_bytes = self.height * self.width * 3
        per_read = max(1, min(FRAMES_PER_READ, BYTES_PER_READ // frame_bytes))
        with self._stored() as stored:
            for start in range(0, self.num_frames, per_read):
                yield stored[start : start + per_read]

    def __iter__(self) -> Iterator[Image]:
        for block in self._blocks():
            for frame in block:
                # A copy: one frame that is kept must not keep its neighbours in memory.
                yield frame.copy()

    def at(self, frame_indices: Sequence[int]) -> Iterator[Image]:
        indices = checked_indices(frame_indices, self.num_frames, self._where)
        with self._stored() as stored:
            for index in indices:
                yield stored[index]

    def fingerprint(self) -> str:
        shape = (self.num_frames, self.height, self.width, 3)
        return raw_fingerprint(shape, self._blocks())
