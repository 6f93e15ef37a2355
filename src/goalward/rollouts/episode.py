"""One recorded attempt at a task, and how it ended."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from goalward.errors import RolloutError
from goalward.rollouts.frames import FrameSource, Image, matching_name
from goalward.rollouts.signals import Signal

FloatArray = npt.NDArray[np.float32]

# So many stay in the processor's cache while they are looked at.
_NUMBERS_AT_A_TIME = 1 << 17


class Outcome(StrEnum):
    """How an episode ended.

    A time-out is not a failure: the clock ran out and what would have followed is unknown.
    A failure ended early, in a state from which the goal can no longer follow.

    >>> Outcome("won")
    Traceback (most recent call last):
    ...
    ValueError: no outcome 'won'; outcomes: success, time_out, failure
    """

    SUCCESS = "success"
    TIME_OUT = "time_out"
    FAILURE = "failure"

    @classmethod
    def _missing_(cls, value: object) -> "Outcome":
        raise ValueError(f"no outcome {value!r}; outcomes: {', '.join(cls)}")


def _no_proprioception() -> FloatArray:
    return np.zeros((0, 0), dtype=np.float32)


@dataclass(frozen=True, slots=True, eq=False)
class Episode:
    """One attempt: what the cameras and the robot saw, and how it ended.

    `outcome` may be given by its name, `"success"`. `goal_frame` is the first frame where the task
    is complete; an episode that goes on after its goal keeps the earlier frame. `proprioception`
    has a row per frame and no columns if nothing was recorded. Frames are decoded when asked for,
    never before. With `every` above 1 features are known of one frame in so many alone, and lie
    between those of the others elsewhere (`thinning.py`). `signals` are states and actions by name,
    for people to look at.

    >>> episode = Episode("12", num_frames=3, outcome=Outcome.SUCCESS, goal_frame=2)
    >>> episode.proprioception.shape
    (3, 0)
    >>> Episode("13", num_frames=3, outcome=Outcome.TIME_OUT, goal_frame=2)
    Traceback (most recent call last):
    ...
    goalward.errors.RolloutError: episode 13: a time_out episode has no goal frame, got 2
    """

    id: str
    num_frames: int
    outcome: Outcome
    goal_frame: int | None = None
    task: str = ""
    fps: float | None = None
    cameras: Mapping[str, FrameSource] = field(default_factory=lambda: MappingProxyType({}))
    proprioception: FloatArray = field(default_factory=_no_proprioception)
    action_size: int = 0
    every: int = 1
    signals: tuple[Signal, ...] = ()

    def __post_init__(self) -> None:
        if self.num_frames < 1:
            raise RolloutError(f"episode {self.id}: has no frames")
        try:
            object.__setattr__(self, "outcome", Outcome(self.outcome))
        except ValueError as error:
            raise RolloutError(f"episode {self.id}: {error}") from error
        if self.outcome is Outcome.SUCCESS:
            if self.goal_frame is None or not 0 <= self.goal_frame < self.num_frames:
                raise RolloutError(
                    f"episode {self.id}: a success needs a goal frame between 0 and "
                    f"{self.num_frames - 1}, got {self.goal_frame}"
                )
        elif self.goal_frame is not None:
            raise RolloutError(
                f"episode {self.id}: a {self.outcome} episode has no goal frame, "
                f"got {self.goal_frame}"
            )
        if self.fps is not None and not (np.isfinite(self.fps) and self.fps > 0):
            raise RolloutError(f"episode {self.id}: fps must be above 0, got {self.fps}")
        if self.every < 1:
            raise RolloutError(f"episode {self.id}: every must be at least 1, got {self.every}")
        self._check_proprioception()
        # They are for looking at: what does not fit is not worth an episode.
        fitting = tuple(one for one in self.signals if one.values.shape == (self.num_frames,))
        object.__setattr__(self, "signals", fitting)
        for name, source in self.cameras.items():
            if source.num_frames != self.num_frames:
                raise RolloutError(
                    f"episode {self.id}: has {self.num_frames} frames, "
                    f"its camera {name} {source.num_frames}"
                )
        object.__setattr__(self, "cameras", MappingProxyType(dict(self.cameras)))

    def _check_proprioception(self) -> None:
        values = self.proprioception
        if values.size == 0:
            values = np.zeros((self.num_frames, 0), dtype=np.float32)
            object.__setattr__(self, "proprioception", values)
        if values.ndim != 2 or len(values) != self.num_frames:
            raise RolloutError(
                f"episode {self.id}: proprioception has shape {values.shape}, "
                f"wanted ({self.num_frames}, size)"
            )
        frame = first_bad_row(values)
        if frame is not None:
            raise RolloutError(
                f"episode {self.id}: proprioception holds NaN or infinity at frame {frame}"
            )

    def camera(self, name: str) -> FrameSource:
        """The frames of one camera, by its full name or the last part of it.

        `front` finds `observation.images.front`; an unknown name lists the ones there are.
        """
        return self.cameras[matching_name(name, list(self.cameras), f"episode {self.id}")]

    def frames(self, camera: str) -> Iterator[Image]:
        """Every frame of one camera in order, decoded one at a time: (height, width, 3) uint8."""
        return iter(self.camera(camera))

    def frame(self, camera: str, frame_index: int) -> Image:
        """One frame of one camera."""
        return next(iter(self.camera(camera).at([frame_index])))

    def frames_at(self, camera: str, frame_indices: Sequence[int]) -> Iterator[Image]:
        """Some frames of one camera, in the order asked for."""
        return self.camera(camera).at(frame_indices)


def first_bad_row(values: npt.NDArray[np.floating]) -> int | None:
    """The first row that holds NaN or infinity, None if all numbers are finite.

    >>> first_bad_row(np.array([[0.0, 1.0], [2.0, np.nan]]))
    1
    """
    # By parts: the array may be a memory map larger than memory.
    at_once = max(_NUMBERS_AT_A_TIME // max(values[:1].size, 1), 1)
    for start in range(0, len(values), at_once):
        finite = _is_finite(values[start : start + at_once])
        if not finite.all():
            return start + int(np.flatnonzero(~finite.all(axis=1))[0])
    return None


def _is_finite(values: npt.NDArray[np.floating]) -> npt.NDArray[np.bool_]:
    if values.dtype != np.float16:
        return np.isfinite(values)
    # numpy turns float16 into float32 first; looking at the exponent is ten times as fast.
    exponent = np.uint16(0x7C00)
    return (values.view(np.uint16) & exponent) != exponent
