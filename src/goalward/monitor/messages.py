"""One frame as a line of JSON, on standard input or over ZeroMQ.

    {"images": {"front": "<base64 of a JPEG or PNG>"}, "state": [0.1, ...], "time": 12.5}

`images` as LeRobot's image server sends them (its `timestamps` are read as well). `features`
instead of both for a run that was given features. `"reset": true` begins an episode with this
frame; alone in a message, with the next.
"""

import base64
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from goalward.errors import GoalwardError, RolloutError
from goalward.rollouts.frames import Image, decode_image

_KNOWN = ("images", "state", "action", "features", "time", "timestamps", "reset")


@dataclass(frozen=True, eq=False)
class Message:
    """A frame as it came; `is_frame` is false where a message does nothing but begin an episode.

    `where` says which message it was, for errors about it.
    """

    frames: Mapping[str, Image] | list[Image] | None = None
    state: Any = None
    features: Any = None
    time: float | None = None
    reset: bool = False
    where: str = ""

    @property
    def is_frame(self) -> bool:
        return any(part is not None for part in (self.frames, self.state, self.features))


def read_message(text: str | bytes, where: str) -> Message:
    """A message, or an error that names it.

    >>> read_message('{"state": [0.5], "time": 2.0}', "line 1").time
    2.0
    >>> read_message("[1, 2]", "line 7")
    Traceback (most recent call last):
    ...
    goalward.errors.GoalwardError: line 7: is no table of names and values in JSON
    """
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise GoalwardError(f"{where}: is no JSON ({error})") from error
    if not isinstance(content, dict):
        raise GoalwardError(f"{where}: is no table of names and values in JSON")
    unknown = [name for name in content if name not in _KNOWN]
    if unknown:
        raise GoalwardError(
            f"{where}: nothing is known of {unknown[0]!r}, but of {', '.join(_KNOWN)}"
        )
    images = content.get("images")
    if images is not None and not isinstance(images, dict):
        raise GoalwardError(f"{where}: images must be a table, camera: picture")
    return Message(
        frames=None if images is None else {n: _picture(t, n, where) for n, t in images.items()},
        state=content.get("state"),
        features=content.get("features"),
        time=_time(content, where),
        reset=bool(content.get("reset", False)),
        where=where,
    )


def _picture(text: Any, name: str, where: str) -> Image:
    try:
        encoded = base64.b64decode(text, validate=True)
    except (TypeError, ValueError) as error:
        raise GoalwardError(f"{where}: camera {name}: is no base64 ({error})") from error
    try:
        return decode_image(encoded, f"{where}: camera {name}")
    except RolloutError as error:
        raise GoalwardError(str(error)) from error


def _time(content: Mapping[str, Any], where: str) -> float | None:
    stamps = content.get("timestamps")
    given = content.get("time")
    # A frame is as old as the newest of its pictures.
    of_pictures = list(stamps.values()) if isinstance(stamps, dict) else []
    told = [given] if given is not None else [one for one in of_pictures if one is not None]
    for one in told:
        if isinstance(one, bool) or not isinstance(one, int | float) or not math.isfinite(one):
            raise GoalwardError(f"{where}: time must be a number of seconds, got {one!r}")
    return float(max(told)) if told else None
