"""What killed processes leave: files begun under a temporary name, which says whose they are.

    .values.parquet.gw-3f9c2a71-4711-x8s2k1qa.parquet
                       machine  process

A sweep removes those whose process is gone, and no others: not those of a process that lives, not
those of another machine unless they are older than a day, and no file with any other name.
"""

import contextlib
import glob
import hashlib
import os
import re
import shutil
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path

_LEFTOVER = re.compile(r"\..+\.gw-([0-9a-f]{8})-([0-9]+)-\w+(\.\w+)*")
# Nothing takes this long to write: of another machine, or of a process whose number another has.
_ABANDONED_S = 24 * 3600.0


def writer_mark() -> str:
    """What a temporary name says of its writer: the machine and the process."""
    return f"gw-{_machine()}-{os.getpid()}"


@cache
def _machine() -> str:
    """Where numbers of processes mean the same: a machine since it started, or a container."""
    import platform

    facts = [platform.node()]
    for path in (Path("/proc/sys/kernel/random/boot_id"), Path("/proc/self/ns/pid")):
        with contextlib.suppress(OSError):
            facts.append(str(path.readlink()) if path.is_symlink() else path.read_text())
    return hashlib.blake2b("\n".join(facts).encode(), digest_size=4).hexdigest()


def sweep(folder: Path, *, name: str | None = None, below: bool = False) -> int:
    """Remove what dead processes left in a folder, of all files or of one, and count it.

    With `below` in all folders below it too; links are not followed.
    """
    swept = 0
    for path in _candidates(folder, name, below):
        if not is_abandoned(path):
            continue
        # What cannot be removed does no harm.
        with contextlib.suppress(OSError):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()
            swept += 1
    return swept


def _candidates(folder: Path, name: str | None, below: bool) -> Iterator[Path]:
    found = folder.rglob if below else folder.glob
    with contextlib.suppress(OSError):
        yield from list(found(f".{'*' if name is None else glob.escape(name)}.gw-*"))


def is_abandoned(path: Path) -> bool:
    """Whether a file was begun by a process of ours that is dead."""
    found = _LEFTOVER.fullmatch(path.name)
    if found is None:
        return False
    machine, process = found[1], int(found[2])
    if machine == _machine() and not is_alive(process):
        return True
    with contextlib.suppress(OSError):
        return time.time() - path.lstat().st_mtime > _ABANDONED_S
    return False


def is_alive(process: int) -> bool:
    """Whether there is a process of this number here."""
    import psutil

    return psutil.pid_exists(process)
