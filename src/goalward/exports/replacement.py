"""Changing files of somebody's data set: all of them or none, and never without a backup.

A file system can rename one file at a time. So all new files are written first, beside the old
ones; then the old ones are copied; then a record says which files are about to be renamed; only
then are they renamed. Stopped before the record, nothing has changed. Stopped after it, some files
are new and some old, and the next export finishes what the record says, except for files that
somebody changed in between. One export at a time: two would write the same new files.
"""

import contextlib
import hashlib
import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from goalward.checksums import (
    DamagedFile,
    read_json_with_checksum,
    write_json_with_checksum,
)
from goalward.errors import GoalwardError
from goalward.leftovers import sweep
from goalward.locks import alone_in
from goalward.progress import OnProgress, unheard
from goalward.rollouts.readers.lerobot.paths import is_inside

# Not .parquet: tools that look for data files must not find a half written one.
_NEW = ".goalward-new"
BACKUP = ".goalward.bak"
_RECORD = Path("meta") / "goalward_exports.json"


def replace_together(
    root: Path,
    writers: Mapping[Path, Callable[[Path], None]],
    on_progress: OnProgress = unheard,
) -> None:
    """Give each of these files of a data set new content, which its writer writes to a path.

    A file that was not written by an export is copied to `<name>.goalward.bak` first (or .bak.2,
    ...: no backup is ever replaced).
    """
    with alone_in(root, wait=False):
        _finish(root)
        _remove_leftovers(root)
        _replace(root, writers, on_progress)
        _finish(root)


def _replace(
    root: Path,
    writers: Mapping[Path, Callable[[Path], None]],
    on_progress: OnProgress,
) -> None:
    """Everything but the renames, which the record then says are to be done."""
    record = _read_record(root)
    new = {path: path.with_name(f".{path.name}{_NEW}") for path in writers}
    try:
        for so_far, (path, writer) in enumerate(writers.items()):
            on_progress(so_far, len(writers))
            path.parent.mkdir(parents=True, exist_ok=True)
            writer(new[path])
            if path.exists():
                shutil.copymode(path, new[path])
            _flush(new[path])
        for path in writers:
            _back_up(path, record["written"].get(_relative(path, root)))
        for path, temporary in new.items():
            record["unfinished"][_relative(path, root)] = _digest(path)
            record["written"][_relative(path, root)] = _digest(temporary)
        _write_record(root, record)
    except BaseException as error:
        # Nothing has been changed.
        for temporary in new.values():
            with contextlib.suppress(OSError):  # on a disk that cannot be written
                temporary.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise GoalwardError(
                f"{root}: cannot be written, nothing was changed ({error.strerror or error})"
            ) from error
        raise


def _finish(root: Path) -> None:
    """Rename what the record says, of this export or of one that was stopped."""
    record = _read_record(root)
    if not record["unfinished"]:
        return
    for relative, old in record["unfinished"].items():
        path = root / relative
        temporary = path.with_name(f".{path.name}{_NEW}")
        try:
            if temporary.exists() and _digest(path) == old:
                temporary.replace(path)
            # A file that is not the one that was backed up is newer than ours, and stays.
            temporary.unlink(missing_ok=True)
        except OSError as error:
            raise GoalwardError(
                f"{path}: cannot be replaced ({error.strerror or error}); some files of the data "
                "set are new and some old: export again to finish"
            ) from error
    record["unfinished"] = {}
    _write_record(root, record)


def _remove_leftovers(root: Path) -> None:
    """What an export that was killed before its record had written; nobody else is at work."""
    sweep(root / _RECORD.parent, name=_RECORD.name)
    name = f".*{_NEW}"
    for leftover in [*root.glob(name), *root.glob(f"meta/{name}"), *root.glob(f"data/**/{name}")]:
        with contextlib.suppress(OSError):
            leftover.unlink()


def _back_up(path: Path, written_by_us: str | None) -> None:
    if not path.exists() or _digest(path) == written_by_us:
        return
    number, backup = 1, path.with_name(path.name + BACKUP)
    while backup.exists():
        if _digest(backup) == _digest(path):
            return
        number += 1
        backup = path.with_name(f"{path.name}{BACKUP}.{number}")
    temporary = backup.with_name(f".{backup.name}{_NEW}")
    try:
        shutil.copy2(path, temporary)
        _flush(temporary)
        temporary.replace(backup)
    finally:
        temporary.unlink(missing_ok=True)


def _relative(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix()


def _read_record(root: Path) -> dict[str, Any]:
    path = root / _RECORD
    if not path.exists():
        return {"unfinished": {}, "written": {}}
    try:
        record = read_json_with_checksum(path)
        unfinished, written = dict(record["unfinished"]), dict(record["written"])
        if not all(type(name) is str and is_inside(name) for name in [*unfinished, *written]):
            raise ValueError("names a file outside the data set")
        return {"unfinished": unfinished, "written": written}
    except (DamagedFile, ValueError, TypeError, KeyError) as error:
        raise GoalwardError(
            f"{path}: is no record of exports ({error}); remove it and export again: what earlier "
            "exports wrote is then backed up like files of your own"
        ) from error


def _write_record(root: Path, record: dict[str, Any]) -> None:
    write_json_with_checksum(root / _RECORD, record)


def _flush(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())


def _digest(path: Path) -> str | None:
    """What is in a file; None if there is none."""
    if not path.exists():
        return None
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
