"""What a store holds: names, sizes, and a mark that changes when an object does."""

# pyright: standard
# (fsspec ships no type stubs)

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from goalward.errors import GoalwardError
from goalward.stores.place import StoredPath, is_name, names_of, url_of
from goalward.stores.problems import explained

# What stores call the state of an object, best first: a digest of its bytes, a number of its
# version, at least the time of its last change.
_DIGESTS = ("sha256", "md5Hash", "content_md5", "ETag", "etag", "blob_id", "xet_hash", "generation")
_TIMES = ("LastModified", "last_modified", "updated", "mtime", "modified", "created")
MOST_OBJECTS = 2_000_000


class Listed(NamedTuple):
    """An object as the store lists it; `mark` is empty where the store tells nothing but a size."""

    size: int
    mark: str


# By protocol, bucket and so on: what this process was told of objects, and holds them to.
_noted: dict[tuple[str, ...], Listed] = {}


def note_object(path: Path, listed: tuple[int, str]) -> None:
    _noted[names_of(path)] = Listed(*listed)


def noted_object(path: Path) -> tuple[int, str] | None:
    found = _noted.get(names_of(path))
    return None if found is None else (found.size, found.mark)


def file_system(url: str) -> tuple[Any, str]:
    """What speaks to the store, and the name of something there.

    Options are those of fsspec: `FSSPEC_S3_ENDPOINT_URL` and files in ~/.config/fsspec.
    """
    from fsspec.core import url_to_fs

    # A list of names that is kept would hide what changes.
    return url_to_fs(url, use_listings_cache=False)


def list_objects(url: str) -> Mapping[str, Listed]:
    """Every object at or below an address, by its name below it; "" is the address itself.

    Names that no file can have are left out, and hidden ones, which are caches.
    """
    with explained(url):
        files, root = file_system(url)
        files.invalidate_cache()
        info = files.info(root)
        if info["type"] == "file":
            return {"": _listed(info)}
        found = files.find(root, detail=True)
    if len(found) > MOST_OBJECTS:
        raise GoalwardError(
            f"{url}: holds {len(found):,} objects, more than {MOST_OBJECTS:,}: point at one of its "
            "data sets"
        )
    objects: dict[str, Listed] = {}
    for name, info in found.items():
        below = name.removeprefix(root).removeprefix("/")
        parts = below.split("/")
        if info["type"] == "file" and all(is_name(p) and not p.startswith(".") for p in parts):
            objects[below] = _listed(info)
    return objects


def state_of(path: StoredPath, url: str) -> Listed:
    """How an object is now."""
    with explained(url):
        files, name = file_system(url)
        files.invalidate_cache()
        return _listed(files.info(name))


def wanted_state(path: StoredPath, url: str) -> Listed:
    """How an object was when this process, or the one that sent the path, first heard of it."""
    noted = _noted.get(names_of(path))
    if noted is None:
        noted = state_of(path, url)
        note_object(path, noted)
    return noted


def state_name(path: Path) -> str | None:
    """A text that is another one when the object changes; None where that cannot be told."""
    if not isinstance(path, StoredPath):
        return None
    url = url_of(path)
    size, mark = wanted_state(path, url)
    return f"{url} {size} {mark}" if mark else None


def _listed(info: Mapping[str, Any]) -> Listed:
    lfs = info.get("lfs")
    if isinstance(lfs, Mapping):
        info = {**info, "sha256": lfs.get("sha256")}
    marks = [f"{key} {info[key]}" for key in _DIGESTS if info.get(key)]
    marks += [f"{key} {_in_seconds(info[key])}" for key in _TIMES if info.get(key)]
    mark = marks[0] if marks else ""
    return Listed(int(info["size"] or 0), mark)


def _in_seconds(moment: object) -> str:
    """A time in one spelling: lists of objects may write it in another than single answers.

    >>> _in_seconds(datetime.fromisoformat("2026-01-02T03:04:05.25+00:00")), _in_seconds(1.25)
    ('1767323045.250', '1.250')
    """
    try:
        if isinstance(moment, str):
            moment = datetime.fromisoformat(moment)
        if isinstance(moment, datetime):
            moment = moment.timestamp()
        return f"{float(moment):.3f}"  # pyright: ignore[reportArgumentType]
    except (TypeError, ValueError):
        return str(moment)
