"""Files that carry a checksum of their own bytes, which is looked at before anything else is.

Somewhere in such a file, wherever its format has room for a text, stand `goalward-sha256:` and 64
digits: the SHA-256 of the whole file with zeros in their place. So a file is checked by itself,
wherever it was moved to, in one pass over its bytes, and before a parser sees what was damaged.
Formats without such room (csv, toml) have theirs in `steps.json`.
"""

import errno
import hashlib
import json
import mmap
import re
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from goalward.errors import GoalwardError
from goalward.files import check_regular, write_text, written_whole

CHECKSUM_KEY = "checksum"
_MARK = b"goalward-sha256:"
_BLANK = b"0" * 64
# Of a mark that was hit itself one half is left; files without a checksum have neither.
_HALF_A_MARK = re.compile(rb"goalward.{8}[0-9a-f]{16}|-sha256:", re.DOTALL)
# What a writer puts into its file, once; the digits come when the file is whole.
CHECKSUM_PLACE = (_MARK + _BLANK).decode()


class DamagedFile(GoalwardError):
    """A file of ours that is not as it was written."""

    def __init__(self, path: Path, reason: str = "its checksum does not fit") -> None:
        super().__init__(f"{path}: was changed or damaged since it was written ({reason})")
        self.path = path
        self.reason = reason


@contextmanager
def damage_explained(remedy: str) -> Generator[None]:
    """Inside, an error about a damaged file also says what to do."""
    try:
        yield
    except DamagedFile as error:
        raise GoalwardError(f"{error}; {remedy}") from error


@contextmanager
def written_with_checksum(path: Path) -> Generator[Path]:
    """As `written_whole`; what is written has `CHECKSUM_PLACE` in it, which is filled in."""
    with written_whole(path) as temporary:
        yield temporary
        with temporary.open("r+b") as file:
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
                start = _digits_of(content)
                assert start is not None, "the writer left no place for a checksum"
                checksum = _checksum(content, start)
            file.seek(start)
            file.write(checksum)


def check(path: Path, *, always_carried: bool = False) -> bool:
    """An error if a file is not as it was written; false if it carries no checksum.

    Versions before 0.2.0 wrote none. `always_carried`: of files that they did not write, one
    without a checksum has lost it.
    """
    if path.exists() and not path.is_file():
        raise DamagedFile(path, "it is no regular file")
    check_regular(path)
    try:
        with path.open("rb") as file:
            if file.seek(0, 2) == 0:
                raise DamagedFile(path, "it is empty")
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
                start = _digits_of(content)
                if start is None:
                    if _HALF_A_MARK.search(content):
                        raise DamagedFile(path, "its checksum itself is damaged")
                    if always_carried:
                        raise DamagedFile(path, "it carries no checksum")
                    return False
                if content[start : start + len(_BLANK)] != _checksum(content, start):
                    raise DamagedFile(path)
    except OSError as error:
        raise GoalwardError(f"{path}: cannot be read ({error.strerror or error})") from error
    return True


def carried_checksum(path: Path) -> str | None:
    """The checksum that a file carries, whether it fits or not."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        start = _digits_of(content)
        return None if start is None else content[start : start + len(_BLANK)].decode("latin-1")


def _digits_of(content: mmap.mmap) -> int | None:
    """Where the digits begin."""
    mark = content.rfind(_MARK)
    start = mark + len(_MARK)
    return None if mark < 0 or start + len(_BLANK) > len(content) else start


def _checksum(content: mmap.mmap, start: int) -> bytes:
    with memoryview(content) as view:
        digest = hashlib.sha256(view[:start])
        digest.update(_BLANK)
        digest.update(view[start + len(_BLANK) :])
    return digest.hexdigest().encode()


def file_digest(path: Path) -> str | None:
    """What is in a file, for notes beside it; None if it cannot be read."""
    try:
        return sha256_of(path)[:32]
    except OSError:
        return None


def sha256_of(path: Path) -> str:
    """As `sha256sum` says it; of a pipe nobody waits for it."""
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "is no regular file", str(path))
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def noted_checksums(path: Path) -> dict[str, str]:
    """What a list for `sha256sum --check` says of each file by its name; empty if there is none."""
    if not path.exists():
        return {}
    check_regular(path)
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise GoalwardError(f"{path}: cannot be read ({error})") from error
    pairs = [line.split("  ", 1) for line in lines if "  " in line]
    return {name: checksum for checksum, name in pairs}


def write_checksums(path: Path, files: Iterable[Path]) -> None:
    """Such a list of files beside it, or elsewhere by their way from there."""
    names = {file.relative_to(path.parent).as_posix(): file for file in files}
    lines = [f"{sha256_of(names[name])}  {name}\n" for name in sorted(names)]
    write_text(path, "".join(lines))


def write_json_with_checksum(path: Path, content: Mapping[str, Any]) -> None:
    """A table of names and values as JSON that carries its checksum."""
    with written_with_checksum(path) as temporary:
        text = json.dumps({CHECKSUM_KEY: CHECKSUM_PLACE, **content}, indent=1)
        temporary.write_text(text + "\n", encoding="utf-8")


def read_json_with_checksum(path: Path, *, always_carried: bool = False) -> dict[str, Any]:
    """What `write_json_with_checksum` wrote, or a version that wrote no checksums.

    `always_carried`: no version did without.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "notes.json"
    >>> write_json_with_checksum(path, {"seeds": 5})
    >>> read_json_with_checksum(path)
    {'seeds': 5}
    >>> _ = path.write_text(path.read_text().replace("5", "6"))
    >>> read_json_with_checksum(path)
    Traceback (most recent call last):
    ...
    goalward.checksums.DamagedFile: ...notes.json: was changed or damaged since it was written (...)
    """
    check(path, always_carried=always_carried)
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise DamagedFile(path, f"it is no JSON: {error}") from error
    if not isinstance(content, dict):
        raise DamagedFile(path, "it holds no table of names and values")
    return {name: value for name, value in content.items() if name != CHECKSUM_KEY}
