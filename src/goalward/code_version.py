"""Which code made something: a digest of the rooms that it depends on.

What takes seconds to make is made again when the code behind it was changed, by a new version or by
whoever works on it, and nobody has to remember to raise a number. Networks take hours: whether they
are still right is for people to say (`runs/making/made_from.py`).
"""

import hashlib
from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).parent


def code_digest(*rooms: str) -> str:
    """Differs when a source file of these rooms differs, or one that serves every room.

    >>> code_digest("metrics") == code_digest("metrics") != code_digest("values")
    True
    """
    from goalward import __version__

    return _digest_of(__version__, rooms)


def whole_code_digest() -> str:
    """Differs when any source file of the package does."""
    rooms = (path.name for path in _PACKAGE.iterdir() if (path / "__init__.py").is_file())
    return code_digest(*sorted(rooms))


@cache
def _digest_of(version: str, rooms: tuple[str, ...]) -> str:
    digest = hashlib.sha256(version.encode())
    # Where only compiled files are installed there are none, and the version has to do.
    own = sorted(_PACKAGE.glob("*.py"))
    for path in (*own, *(path for room in rooms for path in _sources(room))):
        digest.update(f"{path.relative_to(_PACKAGE).as_posix()}\n".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:32]


def _sources(room: str) -> list[Path]:
    folder = _PACKAGE / room
    assert folder.is_dir(), room
    return sorted(folder.rglob("*.py"))
