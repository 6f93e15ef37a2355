"""The frames of one camera in one episode on their way to vectors."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

from goalward.errors import GoalwardError
from goalward.rollouts.frames import FrameSource, Image

HalfVectors = npt.NDArray[np.float16]
ClipKey = TypeVar("ClipKey")

# Frames travel in groups: a queue entry per frame costs more than some encoders.
FRAMES_PER_GROUP = 16
# Where a camera shows the same picture for long, a group says so after so many frames.
_MOST_FRAMES = 256


@dataclass
class Clip(Generic[ClipKey]):
    """What is known so far of the frames and their vectors."""

    key: ClipKey
    frames: FrameSource
    # For each frame, which of the distinct ones it shows: a frame like the one before is not
    # encoded again.
    shows: list[int] = field(default_factory=list)
    vectors: list[HalfVectors] = field(default_factory=list)
    num_encoded: int = 0
    error: GoalwardError | None = None

    def show(self, differs: Iterable[bool]) -> None:
        """Note of more frames whether each differs from the one before."""
        for is_new in differs:
            self.shows.append((self.shows[-1] if self.shows else -1) + is_new)


@dataclass(frozen=True)
class Group:
    """Neighbouring frames: whether each differs from the one before, and those that do.

    >>> black, white = np.zeros((1, 1, 3), np.uint8), np.full((1, 1, 3), 255, np.uint8)
    >>> [(group.differs, len(group.pictures)) for group in groups_of([black, black, white])]
    [([True, False, True], 2)]
    """

    differs: list[bool]
    pictures: list[Image]


def groups_of(frames: Iterable[Image], most: int = FRAMES_PER_GROUP) -> Iterator[Group]:
    """All frames, at most so many pictures at a time; the last group may have none."""
    before: Image | None = None
    differs: list[bool] = []
    pictures: list[Image] = []
    for frame in frames:
        is_new = before is None or not _are_equal(frame, before)
        differs.append(is_new)
        if is_new:
            pictures.append(frame)
            before = frame
        if len(pictures) == most or len(differs) == _MOST_FRAMES:
            yield Group(differs, pictures)
            differs, pictures = [], []
    if differs:
        yield Group(differs, pictures)


def _are_equal(frame: Image, before: Image) -> bool:
    # A glance at every sixteenth pixel tells most frames apart.
    return np.array_equal(frame[::16, ::16], before[::16, ::16]) and np.array_equal(frame, before)
