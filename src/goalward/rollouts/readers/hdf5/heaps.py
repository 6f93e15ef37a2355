"""A file handle for the HDF5 library that looks at text heaps before the library does.

Text attributes lie in "global heaps". In one of these a free block of size 0, which a stretch of
zeros is, sends the library (seen with 2.0.0) into an endless loop that no signal handler ends. The
library reads through this handle instead, and a heap it could not leave is an `OSError`.
"""

import io
import os
from pathlib import Path

SIGNATURE = b"GCOL\x01\0\0\0"
HEADER_SIZE = 16
MAX_HEAP_SIZE = 1 << 30


class WatchedFile(io.RawIOBase):
    """A file open for reading, whose heaps are checked as they pass by."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("rb", buffering=0)
        self._size = path.stat().st_size
        self._position = 0

    def close(self) -> None:
        self._file.close()
        super().close()

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self._size}[whence]
        self._position = start + offset
        return self._position

    def tell(self) -> int:
        return self._position

    def readinto(self, buffer: memoryview, /) -> int:  # pyright: ignore[reportIncompatibleMethodOverride]
        # A few bytes more, in case a heap begins where this piece ends.
        piece = self._bytes_at(self._position, len(buffer) + len(SIGNATURE) - 1)
        found = piece.find(SIGNATURE)
        while found >= 0:
            self._check_heap(self._position + found)
            found = piece.find(SIGNATURE, found + 1)
        count = min(len(piece), len(buffer))
        buffer[:count] = piece[:count]
        self._position += count
        return count

    def _bytes_at(self, start: int, count: int) -> bytes:
        self._file.seek(start)
        return self._file.read(count)

    def _check_heap(self, start: int) -> None:
        size = int.from_bytes(self._bytes_at(start + 8, 8), "little")
        if not HEADER_SIZE <= size <= min(self._size - start, MAX_HEAP_SIZE):
            raise OSError(f"a text heap at byte {start} claims {size} bytes")
        if not _can_be_left(self._bytes_at(start, size)):
            raise OSError(f"the text heap at byte {start} is damaged")


def _can_be_left(heap: bytes) -> bool:
    """Whether a walk over the objects of the heap reaches its end.

    Each object is: number (2 bytes), references (2), zeros (4), size (8), then its content up to
    a multiple of 8. Number 0 is the free rest, and its size counts the 16 bytes of its header.
    """
    position = HEADER_SIZE
    while position + HEADER_SIZE <= len(heap):
        number = int.from_bytes(heap[position : position + 2], "little")
        size = int.from_bytes(heap[position + 8 : position + 16], "little")
        step = HEADER_SIZE + (size + 7) // 8 * 8 if number else size
        if step <= 0 or position + step > len(heap):
            return False
        position += step
    return True
