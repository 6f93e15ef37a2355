"""What meta/info.json of a LeRobot data set says about all of it."""

# pyright: standard
# (json gives untyped values; they are checked here at run time)

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from goalward.errors import RolloutError
from goalward.git_lfs import explained
from goalward.rollouts.readers.lerobot.paths import checked_template


@dataclass(frozen=True)
class Info:
    """What meta/info.json says, checked."""

    path: Path
    version: str
    fps: float
    features: Mapping[str, Mapping[str, Any]]
    total_episodes: int | None
    chunks_size: int
    data_path: str | None
    video_path: str | None

    @property
    def packs_episodes(self) -> bool:
        """Many episodes per file (3.0), or one (2.x)."""
        return int(self.version.split(".")[0]) >= 3

    @property
    def root(self) -> Path:
        return self.path.parent.parent

    def keys(self, *dtypes: str) -> list[str]:
        return [key for key, feature in self.features.items() if feature.get("dtype") in dtypes]

    def shape(self, key: str) -> tuple[int, ...]:
        """The declared shape, () if there is no usable one."""
        shape = self.features.get(key, {}).get("shape")
        if not isinstance(shape, list) or not all(type(n) is int and 0 < n < 1e6 for n in shape):
            return ()
        return tuple(shape)

    def names(self, key: str) -> list[str] | None:
        """What its numbers are called: a list, or one below a name of its own (`motors`)."""
        names: Any = self.features.get(key, {}).get("names")
        if isinstance(names, dict) and len(names) == 1:
            (names,) = names.values()
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            return None
        return [str(name) for name in names]

    def size(self, key: str) -> int:
        """Numbers per frame, 0 if the feature is absent."""
        return math.prod(self.shape(key)) if self.shape(key) else 0


def read_info(root: Path) -> Info:
    path = root / "meta" / "info.json"
    content = read_json(path)
    if not isinstance(content, dict):
        raise RolloutError(f"{path}: wanted an object")
    fps = content.get("fps")
    if isinstance(fps, bool) or not isinstance(fps, int | float) or not 0 < fps < 1e5:
        raise RolloutError(f"{path}: fps is {fps!r}, wanted a number above 0")
    features = content.get("features")
    if not isinstance(features, dict) or not all(isinstance(f, dict) for f in features.values()):
        raise RolloutError(f"{path}: features is missing or not an object of objects")
    total = content.get("total_episodes")
    chunks_size = content.get("chunks_size", 1000)
    return Info(
        path=path,
        version=_version(content.get("codebase_version"), root, path),
        fps=float(fps),
        features=features,
        total_episodes=total if isinstance(total, int) else None,
        chunks_size=chunks_size if isinstance(chunks_size, int) and chunks_size > 0 else 1000,
        data_path=checked_template(content.get("data_path"), path),
        video_path=checked_template(content.get("video_path"), path),
    )


def _version(declared: object, root: Path, path: Path) -> str:
    if declared is None:
        return "3.0" if (root / "meta" / "episodes").is_dir() else "2.1"
    match = re.fullmatch(r"v?(\d{1,3}(\.\d{1,3}){0,2})", str(declared))
    if match is None or int(match[1].split(".")[0]) not in (2, 3):
        raise RolloutError(f"{path}: codebase_version {declared!r} is not 2.x or 3.x")
    return match[1]


def read_json(path: Path) -> Any:
    if not path.is_file():  # opening a pipe would wait for ever
        problem = "is no regular file" if path.exists() else "is missing"
        raise RolloutError(f"{path}: {problem}; nothing else says what the data set holds")
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise RolloutError(explained(path, f"not readable as json ({error})")) from error
