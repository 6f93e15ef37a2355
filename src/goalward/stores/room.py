"""Room on this machine's disk: files of stores that were not needed for longest go first.

Only what can be fetched again when it is needed goes: videos and embeddings. Tables stay while
their data set is in use.
"""

import contextlib
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from goalward.files import write_text
from goalward.stores.place import limit_bytes, stores_folder, told_by_url

# A video by its name is fetched when its frames are wanted.
VIDEO_SUFFIXES = frozenset({".mp4", ".mkv", ".webm", ".avi", ".mov"})
ENTRY_SUFFIX = ".safetensors"
# Who has just fetched a file is about to open it.
_IN_USE_S = 60.0
# Other processes fetch into the same folder.
_LOOK_AGAIN_S = 300.0


class _Room:
    """What is left below the limit, as far as this process knows."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._left = 0
        self._looked_at = -_LOOK_AGAIN_S
        self._folder: Path | None = None

    def take(self, num_bytes: int) -> None:
        with self._lock:
            is_old = time.monotonic() - self._looked_at > _LOOK_AGAIN_S
            if is_old or self._folder != stores_folder() or self._left < num_bytes:
                self._left = _made_room(num_bytes)
                self._looked_at = time.monotonic()
                self._folder = stores_folder()
            self._left -= num_bytes


_room = _Room()


def make_room(num_bytes: int) -> None:
    """Remove files until so many bytes more are within the limit, or none is left to remove.

    Files of the last minute stay, so that the limit may be exceeded by what is being decoded.
    """
    _room.take(num_bytes)


def _made_room(num_bytes: int) -> int:
    """How many bytes are free below the limit, after files have gone if there were too few."""
    limit = limit_bytes()
    there = sorted(_files())
    left = limit - sum(size for _, size, _, _ in there)
    if left >= num_bytes:
        return left
    now = time.time()
    # Some more than is needed: looking through all files takes its time.
    wanted = num_bytes + limit // 20
    for used, size, mark, path in there:
        if left >= wanted or now - used < _IN_USE_S:
            break
        if is_fetched_late(path):
            with contextlib.suppress(OSError):
                mark.unlink(missing_ok=True)
                if is_video(path):
                    lay_word(path)
                else:
                    path.unlink(missing_ok=True)
                left += size
    return left


def is_video(path: Path) -> bool:
    return path.suffix.lower() in VIDEO_SUFFIXES


def is_fetched_late(path: Path) -> bool:
    return is_video(path) or path.suffix == ENTRY_SUFFIX


def lay_word(path: Path) -> None:
    """In place of a file that is fetched when it is needed: who lists the folder sees its name."""
    write_text(path, f"{told_by_url(str(path))} is fetched when its frames are wanted\n")


def _files() -> Iterator[tuple[float, int, Path, Path]]:
    """(last used, bytes, mark, path) of what is here; files that others remove are skipped."""
    marks, objects = stores_folder() / "marks", stores_folder() / "objects"
    for parent, _, names in os.walk(marks):
        for name in names:
            mark = Path(parent, name)
            path = objects / mark.relative_to(marks)
            with contextlib.suppress(OSError):
                yield mark.stat().st_mtime, path.stat().st_size, mark, path
