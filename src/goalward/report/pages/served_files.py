"""Which file below a folder a request names, and what kind of file it is."""

import re
from pathlib import Path
from urllib.parse import unquote_to_bytes

from goalward.report.pages.assets import INDEX

# Not those of the operating system, which differ from machine to machine.
MEDIA_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".csv": "text/csv; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".jpeg": "image/jpeg",
    ".jpg": "image/jpeg",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".mp4": "video/mp4",
    ".pdf": "application/pdf",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
}
_UNKNOWN_TYPE = "application/octet-stream"


def media_type(file: Path) -> str:
    """What a browser is told that a file is."""
    return MEDIA_TYPES.get(file.suffix.lower(), _UNKNOWN_TYPE)


def file_below(folder: Path, target: str) -> Path | None:
    """The file that a request's target names; None where there is none or it may not be read.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp()).resolve()
    >>> (folder / "index.html").touch()
    >>> file_below(folder, "/?from=mail").name
    'index.html'
    >>> file_below(folder, "/%2e%2e/index.html") is None
    True
    """
    path = re.split(r"[?#]", target, maxsplit=1)[0]
    try:
        names = unquote_to_bytes(path).decode("utf-8").split("/")
    except UnicodeDecodeError:
        return None
    if names.pop(0) or not names:
        return None  # another machine's address, or `*`
    if names[-1] == "":
        names[-1] = INDEX
    if not all(map(_is_visible, names)):
        return None
    try:
        found = folder.joinpath(*names).resolve(strict=True)
        inside = found.relative_to(folder)
        # A link may lead to a hidden file.
        is_open = all(map(_is_visible, inside.parts)) and found.is_file()
    except (OSError, ValueError, RuntimeError):  # RuntimeError: links in a circle
        return None
    return found if is_open else None


def _is_visible(name: str) -> bool:
    # Elsewhere a backslash divides folders, and a colon names a drive.
    return name != "" and name[0] != "." and name.isprintable() and not set(name) & set("\\:")
