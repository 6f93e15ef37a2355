"""Files of a store fetched to this machine: whole or not at all, and on from where they were.

A file takes its name when all its bytes are here and the store says that it has not changed since.
What came of it before a stop stays in a part, by the mark of the state that it is of. Both have
checksums beside them: what a disk changed is fetched again.
"""

# pyright: standard
# (fsspec ships no type stubs)

import contextlib
import json
import logging
import os
import threading
import time
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any, TextIO, TypeVar

import google_crc32c

from goalward.files import regular_bytes, written_whole
from goalward.progress import OnProgress, unheard
from goalward.stores.objects import Listed, file_system, state_of, wanted_state
from goalward.stores.place import StoredPath, beside, short_digest, url_of
from goalward.stores.problems import StoreError, changed, cut_short, explained, is_lasting
from goalward.stores.room import make_room
from goalward.urls import as_url, without_file_protocol

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

MARKS = "marks"
_PARTS = "parts"
NUM_AT_ONCE = 8
_BLOCK_BYTES = 16 << 20
_PAUSES_S = (0.2, 1.0)
_LOOK_AGAIN_S = 0.1
_TELL_EVERY_S = 0.5
Answer = TypeVar("Answer")

_log = logging.getLogger(__name__)
# Files that were compared with their checksums, as they were then: once in a process is enough.
_compared: dict[Path, tuple[int, int, int]] = {}


def fetched(path: Path) -> Path:
    """The same path, with all of the file there; one that is of no store is there already."""
    if isinstance(path, StoredPath):
        _fetch(path, lambda _: None)
    return path


def file_here(path: str | Path) -> Path:
    """A file by its path or its address; one of a store is fetched."""
    url = as_url(path)
    return without_file_protocol(path) if url is None else fetched(StoredPath.of(url))


def fetch_all(paths: Sequence[StoredPath], on_progress: OnProgress = unheard) -> None:
    """Several files at a time; `on_progress` hears of bytes. The first trouble stops the rest."""
    sizes = [wanted_state(path, url_of(path)).size for path in paths]
    so_far = [0] * len(paths)
    stopped = threading.Event()

    def fetch(position: int) -> None:
        def more(count: int) -> None:
            if stopped.is_set():
                raise StoreError(f"{url_of(paths[position])}: not fetched, as others were not")
            so_far[position] += count

        _fetch(paths[position], more)
        so_far[position] = sizes[position]

    threads = ThreadPoolExecutor(NUM_AT_ONCE, thread_name_prefix="fetch")
    try:
        left = {threads.submit(fetch, position) for position in range(len(paths))}
        while left:
            finished, left = wait(left, timeout=_TELL_EVERY_S, return_when=FIRST_COMPLETED)
            for future in finished:
                future.result()
            on_progress(sum(so_far), sum(sizes))
    finally:
        # After trouble or an interrupt the rest is not fetched for nothing.
        stopped.set()
        threads.shutdown(cancel_futures=True)


def is_here(path: StoredPath, wanted: Listed, *, is_compared: bool = True) -> bool:
    """Whether the file is here whole, in the state that is wanted, as it was fetched.

    One that is not as it was fetched is forgotten. Without `is_compared` its bytes are not looked
    at: who wants them asks again.
    """
    try:
        size, mark, checksum = json.loads(regular_bytes(beside(path, MARKS)))
        found = path.stat()
        if Listed(size, mark) != wanted or found.st_size != wanted.size:
            return False
        as_compared = found.st_size, found.st_mtime_ns, found.st_ino
        if is_compared and _compared.get(path) != as_compared:
            if _checksum_of(path) != checksum:
                _log.warning("%s: was damaged since it was fetched; fetched again", url_of(path))
                forget(path)
                return False
            _compared[path] = as_compared
    except (OSError, ValueError, TypeError):
        return False
    return True


def note_here(path: StoredPath, listed: Listed, checksum: int) -> None:
    with written_whole(beside(path, MARKS)) as temporary:
        temporary.write_text(json.dumps([*listed, checksum]))


def forget(path: StoredPath) -> None:
    """Before the file itself changes: from now on it is not the one that was fetched."""
    beside(path, MARKS).unlink(missing_ok=True)


def _fetch(path: StoredPath, on_bytes: Callable[[int], None]) -> None:
    url = url_of(path)
    wanted = wanted_state(path, url)
    if is_here(path, wanted):
        # When it was last needed: what was not for longest makes room for others.
        with contextlib.suppress(OSError):
            os.utime(beside(path, MARKS))
        return
    with explained(url):
        part = beside(path, _PARTS, f".{short_digest(wanted.mark)}.{wanted.size}")
        with _alone_with(part) as (part, handle):
            if is_here(path, wanted):
                _remove_part(part)
                return
            make_room(wanted.size)
            checksum = _download(url, wanted, part, handle, on_bytes)
            # An object that was replaced meanwhile may be half of the one and half of the other.
            if state_of(path, url) != wanted:
                _remove_part(part)
                raise changed(url)
            forget(path)
            path.parent.mkdir(parents=True, exist_ok=True)
            part.replace(path)
            note_here(path, wanted, checksum)
            _remove_part(part)


def _download(
    url: str, wanted: Listed, part: Path, handle: int, on_bytes: Callable[[int], None]
) -> int:
    """The rest of a part, block by block; the checksum of all of it."""
    files, name = file_system(url)
    with _sums_of(part).open("a+") as sums:
        position, checksum = _known_blocks(handle, sums)
        os.ftruncate(handle, position)
        on_bytes(position)
        while position < wanted.size:
            end = min(position + _BLOCK_BYTES, wanted.size)
            block = tried_again(lambda p=position, e=end: _block(files, name, url, p, e))
            os.pwrite(handle, block, position)
            checksum = google_crc32c.extend(checksum, block)
            print(end, checksum, file=sums, flush=True)
            position = end
            on_bytes(len(block))
    os.fsync(handle)
    return checksum


def _sums_of(part: Path) -> Path:
    """Where blocks end, and the checksum up to there: a line for each block of a part."""
    return part.with_name(f"{part.name}.sums")


def _known_blocks(handle: int, sums: TextIO) -> tuple[int, int]:
    """How much of a part is as it was fetched, and its checksum; lines about the rest go."""
    sums.seek(0)
    position = checksum = 0
    lines: list[str] = []
    for line in sums:
        block = os.pread(handle, _BLOCK_BYTES, position)
        following = google_crc32c.extend(checksum, block)
        if not block or line != f"{position + len(block)} {following}\n":
            break
        position, checksum = position + len(block), following
        lines.append(line)
    sums.truncate(0)
    sums.writelines(lines)
    sums.flush()
    return position, checksum


def _checksum_of(path: Path) -> int:
    checksum = 0
    with path.open("rb") as file:
        while block := file.read(_BLOCK_BYTES):
            checksum = google_crc32c.extend(checksum, block)
    return checksum


def _remove_part(part: Path) -> None:
    part.unlink(missing_ok=True)
    _sums_of(part).unlink(missing_ok=True)


def _block(files: Any, name: str, url: str, start: int, end: int) -> bytes:
    block = files.cat_file(name, start=start, end=end)
    if len(block) != end - start:
        raise cut_short(url, start + len(block), end)
    return block


def tried_again(ask: Callable[[], Answer]) -> Answer:
    """An answer of the store; what may pass is asked for again, a few times."""
    for pause_s in _PAUSES_S:
        try:
            return ask()
        except Exception as error:
            if is_lasting(error) or (isinstance(error, StoreError) and not error.is_passing):
                raise
            time.sleep(pause_s)
    return ask()


@contextlib.contextmanager
def _alone_with(part: Path) -> Generator[tuple[Path, int]]:
    """An open part that nobody else writes; who comes second waits.

    Where there are no locks, a part of its own, which nobody goes on with.
    """
    # Not the part itself, which takes another name before all is said about the file.
    lock = part.with_name(f"{part.name}.lock")
    while True:
        part.parent.mkdir(parents=True, exist_ok=True)
        held = os.open(lock, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            locked = _locked(lock, held)
            if locked is None:
                part = part.with_name(f"{part.name}.{os.getpid()}-{threading.get_ident()}")
            if locked is not False:
                handle = os.open(part, os.O_RDWR | os.O_CREAT, 0o666)
                try:
                    yield part, handle
                finally:
                    os.close(handle)
                    # While it is still ours: who waits for it finds another file and looks again.
                    lock.unlink(missing_ok=True)
                return
        finally:
            os.close(held)
        time.sleep(_LOOK_AGAIN_S)


def _locked(lock: Path, handle: int) -> bool | None:
    """Whether the lock is ours; None where there are none."""
    try:
        if fcntl is None:
            return None
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    try:
        # Who had it before may have removed it.
        return os.path.samestat(os.fstat(handle), lock.stat())
    except OSError:
        return False
