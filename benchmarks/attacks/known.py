"""What commands do when nobody disturbs them, kept on disk: a campaign is run in many turns."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Known(Generic[T]):
    """By name what was found once, a dataclass; `read` turns its fields into it again.

    It lies in the folder of a part, which belongs to the code that is attacked.
    """

    def __init__(self, path: Path, read: Callable[[dict[str, Any]], T]) -> None:
        self._path = path
        self._found: dict[str, T] = {}
        if path.exists():
            stored = json.loads(path.read_text())
            self._found = {name: read(content) for name, content in stored.items()}

    def of(self, name: str, make: Callable[[], T]) -> T:
        if name not in self._found:
            self._found[name] = make()
            temporary = self._path.with_suffix(".begun")
            temporary.write_text(json.dumps(self._found, default=vars))
            temporary.replace(self._path)
        return self._found[name]
