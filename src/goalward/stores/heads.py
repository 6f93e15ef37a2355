"""Parts of a file that is not fetched: a video's index without the video.

What was read is kept, with a checksum, so that the next reader of the same parts asks nobody.
"""

# pyright: standard
# (fsspec ships no type stubs)

import io
import struct
from pathlib import Path
from typing import IO, cast

import google_crc32c

from goalward.files import regular_bytes, written_whole
from goalward.stores.fetching import is_here, tried_again
from goalward.stores.objects import Listed, file_system, state_of, wanted_state
from goalward.stores.place import StoredPath, beside, short_digest, url_of
from goalward.stores.problems import changed, cut_short, explained

_HEADS = "heads"
# Where and how many bytes, before the bytes themselves.
_PLACE = struct.Struct("<QQ")
# Of the address and of all that follows, at the beginning.
_CHECKSUM = struct.Struct("<I")
# Asked for at once: indices are short, and the way to the store is long.
_AHEAD_BYTES = 1 << 16


def opened(path: Path) -> IO[bytes]:
    """A file to read parts of; one of a store is not fetched for it."""
    if isinstance(path, StoredPath):
        url = url_of(path)
        wanted = wanted_state(path, url)
        kept = beside(path, _HEADS, f".{short_digest(wanted.mark)}.{wanted.size}")
        # What was kept first: to know that a file is whole is to read all of it.
        if kept.exists() or not is_here(path, wanted):
            return cast(IO[bytes], _Head(path, url, wanted, kept))
    return path.open("rb")


class _Head(io.RawIOBase):
    """Reads parts of an object; what was asked for is kept when it is closed."""

    def __init__(self, path: StoredPath, url: str, listed: Listed, kept: Path) -> None:
        self._path, self._url, self._listed, self._kept = path, url, listed, kept
        self._size = listed.size
        self._position = 0
        self._parts = _read_parts(self._kept, url)
        self._is_new = False
        self._ahead = (0, b"")

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        before = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._size}[whence]
        self._position = max(0, before + offset)
        return self._position

    def tell(self) -> int:
        return self._position

    def read(self, size: int = -1) -> bytes:
        start = min(self._position, self._size)
        end = self._size if size < 0 else min(start + size, self._size)
        part = self._parts.get((start, end - start))
        if part is None:
            part = self._asked(start, end)
            self._parts[start, end - start] = part
            self._is_new = True
        self._position = end
        return part

    def _asked(self, start: int, end: int) -> bytes:
        ahead_start, ahead = self._ahead
        if not ahead_start <= start <= end <= ahead_start + len(ahead):
            stop = min(self._size, max(end, start + _AHEAD_BYTES))
            self._ahead = start, tried_again(lambda: self._from_store(start, stop))
            ahead_start, ahead = self._ahead
        return ahead[start - ahead_start : end - ahead_start]

    def _from_store(self, start: int, end: int) -> bytes:
        if start == end:
            return b""
        with explained(self._url):
            files, name = file_system(self._url)
            block = files.cat_file(name, start=start, end=end)
        if len(block) != end - start:
            raise cut_short(self._url, start + len(block), end)
        return block

    def close(self) -> None:
        if self._is_new:
            self._is_new = False
            # Parts of two states of one object would be an index of neither.
            if state_of(self._path, self._url) != self._listed:
                super().close()
                raise changed(self._url)
            content = b"".join(_PLACE.pack(*place) + part for place, part in self._parts.items())
            with written_whole(self._kept) as temporary:
                temporary.write_bytes(_checksum(self._url, content) + content)
        super().close()


def _checksum(url: str, content: bytes) -> bytes:
    return _CHECKSUM.pack(google_crc32c.value(url.encode() + content))


def _read_parts(path: Path, url: str) -> dict[tuple[int, int], bytes]:
    try:
        content = regular_bytes(path)
    except OSError:
        return {}
    parts: dict[tuple[int, int], bytes] = {}
    position = _CHECKSUM.size
    if content[:position] != _checksum(url, content[position:]):
        return {}
    while position + _PLACE.size <= len(content):
        start, length = _PLACE.unpack_from(content, position)
        position += _PLACE.size
        parts[start, length] = content[position : position + length]
        position += length
    return parts
