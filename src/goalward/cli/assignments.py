"""Options of the form `--set name=value`, several separated by commas."""

import json
import re
from collections.abc import Sequence
from typing import Any

from goalward.errors import GoalwardError

# A comma begins the next assignment only where a name and = follow; else it belongs to a list.
_BETWEEN = re.compile(r",\s*(?=[A-Za-z][\w.-]*\s*=)")


def assignments(texts: Sequence[str]) -> dict[str, Any]:
    """Names and values: none, JSON, a list of it, or else a text.

    >>> assignments(["width=64,time_out=open", "lambda-returns.lags=5,20,capacity=none"])
    {'width': 64, 'time_out': 'open', 'lambda-returns.lags': [5, 20], 'capacity': None}
    """
    found: dict[str, Any] = {}
    for text in (part for given in texts for part in _BETWEEN.split(given)):
        name, equals, value = text.partition("=")
        if not equals:
            raise GoalwardError(f"--set wants name=value, got {text!r}")
        found[name.strip()] = _value(value.strip())
    return found


def _value(text: str) -> Any:
    if text.lower() == "none":
        return None
    for form in (text, f"[{text}]") if "," in text else (text,):
        try:
            return json.loads(form)
        except ValueError:
            continue
    return text
