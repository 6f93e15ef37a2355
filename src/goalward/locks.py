"""One process at a time in a folder: a lock that the system drops when its holder ends.

However the holder ends: a kill leaves no lock, at most a file of which nobody holds the lock. The
file says who holds it (process, machine, since when, command), for who has to wait. On disks
without such locks that text is all there is: its holder is asked for by its number, and if it was
on another machine, which nobody can ask, the user has to say that it is gone.
"""

import contextlib
import json
import logging
import os
import platform
import shlex
import sys
import threading
import time
from collections.abc import Generator
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

from goalward.errors import GoalwardError
from goalward.files import resolved
from goalward.urls import check_here

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

_log = logging.getLogger("goalward.locks")

LOCK_FILE = ".goalward.lock"
_LOOK_AGAIN_S = 0.2
_SAY_AGAIN_S = 60.0
# How far two clocks' times of a process's start may lie apart.
_SAME_START_S = 2.0

# Locks of this process by their path: the thread that holds each, and its open file.
_held: dict[Path, tuple[int, int]] = {}


@dataclass(frozen=True)
class Holder:
    """Who holds a lock; `started` is when its process began, in seconds since 1970."""

    pid: int
    machine: str
    since: str
    command: str
    started: float

    def __str__(self) -> str:
        return f"process {self.pid} on {self.machine}, since {self.since}: `{self.command}`"

    @property
    def is_here(self) -> bool:
        return self.machine == platform.node()

    @property
    def is_alive(self) -> bool:
        """Whether its process is there; a later one of the same number is another one."""
        import psutil

        try:
            return abs(psutil.Process(self.pid).create_time() - self.started) < _SAME_START_S
        except psutil.Error:
            return False


class HeldByOther(GoalwardError):
    """Somebody else is at work in a folder."""


@contextlib.contextmanager
def alone_in(folder: Path, *, wait: bool = True, name: str = LOCK_FILE) -> Generator[None]:
    """Inside, no other process works in a folder; who comes second waits, and is told for whom.

    Without `wait` that is an error. A folder that cannot be written has no lock: whoever works
    there will say so. A thread that holds the lock already goes on.
    """
    check_here(folder)
    is_new = not folder.exists()
    path = resolved(folder) / name
    if path in _held and _held[path][0] == threading.get_ident():
        yield
        return
    handle = _taken(path, wait)
    if handle is None:
        yield
        return
    _held[path] = (threading.get_ident(), handle)
    try:
        yield
    finally:
        _held.pop(path, None)
        _drop(path, handle)
        if is_new:
            # Made for the lock alone, if nothing else came of it.
            with contextlib.suppress(OSError):
                folder.rmdir()


def _taken(path: Path, wait: bool) -> int | None:
    """An open file whose lock is ours; None where there can be none."""
    said_at = -_SAY_AGAIN_S
    while True:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError:
            return None
        holder = _holder_in_the_way(path, handle)
        if holder is None:
            if _is_the_file(path, handle):
                _note_holder(handle)
                return handle
            # The one before removed the file between our opening it and our locking it.
            os.close(handle)
            continue
        os.close(handle)
        who = f"{path.parent}: another process is at work there ({holder})"
        if not wait:
            raise HeldByOther(f"{who}; run this one after it")
        if time.monotonic() - said_at >= _SAY_AGAIN_S:
            said_at = time.monotonic()
            _log.warning("%s; waiting for it to end", who)
        time.sleep(_LOOK_AGAIN_S)


def _holder_in_the_way(path: Path, handle: int) -> str | None:
    """Who holds the lock of an open file, in words; None: it is ours now."""
    try:
        if fcntl is None:
            raise OSError("no locks on this system")
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        noted = _noted_holder(handle)
        return str(noted) if noted is not None else "it has not said which yet"
    except OSError as error:
        return _noted_in_the_way(path, handle, error)
    return None


def _noted_in_the_way(path: Path, handle: int, reason: OSError) -> str | None:
    """The same where only the note tells."""
    noted = _noted_holder(handle)
    if noted is None or (noted.is_here and not noted.is_alive):
        return None
    if not noted.is_here:
        raise HeldByOther(
            f"{path.parent}: {noted} may be at work there, and this disk has no locks that could "
            f"tell ({reason}); if it has ended, remove {path}"
        )
    return str(noted)


def _is_the_file(path: Path, handle: int) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except OSError:
        return False


def _note_holder(handle: int) -> None:
    import psutil

    holder = Holder(
        pid=os.getpid(),
        machine=platform.node(),
        since=datetime.now().astimezone().isoformat(sep=" ", timespec="seconds"),
        command=shlex.join([Path(sys.argv[0] or "python").name, *sys.argv[1:]]),
        started=psutil.Process().create_time(),
    )
    # A full disk must not keep anybody from working: the lock is what counts.
    with contextlib.suppress(OSError):
        os.ftruncate(handle, 0)
        os.lseek(handle, 0, os.SEEK_SET)
        os.write(handle, (json.dumps(asdict(holder)) + "\n").encode())


def _noted_holder(handle: int) -> Holder | None:
    try:
        return Holder(**json.loads(os.read(handle, 1 << 16)))
    except (OSError, ValueError, TypeError):
        return None


def _drop(path: Path, handle: int) -> None:
    # Removed while it is still ours: who waits for it finds another file and looks again.
    with contextlib.suppress(OSError):
        path.unlink(missing_ok=True)
    with contextlib.suppress(OSError):
        os.close(handle)


def _forget_in_child() -> None:
    """A process that was forked shares our open files, and would keep our locks alive."""
    for _, handle in _held.values():
        with contextlib.suppress(OSError):
            os.close(handle)
    _held.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_in_child)
