"""Which part of a file a browser asks for, and whether it has the file already."""

import os
import re
import stat
from dataclasses import dataclass
from datetime import UTC, datetime
from email.message import Message
from email.utils import format_datetime
from typing import BinaryIO

_RANGE = re.compile(r"bytes=(?:(\d{1,18})-(\d{0,18})|-(\d{1,18}))", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True)
class FileState:
    """A file at the moment it was opened."""

    size: int
    tag: str
    changed: str

    @classmethod
    def of(cls, file: BinaryIO) -> "FileState":
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise OSError("no regular file")
        changed = datetime.fromtimestamp(int(status.st_mtime), UTC)
        tag = f'"{status.st_mtime_ns:x}-{status.st_size:x}"'
        return cls(status.st_size, tag, format_datetime(changed, usegmt=True))

    def is_known(self, headers: Message) -> bool:
        """Whether the browser has this very file already."""
        tags = headers.get("If-None-Match")
        if tags is not None:
            known = {tag.strip().removeprefix("W/") for tag in tags.split(",")}
            return self.tag in known or "*" in known
        return headers.get("If-Modified-Since") == self.changed


def wanted_bytes(header: str | None, size: int) -> range | None:
    """The part of a file that a Range header asks for; None means all of it.

    Several parts at once, and what is no range, give all of it, as the standard allows
    (RFC 9110, 14.2). An empty range: there is nothing where the header points.

    >>> wanted_bytes("bytes=10-19", 100), wanted_bytes("bytes=-1", 100)
    (range(10, 20), range(99, 100))
    >>> wanted_bytes("bytes=100-", 100)
    range(100, 100)
    """
    match = _RANGE.fullmatch(header.strip()) if header else None
    if match is None:
        return None
    first, last, num_last = match.groups()
    if num_last is not None:
        return range(max(0, size - int(num_last)), size)
    if last and int(last) < int(first):
        return None
    stop = min(size, int(last) + 1) if last else size
    return range(min(int(first), stop), stop)
