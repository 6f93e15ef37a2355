"""Why not to believe a frame: dark or frozen cameras, cameras that changed places, a bad clock.

None of these is an error: a monitor that stops is worse than one that says what it doubts.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from goalward.monitor.folder import MonitorSettings
from goalward.rollouts.frames import Image

FloatArray = npt.NDArray[np.float32]
HalfVector = npt.NDArray[np.float16]
# A picture whose every colour is below this is black, whatever the noise of its sensor.
_BLACK = 16
# So many equal pictures one after the other: sensors have noise, simulators stand still.
_FROZEN_SECONDS = 1.0
_FROZEN_FRAMES = 10
# Frames may come so much earlier or later than the ones learned from, as a share of the time
# between two.
_LATE = 0.5


class Watchfulness:
    """What was noticed of one episode so far."""

    def __init__(self, settings: MonitorSettings, camera_means: FloatArray | None) -> None:
        self._settings = settings
        self._means = camera_means
        self._before: list[Image] = []
        self._num_equal = [0] * len(settings.cameras)
        self._time: float | None = None
        fps = settings.fps
        self._frozen_after = _FROZEN_FRAMES if fps is None else max(int(fps * _FROZEN_SECONDS), 2)

    def doubts(
        self, pictures: Sequence[Image], vectors: Sequence[HalfVector], time: float | None
    ) -> tuple[str, ...]:
        found = [*self._of_pictures(pictures), *self._of_order(vectors), *self._of_clock(time)]
        self._before = [picture.copy() for picture in pictures]
        return tuple(found)

    def _of_pictures(self, pictures: Sequence[Image]) -> list[str]:
        found: list[str] = []
        for index, (picture, camera) in enumerate(
            zip(pictures, self._settings.cameras, strict=True)
        ):
            if picture.max() < _BLACK:
                found.append(f"camera {camera.name} is black")
            is_equal = bool(self._before) and np.array_equal(picture, self._before[index])
            self._num_equal[index] = self._num_equal[index] + 1 if is_equal else 0
            if self._num_equal[index] >= self._frozen_after:
                found.append(
                    f"camera {camera.name} is frozen: the same picture "
                    f"{self._num_equal[index] + 1} times"
                )
        return found

    def _of_order(self, vectors: Sequence[HalfVector]) -> list[str]:
        """Cameras whose pictures look like those of another."""
        if self._means is None or not vectors:
            return []
        here = np.stack(vectors).astype(np.float32)
        far = np.linalg.norm(here[:, None] - self._means[None], axis=-1)
        nearest = far.argmin(axis=1)
        names = [camera.name for camera in self._settings.cameras]
        # One that looks like another may be chance; two that look like each other are swapped.
        return [
            f"the pictures of {names[a]} and {names[b]} look like each other's: are the cameras "
            f"in the order {', '.join(names)}?"
            for a in range(len(names))
            for b in range(a + 1, len(names))
            if nearest[a] == b and nearest[b] == a
        ]

    def _of_clock(self, time: float | None) -> list[str]:
        before, self._time = self._time, time
        fps = self._settings.fps
        if time is None or before is None:
            return []
        passed = time - before
        if passed <= 0:
            return [f"the clock went back or stood still: {passed:+.3f} s since the frame before"]
        if fps is None or abs(passed * fps - 1) <= _LATE:
            return []
        return [
            f"{passed:.3f} s since the frame before; values were learned at {1 / fps:.3f} s, and "
            "lags and the band count frames"
        ]
