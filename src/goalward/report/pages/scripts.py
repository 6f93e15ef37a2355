"""The numbers of a report as scripts, which a page from disk may load, with a checksum each."""

import json
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from goalward.checksums import CHECKSUM_PLACE, DamagedFile, check, written_with_checksum

_log = logging.getLogger("goalward.report")


def write_script(path: Path, kind: str, content: Mapping[str, Any]) -> None:
    """A script as a file; its checksum is a comment at its end."""
    with written_with_checksum(path) as temporary:
        text = f"{script_text(kind, content)}// {CHECKSUM_PLACE}\n"
        temporary.write_text(text, encoding="utf-8", newline="")


def check_scripts(folder: Path) -> None:
    """An error if a number in a report may not be what was written."""
    for path in sorted((folder / "data").rglob("*.js")):
        check(path)


def is_whole(path: Path) -> bool:
    """Whether a script or a picture is there, as it was written."""
    try:
        return path.is_file() and check(path)
    except DamagedFile as error:
        _log.warning("%s: it is written again", error)
        return False


def script_text(kind: str, content: Mapping[str, Any]) -> str:
    """A script that hands JSON to the page, which a page from disk may not fetch.

    No name can end the script or begin markup: what could is written as an escape, and so is all
    that is not ASCII (U+2028 ends a line of JavaScript, but not a string of JSON).

    >>> script_text("run", {"id": "</script>é"})
    'goalward.receive("run",{"id":"\\\\u003c/script\\\\u003e\\\\u00e9"});\\n'
    """
    text = json.dumps(content, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return f'goalward.receive("{kind}",{text});\n'
