"""Files that are kept in a store: made here, put there whole, fetched by whoever wants them next.

They are named by what they are and carry their own checksums, so that one that is here is as good
as the one that is there.
"""

# pyright: standard
# (fsspec ships no type stubs)

import contextlib
import os
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import google_crc32c

from goalward.errors import GoalwardError
from goalward.files import written_whole
from goalward.stores.fetching import MARKS, note_here, tried_again
from goalward.stores.objects import Listed, file_system
from goalward.stores.place import StoredPath, beside, url_of
from goalward.stores.problems import StoreError, explained
from goalward.stores.room import make_room
from goalward.urls import protocol_of

_NUM_AT_ONCE = 16
# So many are asked for by name.
_FEW = 64
# Each file would be a commit of its own; nothing can be written there.
_NO_KEEPERS = {
    "hf": "every file would be a commit of its own",
    "http": "nothing can be written there",
    "https": "nothing can be written there",
}


def check_can_keep(url: str) -> None:
    """An error if a store is no place for many small files, before there are any."""
    reason = _NO_KEEPERS.get(protocol_of(url))
    if reason is not None:
        raise GoalwardError(f"{url}: no place for a cache: {reason}; use a folder, or a bucket")


def keep(path: StoredPath) -> None:
    """Put a file that is here into the store, over one of the same name."""
    url, content = url_of(path), path.read_bytes()
    try:
        with explained(url):
            files, name = file_system(url)
            with contextlib.suppress(NotImplementedError):
                # File systems want their folders; buckets have none.
                files.makedirs(name.rsplit("/", 1)[0], exist_ok=True)
            tried_again(lambda: files.pipe_file(name, content))
    except (StoreError, NotImplementedError) as error:
        # Else the next process would take it for kept.
        path.unlink(missing_ok=True)
        if isinstance(error, NotImplementedError):
            raise GoalwardError(f"{url}: nothing can be written there") from error
        raise
    make_room(len(content))
    note_here(path, Listed(len(content), ""), google_crc32c.value(content))


def is_kept(path: StoredPath) -> bool:
    url = url_of(path)
    with explained(url):
        files, name = file_system(url)
        files.invalidate_cache()
        return bool(tried_again(lambda: files.exists(name)))


def discard(path: StoredPath) -> None:
    """Remove a file from the store, if it is there."""
    url = url_of(path)
    with explained(url), contextlib.suppress(FileNotFoundError):
        files, name = file_system(url)
        files.rm_file(name)


def bring(path: StoredPath) -> None:
    """Fetch a file, if it is not here and the store has it."""
    if path.exists():
        with contextlib.suppress(OSError):
            os.utime(beside(path, MARKS))
        return
    url = url_of(path)
    with explained(url):
        files, name = file_system(url)
        try:
            content = tried_again(lambda: files.cat_file(name))
        except FileNotFoundError:
            return
    make_room(len(content))
    with written_whole(path) as temporary:
        temporary.write_bytes(content)
    note_here(path, Listed(len(content), ""), google_crc32c.value(content))


def bring_all(folder: StoredPath, paths: Iterable[Path]) -> None:
    """Of these files below a folder those that the store has.

    For many of them it is asked once what it has, a thousand names an answer; for the few of one
    piece of work that would be to list the files of all others each time.
    """
    missing = [StoredPath(path) for path in dict.fromkeys(paths) if not path.exists()]
    found = missing if len(missing) <= _FEW else _those_there(folder, missing)
    with ThreadPoolExecutor(_NUM_AT_ONCE, thread_name_prefix="bring") as threads:
        for future in [threads.submit(bring, path) for path in found]:
            future.result()


def _those_there(folder: StoredPath, paths: list[StoredPath]) -> list[StoredPath]:
    url = url_of(folder)
    with explained(url):
        files, root = file_system(url)
        files.invalidate_cache()
        try:
            there = {name.removeprefix(root).strip("/") for name in files.find(root)}
        except FileNotFoundError:
            return []
    return [path for path in paths if path.relative_to(folder).as_posix() in there]
