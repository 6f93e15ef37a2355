"""Git LFS: a clone has small pointers in place of large files until those are fetched."""

from pathlib import Path

_START = b"version https://git-lfs.github.com/spec/v1"
NOT_FETCHED = "is a pointer of Git LFS: the file itself was not fetched, `git lfs pull` does that"


def is_pointer(content: bytes) -> bool:
    """Whether a file that begins like this is a pointer.

    >>> is_pointer(b"version https://git-lfs.github.com/spec/v1\\noid sha256:4d7a...")
    True
    """
    return content.startswith(_START)


def is_pointer_file(path: Path) -> bool:
    """Whether this is a file and a pointer."""
    try:
        if not path.is_file():  # opening a pipe would wait for ever
            return False
        with path.open("rb") as file:
            return is_pointer(file.read(len(_START)))
    except OSError:
        return False


def explained(path: Path, problem: str) -> str:
    """What is wrong with a file that could not be read: the problem, unless it is a pointer."""
    return f"{path}: {NOT_FETCHED if is_pointer_file(path) else problem}"
