"""Addresses of stores (`s3://bucket/rollouts`), told from paths of this machine."""

import re
from pathlib import Path

from goalward.errors import GoalwardError

_URL = re.compile(r"([a-z][a-z0-9+.-]+):(/+)(.*)", re.DOTALL)
# Names there begin at a root, not with a bucket or a host.
_ROOTED = "local"
# What is on this machine anyway.
_HERE = "file"


def as_url(path: str | Path) -> str | None:
    """The address of something in a store, as stores write it; None: it is a path.

    pathlib makes one slash of two, so one is enough. A folder here of that name comes first.

    >>> as_url("s3://bucket/rollouts/"), as_url(Path("s3://bucket/rollouts"))
    ('s3://bucket/rollouts', 's3://bucket/rollouts')
    >>> as_url("memory://rollouts"), as_url("my_rollouts"), as_url("file:///data/rollouts")
    ('memory://rollouts', None, None)
    """
    found = _URL.fullmatch(str(path))
    if found is None or found[1] == _HERE or Path(path).exists():
        return None
    is_rooted = len(found[2]) > 2 or found[1] == _ROOTED
    return f"{found[1]}://{'/' if is_rooted else ''}{found[3].rstrip('/')}"


def protocol_of(url: str) -> str:
    return url.split("://", 1)[0]


def without_file_protocol(path: str | Path) -> Path:
    """What `file://` names is a path.

    >>> without_file_protocol("file:///data/rollouts").as_posix()
    '/data/rollouts'
    """
    found = _URL.fullmatch(str(path))
    if found is None or found[1] != _HERE or Path(path).exists():
        return Path(path)
    return Path("/" + found[3])


def check_here(path: str | Path) -> None:
    """Results are files of this machine; an error if they are to be written to a store."""
    url = as_url(path)
    if url is not None:
        raise GoalwardError(
            f"{url}: results are written to folders of this machine; give a folder here and copy "
            "it to the store afterwards (rollouts and the cache of embeddings may lie in a store)"
        )
