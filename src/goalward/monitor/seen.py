"""What networks see of the frame at hand: main directions, differences to earlier frames, the task.

The same as `goalward.training.frames.lens` for whole episodes, frame by frame.
"""

from collections import deque
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from goalward.monitor.folder import LensArrays, MonitorSettings

FloatArray = npt.NDArray[np.float32]


class Seen:
    """The memory of an episode: as many frames as the longest lag reaches back."""

    def __init__(self, lens: LensArrays, n_obs_steps: int, lags: Sequence[int], task: str) -> None:
        self._lens = lens
        self._lags = tuple(lags)
        self._code = _code(lens, task)
        self._observations: deque[npt.NDArray[np.floating]] = deque(maxlen=n_obs_steps)
        self._seen: deque[FloatArray] = deque(maxlen=max(self._lags, default=0) + 1)

    def reset(self) -> None:
        self._observations.clear()
        self._seen.clear()

    def inputs(self, observation: npt.NDArray[np.floating], numbers: FloatArray) -> FloatArray:
        """Of the next frame; before the episode began all was as in its first frame."""
        self._observations.append(observation)
        missing = (self._observations.maxlen or 1) - len(self._observations)
        stacked = [self._observations[0]] * missing + list(self._observations)
        seen = self._projected(np.concatenate(stacked), numbers)
        self._seen.append(seen)
        newest = len(self._seen) - 1
        parts = [seen, *(seen - self._seen[max(newest - lag, 0)] for lag in self._lags)]
        return np.concatenate([*parts, self._code], dtype=np.float32)

    def _projected(self, features: npt.NDArray[np.floating], numbers: FloatArray) -> FloatArray:
        seen = features.astype(np.float32)
        lens = self._lens
        if lens.mean is None or lens.components is None:
            return seen
        main = (seen - lens.mean) @ lens.components
        return np.concatenate([main, numbers], dtype=np.float32)


def _code(lens: LensArrays, task: str) -> FloatArray:
    if task in lens.task_names:
        return lens.task_codes[lens.task_names.index(task)]
    return np.zeros(lens.task_codes.shape[-1], dtype=np.float32)


def camera_means(centre: FloatArray, settings: MonitorSettings) -> FloatArray | None:
    """The mean vector of every camera, (cameras, size); None where there is one or none."""
    num = len(settings.cameras)
    if num < 2:
        return None
    newest = centre[-(len(centre) // settings.n_obs_steps) :]
    vectors = newest[: len(newest) - settings.num_state]
    return vectors.reshape(num, -1)
