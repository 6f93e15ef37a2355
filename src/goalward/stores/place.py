"""Where files of stores lie on this machine, and by which names.

<GOALWARD_STORES>/objects/s3/bucket/rollouts/meta/info.json       the file, or a word in its place
<GOALWARD_STORES>/marks/s3/bucket/rollouts/meta/info.json         which state of it was fetched
<GOALWARD_STORES>/parts/...                                       fetched so far
<GOALWARD_STORES>/heads/...                                       what was read of a video's index
"""

import hashlib
import os
from pathlib import Path

from goalward.errors import GoalwardError

FOLDER = "GOALWARD_STORES"
LIMIT = "GOALWARD_STORES_GB"
_USUAL_LIMIT_GB = 50.0
_OBJECTS = "objects"
# The folder in place of a bucket, where names begin at a root: local:///data is local/_root/data.
_ROOT = "_root"
_LONGEST_NAME = 200


class StoredPath(type(Path())):
    """A file or folder of a store, by the path that it has on this machine.

    It travels to other processes as what it is in the store: another machine has another folder
    for such files, and fetches its own.
    """

    __slots__ = ()

    @classmethod
    def of(cls, url: str) -> "StoredPath":
        """
        >>> url_of(StoredPath.of("s3://bucket/rollouts") / "meta" / "info.json")
        's3://bucket/rollouts/meta/info.json'
        """
        protocol, rest = url.split("://", 1)
        names = rest.strip("/").split("/")
        if not all(is_name(name) for name in names):
            raise GoalwardError(f"{url}: is not an address of a file or folder")
        root = (_ROOT,) if rest.startswith("/") else ()
        return cls(stores_folder() / _OBJECTS / protocol, *root, *names)

    def __reduce__(self):
        from goalward.stores.objects import noted_object

        return _arrived, (url_of(self), noted_object(self))


def _arrived(url: str, listed: tuple[int, str] | None) -> StoredPath:
    from goalward.stores.objects import note_object

    path = StoredPath.of(url)
    if listed is not None:
        note_object(path, listed)
    return path


def stores_folder() -> Path:
    """The folder for files of stores: `GOALWARD_STORES`, else the platform's place for caches."""
    named = os.environ.get(FOLDER)
    if named:
        return Path(named).expanduser().absolute()
    import platformdirs

    return Path(platformdirs.user_cache_dir("goalward", appauthor=False)) / "stores"


def limit_bytes() -> int:
    """How much of this machine's disk files of stores may take: `GOALWARD_STORES_GB`, else 50."""
    told = os.environ.get(LIMIT)
    try:
        limit = float(told) if told else _USUAL_LIMIT_GB
    except ValueError:
        limit = -1.0
    if not 0 < limit < 1e9:
        raise GoalwardError(f"{LIMIT}={told}: write a number of gigabytes, as in {LIMIT}=200")
    return int(limit * 1e9)


def names_of(path: Path) -> tuple[str, ...]:
    """Protocol, bucket and so on."""
    return path.relative_to(stores_folder() / _OBJECTS).parts


def url_of(path: Path) -> str:
    return _url("/".join(names_of(path)))


def _url(text: str) -> str:
    protocol, _, rest = text.partition("/")
    return f"{protocol}://{rest.removeprefix(_ROOT)}"


def beside(path: Path, kind: str, suffix: str = "") -> Path:
    """The file that keeps something about a file of a store."""
    *folders, name = names_of(path)
    return Path(stores_folder() / kind, *folders, f"{name}{suffix}")


def told_by_url(text: str) -> str:
    """A sentence that names files by where they lie in the store, which its reader knows."""
    root = f"{stores_folder() / _OBJECTS}{os.sep}"
    before, *parts = text.split(root)
    for part in parts:
        before += _url(part)
    return before


def place_of(path: Path) -> str:
    """What people call a path: of a file in a store, its address."""
    return url_of(path) if isinstance(path, StoredPath) else str(path)


def is_name(name: str) -> bool:
    """Whether an object may be a file of this name; stores allow what no disk does."""
    is_plain = name not in ("", ".", "..") and not set(name) & {"\0", "\\", "\n"}
    return is_plain and len(name.encode(errors="replace")) <= _LONGEST_NAME


def short_digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
