"""A sample of the frames that value functions learned from, small enough to go wherever they go.

By it new frames are held against what was learned when the recording itself is out of reach: in
another folder, on a hub, beside a robot. numpy alone.
"""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt

from goalward.checksums import DamagedFile
from goalward.files import written_whole

Float32Array = npt.NDArray[np.float32]
FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.int64]
_ROWS_AT_A_TIME = 1024
_ARRAYS = ("mean", "directions", "rows", "episode_of", "low", "high", "num_episodes")


@dataclass(frozen=True, eq=False)
class LearnedFrames:
    """Frames as points along the directions in which learned ones differ most.

    `mean` (size,) and `directions` (size, kept) make a point of features, in units of the deviation
    of learned frames. `rows` (frames, kept) are points of the sample, `episode_of` says of which of
    `num_episodes` episodes. `low` and `high` (size,) are the least and the largest of each feature
    over all learned frames.
    """

    mean: Float32Array
    directions: Float32Array
    rows: Float32Array
    episode_of: IndexArray
    low: Float32Array
    high: Float32Array
    num_episodes: int

    @property
    def num_features(self) -> int:
        return len(self.mean)

    def points(self, features: npt.NDArray[np.floating]) -> Float32Array:
        starts = range(0, len(features), _ROWS_AT_A_TIME)
        some = (features[start : start + _ROWS_AT_A_TIME].astype(np.float32) for start in starts)
        parts = [(rows - self.mean) @ self.directions for rows in some]
        return np.concatenate(parts, dtype=np.float32)

    def distances(self, features: npt.NDArray[np.floating]) -> FloatArray:
        """Of each frame to the nearest of the sample."""
        return self._nearest(self.points(features))

    @cached_property
    def own_distances(self) -> FloatArray:
        """Of each frame of the sample to the nearest of another episode; inf where there is one."""
        return self._nearest(self.rows, self.episode_of)

    def _nearest(self, points: Float32Array, of: IndexArray | None = None) -> FloatArray:
        base, asked = self._wide, points.astype(np.float64)
        found = np.empty(len(asked))
        for start in range(0, len(asked), _ROWS_AT_A_TIME):
            here = slice(start, start + _ROWS_AT_A_TIME)
            away = (asked[here] ** 2).sum(axis=1)[:, None] + self._squares
            away -= 2 * asked[here] @ base.T
            if of is not None:
                away[of[here, None] == self.episode_of] = np.inf
            found[here] = np.sqrt(np.maximum(away.min(axis=1), 0.0))
        return found

    @cached_property
    def _wide(self) -> FloatArray:
        return self.rows.astype(np.float64)

    @cached_property
    def _squares(self) -> FloatArray:
        return (self._wide**2).sum(axis=1)


def write_learned_frames(learned: LearnedFrames, path: Path) -> None:
    arrays: dict[str, Any] = {name: np.asarray(getattr(learned, name)) for name in _ARRAYS}
    with written_whole(path) as temporary, temporary.open("wb") as file:
        np.savez(file, **arrays)


def read_learned_frames(path: Path) -> LearnedFrames:
    """What was written; whether it was changed since, the checksums beside it say."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in _ARRAYS}
    except (OSError, ValueError, LookupError, EOFError, BadZipFile, NotImplementedError) as error:
        raise DamagedFile(path, f"it holds no frames that were learned from: {error}") from error
    return LearnedFrames(**{**arrays, "num_episodes": int(arrays["num_episodes"])})
