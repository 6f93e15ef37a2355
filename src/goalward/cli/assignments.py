"""Options of the form `--set name=value`."""

import json
from collections.abc import Sequence
from typing import Any

from goalward.errors import GoalwardError


def assignments(texts: Sequence[str]) -> dict[str, Any]:
    """Names and values; a value is JSON if it can be read as such, else a text.

    >>> assignments(["width=64", "time_out=open"])
    {'width': 64, 'time_out': 'open'}
    """
    found: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise GoalwardError(f"--set wants name=value, got {text!r}")
        try:
            found[name] = json.loads(value)
        except ValueError:
            found[name] = value
    return found
