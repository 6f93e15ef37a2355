"""A data set of a store laid out on this machine: listed, its tables fetched, its videos named."""

import contextlib
import os
import re
from collections.abc import Mapping
from pathlib import Path

from goalward.errors import RolloutError
from goalward.progress import OnProgress, unheard
from goalward.stores.fetching import fetch_all, fetched, forget, is_here
from goalward.stores.objects import Listed, list_objects, note_object
from goalward.stores.place import LIMIT, StoredPath, limit_bytes, names_of, url_of
from goalward.stores.problems import StoreError
from goalward.stores.room import is_fetched_late, is_video, lay_word

# What readers look into. The rest of a folder (weights, logs) stays where it is.
_TABLES = re.compile(
    r".*\.(json|jsonl|csv|parquet|hdf5|h5|npz|png|jpg|jpeg|tfrecord(-\d+-of-\d+)?)", re.IGNORECASE
)
_INFO = "meta/info.json"
_MOST_NAMED = 5


def laid_out(path: StoredPath, on_progress: OnProgress = unheard) -> None:
    """Make a data set, or one file, as readers want to see it: as it is in the store now.

    `on_progress` hears how many bytes were fetched, of how many.
    """
    url = url_of(path)
    objects = list_objects(url)
    if "" in objects:
        note_object(path, objects[""])
        if path.is_dir() and not path.is_symlink():
            _clear(path, {})
        _lay([path], {path: objects[""]}, on_progress)
        return
    read = {name: listed for name, listed in objects.items() if _is_read(name)}
    _check_one_data_set(url, read)
    if not read:
        raise RolloutError(
            f"{url}: holds {len(objects)} files, and none that rollouts are made of"
            if objects
            else f"{url}: the folder is empty"
        )
    found = {StoredPath(path, *name.split("/")): listed for name, listed in read.items()}
    for file, listed in found.items():
        note_object(file, listed)
    _clear(path, found)
    _lay(list(found), found, on_progress)
    if _INFO not in read:
        _bring_info_above(path)


def _bring_info_above(path: StoredPath) -> None:
    """The info.json of a LeRobot data set that this folder is a part of, for readers to see."""
    for folder in path.parents[: len(names_of(path)) - 2]:
        with contextlib.suppress(StoreError):
            fetched(folder / "meta" / "info.json")


def _is_read(name: str) -> bool:
    return is_video(Path(name)) or _TABLES.fullmatch(name) is not None


def _check_one_data_set(url: str, read: Mapping[str, Listed]) -> None:
    """Several of them at once would be fetched for nothing: no reader takes them as one."""
    below = [name.removesuffix(f"/{_INFO}") for name in read if name.endswith(f"/{_INFO}")]
    if below and _INFO not in read:
        there = ", ".join(f"{url}/{name}" for name in sorted(below)[:_MOST_NAMED])
        more = f" and {len(below) - _MOST_NAMED} others" if len(below) > _MOST_NAMED else ""
        raise RolloutError(
            f"{url}: is not a data set itself, but holds some; point at {there}{more}"
        )


def _clear(folder: StoredPath, found: Mapping[StoredPath, Listed]) -> None:
    """Remove what an earlier look at the store left and the store has no longer."""
    wanted = {Path(path) for path in found}
    for parent, _, names in os.walk(folder):
        for name in names:
            path = StoredPath(parent, name)
            if Path(path) not in wanted and (_is_read(name) or not found):
                forget(path)
                path.unlink(missing_ok=True)
    if not found:
        for parent, _, _ in list(os.walk(folder, topdown=False)):
            Path(parent).rmdir()


def _lay(
    paths: list[StoredPath], found: Mapping[StoredPath, Listed], on_progress: OnProgress
) -> None:
    # The bytes of videos are compared when they are wanted: there may be many.
    missing = [
        path
        for path in paths
        if not is_here(path, found[path], is_compared=not is_fetched_late(path))
    ]
    at_once = [path for path in missing if not is_fetched_late(path)]
    num_bytes = sum(found[path].size for path in at_once)
    if num_bytes > limit_bytes():
        raise RolloutError(
            f"{url_of(paths[0].parent)}: {num_bytes / 1e9:,.1f} GB would have to be fetched at "
            f"once, and files of stores may take {limit_bytes() / 1e9:,.1f} GB here: point at a "
            f"part of it, or set {LIMIT}"
        )
    for path in missing:
        if is_fetched_late(path):
            forget(path)
            lay_word(path)
    fetch_all(at_once, on_progress)
