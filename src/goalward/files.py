"""Writing files so that nobody ever sees half of one."""

import os
import tempfile
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from goalward.errors import GoalwardError
from goalward.leftovers import writer_mark
from goalward.urls import check_here

_READING_UMASK = threading.Lock()


@contextmanager
def written_whole(path: Path) -> Generator[Path]:
    """A temporary path beside `path`; what is written there takes its name when all is well.

    After an error or an interrupt the old file, if there was one, is still there untouched. What
    a killed process leaves names it, and is swept later (`leftovers.py`).

    >>> folder = Path(tempfile.mkdtemp())
    >>> with written_whole(folder / "scores.json") as temporary:
    ...     _ = temporary.write_text("{}")
    >>> [file.name for file in folder.iterdir()]
    ['scores.json']
    """
    check_here(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(
            prefix=f".{path.name}.{writer_mark()}-", suffix=path.suffix, dir=path.parent
        )
        os.close(handle)
    except OSError as error:
        raise GoalwardError(f"{path}: cannot be written ({error.strerror or error})") from error
    temporary = Path(name)
    try:
        yield temporary
        # mkstemp makes private files; a result should be as readable as any other file.
        temporary.chmod(0o666 & ~_umask())
        with temporary.open("rb") as file:
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        raise GoalwardError(f"{path}: cannot be written ({error.strerror or error})") from error
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """A text as a file, whole or not at all."""
    with written_whole(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="")


def _umask() -> int:
    """What new files may not be; it can only be read by setting it, by one thread at a time."""
    with _READING_UMASK:
        umask = os.umask(0)
        os.umask(umask)
    return umask


def check_regular(path: Path, *, may_be_missing: bool = False) -> None:
    """An error unless this is a file; to open a pipe would be to wait for ever."""
    if not path.is_file() and not (may_be_missing and not path.exists()):
        what = "is no regular file" if path.exists() else "no such file"
        raise GoalwardError(f"{path}: {what}")


def regular_bytes(path: Path) -> bytes:
    """What a file holds; an OSError where there is none, or a pipe that nobody writes into."""
    if not path.is_file():
        raise FileNotFoundError(f"{path}: is no regular file")
    return path.read_bytes()


def resolved(path: Path) -> Path:
    """Where a path leads by all links on its way."""
    try:
        return path.resolve()
    except RuntimeError as error:
        raise GoalwardError(f"{path}: is a link that leads back to itself") from error


def check_folder(path: Path) -> None:
    """Make a folder for results and try to write in it, before there are results."""
    check_here(path)
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            pass
    except FileExistsError as error:
        raise GoalwardError(f"{path}: is a file, but results need a folder") from error
    except OSError as error:
        raise GoalwardError(f"{path}: cannot be written ({error.strerror or error})") from error


def reserve(file: IO[bytes], num_bytes: int, where: Path) -> None:
    """Make a file this long with room on disk for all of it.

    Writing to a memory map of a file that the disk has no room for kills the process.
    """
    try:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, num_bytes)
        else:
            file.truncate(num_bytes)
    except OSError as error:
        raise GoalwardError(
            f"{where}: no room for a file of {num_bytes / 1e9:.1f} GB ({error.strerror})"
        ) from error
