"""Path templates of info.json, and where the files really are."""

import re
import string
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from goalward.errors import RolloutError

# What the library itself writes. Real data sets name other folders in info.json than they have
# on disk, so these are tried when the data set's own template leads nowhere.
DATA_TEMPLATES = (
    "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet",
    "data/chunk-{episode_chunk:03d}/episode_{episode_index:06d}.parquet",
)
VIDEO_TEMPLATES = (
    "videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4",
    "videos/chunk-{episode_chunk:03d}/{video_key}/episode_{episode_index:06d}.mp4",
    "videos/{video_key}/chunk-{episode_chunk:03d}/episode_{episode_index:06d}.mp4",
)
_FIELDS = frozenset({"chunk_index", "file_index", "episode_chunk", "episode_index", "video_key"})


def checked_template(declared: object, path: Path) -> str | None:
    """A path template that can only lead into the data set, or an error."""
    if declared is None:
        return None
    if not isinstance(declared, str):
        raise RolloutError(f"{path}: path template {declared!r} is not text")
    try:
        parts = list(string.Formatter().parse(declared))
    except ValueError as error:
        raise RolloutError(f"{path}: path template {declared!r} is broken ({error})") from error
    for _, name, format_spec, conversion in parts:
        if name is not None and (
            name not in _FIELDS or conversion or not re.fullmatch(r"(0?\d?d)?", format_spec or "")
        ):
            raise RolloutError(f"{path}: path template {declared!r} has an unknown field")
    return declared


def is_inside(relative: str) -> bool:
    """Whether a path stays below the folder it is relative to, going by its text.

    Links on disk are followed: a download cache keeps its files behind them.
    """
    path = PurePosixPath(relative.replace("\\", "/"))
    return not path.is_absolute() and ".." not in path.parts and "\0" not in relative


def locate(
    root: Path,
    declared: str | None,
    usual: Sequence[str],
    numbers: Mapping[str, int],
    video_key: str | None = None,
) -> tuple[Path, bool]:
    """The file a template leads to, and whether it is where info.json says.

    If it is not there, the library's usual places are tried, with the camera's full name and
    with its last part; if nothing is there either, the declared place is returned.
    """
    keys = [None] if video_key is None else [video_key, video_key.rsplit(".", 1)[-1]]
    first: Path | None = None
    for template in (declared, *usual):
        for key in keys:
            filled = None if template is None else _fill(template, numbers, key)
            if filled is None:
                continue
            candidate = root / filled
            if candidate.is_file():
                return candidate, template == declared and key == keys[0]
            first = first or candidate
    return first or root, True


def _fill(template: str, numbers: Mapping[str, int], video_key: str | None) -> str | None:
    values: dict[str, Any] = dict(numbers)
    if video_key is not None:
        values["video_key"] = video_key
    try:
        filled = template.format(**values)
    except (KeyError, ValueError, IndexError):
        return None
    return filled if is_inside(filled) else None
