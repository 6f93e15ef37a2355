"""Files of a store fetched to this machine: whole or not at all, and on from where they were.

A file takes its name when all its bytes are here and the store says that it has not changed since.
What came of it before a stop stays in a part, by the mark of the state that it is of.
"""

# pyright: standard
# (fsspec ships no type stubs)

import contextlib
import json
import os
import threading
import time
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any, TypeVar

from goalward.files import written_whole
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


def is_here(path: StoredPath, wanted: Listed) -> bool:
    """Whether the file is here whole, in the state that is wanted."""
    try:
        told = json.loads(beside(path, MARKS).read_text())
        return Listed(*told) == wanted and path.stat().st_size == wanted.size
    except (OSError, ValueError, TypeError):
        return False


def note_here(path: StoredPath, listed: Listed) -> None:
    with written_whole(beside(path, MARKS)) as temporary:
        temporary.write_text(json.dumps(listed))


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
                part.unlink(missing_ok=True)
                return
            make_room(wanted.size)
            _download(url, wanted, handle, on_bytes)
            # An object that was replaced meanwhile may be half of the one and half of the other.
            if state_of(path, url) != wanted:
                part.unlink(missing_ok=True)
                raise changed(url)
            forget(path)
            path.parent.mkdir(parents=True, exist_ok=True)
            part.replace(path)
            note_here(path, wanted)


def _download(url: str, wanted: Listed, handle: int, on_bytes: Callable[[int], None]) -> None:
    files, name = file_system(url)
    # Whole blocks alone: what follows the last of them may not have reached the disk.
    position = os.fstat(handle).st_size // _BLOCK_BYTES * _BLOCK_BYTES
    os.ftruncate(handle, position)
    on_bytes(position)
    while position < wanted.size:
        end = min(position + _BLOCK_BYTES, wanted.size)
        block = tried_again(lambda p=position, e=end: _block(files, name, url, p, e))
        os.pwrite(handle, block, position)
        position = end
        on_bytes(len(block))
    os.fsync(handle)


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
