"""What a network sees of a frame: fewer numbers than the features have, and how they came about.

Pictures become thousands of numbers, of which a few dozen directions carry nearly all that changes
from frame to frame; a network that sees those alone learns as much in a fraction of the time. And a
frame does not show where things are going: the difference to frames a little earlier does.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from goalward import spilled
from goalward.training.frames.inputs import FeatureRows
from goalward.training.frames.task_codes import TaskCodes
from goalward.training.frames.training_frames import TrainingFrames, episodes_at_a_time
from goalward.training.methods.hyperparameters import Hyperparameters

FloatArray = npt.NDArray[np.float32]
_ROWS_AT_A_TIME = 1 << 14
# Directions are found from so many frames, spread evenly: more change them little.
_ROWS_TO_LEARN_FROM = 20_000
# A direction in which features spread less than this share of the first is float32's rounding
# error, which standardising would make as loud as the others.
_LEAST_SPREAD = 1e-4


@dataclass(frozen=True, eq=False)
class Lens:
    """From the features of frames to the inputs of networks.

        inputs = [x, x - x so many steps earlier, ..., task]
        x = features, or their main directions

    `tasks`, where one network serves many, tells which one a frame is of. `components` (size,
    kept) are the directions, about `mean`, each divided by the deviation of the features; None:
    features as they are. Proprioception, a few numbers among thousands, would be
    lost among the main directions: it is added to them as it is. Before an episode began all was as
    in its first frame.
    """

    lags: tuple[int, ...]
    mean: FloatArray | None = None
    components: FloatArray | None = None
    tasks: TaskCodes | None = None

    @property
    def num_codes(self) -> int:
        """How many of the inputs, the last ones, tell the task; they are never standardised."""
        return 0 if self.tasks is None else self.tasks.size

    def inputs(self, frames: TrainingFrames) -> FloatArray:
        """(frames, inputs) of all frames, each of its own episode alone.

        In a file where they are large, written by some episodes at a time.
        """
        row_bytes = 4 * self._num_inputs(frames)
        at_once = max(spilled.IN_MEMORY_BYTES // row_bytes, 1)
        if frames.num_frames <= at_once:
            return self._inputs(frames)
        parts = (
            self._inputs(frames.select(some))
            for some in episodes_at_a_time(frames, max(at_once // 16, 1))
        )
        return spilled.gathered(parts, (frames.num_frames, row_bytes // 4), np.float32)

    def _inputs(self, frames: TrainingFrames) -> FloatArray:
        seen = self._seen(frames)
        rows = np.arange(len(seen))
        first = frames.endings.starts[frames.endings.episode_of]
        parts = [seen] + [seen - seen[np.maximum(rows - lag, first)] for lag in self.lags]
        if self.tasks is not None:
            parts.append(self.tasks.of(frames.episode_task)[frames.endings.episode_of])
        return np.concatenate(parts, axis=1, dtype=np.float32)

    def num_features(self, num_inputs: int) -> int:
        """How many features per frame become so many inputs; proprioception not counted."""
        if self.components is not None:
            return len(self.components)
        return self._per_lag(num_inputs)

    def num_proprioception(self, num_inputs: int) -> int:
        """How many numbers of proprioception are among the inputs as they are."""
        if self.components is None:
            return 0
        return self._per_lag(num_inputs) - self.components.shape[1]

    def _num_inputs(self, frames: TrainingFrames) -> int:
        features = frames.features.shape[1]
        if self.components is not None:
            features = self.components.shape[1] + frames.proprioception.shape[1]
        return features * (1 + len(self.lags)) + self.num_codes

    def _per_lag(self, num_inputs: int) -> int:
        return (num_inputs - self.num_codes) // (1 + len(self.lags))

    def _seen(self, frames: TrainingFrames) -> FloatArray:
        features = frames.features
        if self.components is None or self.mean is None:
            return np.asarray(features, dtype=np.float32)
        projected = [
            (features[start : start + _ROWS_AT_A_TIME].astype(np.float32) - self.mean)
            @ self.components
            for start in range(0, len(features), _ROWS_AT_A_TIME)
        ]
        numbers = frames.proprioception.astype(np.float32)
        return np.concatenate([np.concatenate(projected), numbers], axis=1, dtype=np.float32)


def lens_of(
    frames: TrainingFrames, numbers: Hyperparameters, tasks: TaskCodes | None = None
) -> Lens | None:
    """The lens that these numbers ask for; None where networks see the features themselves.

    Directions are learned from all frames, whatever came of them: outcomes play no part in it.
    """
    size = frames.features.shape[1]
    if numbers.max_inputs and size > numbers.max_inputs:
        mean, components = principal_directions(frames.features, numbers.max_inputs)
        return Lens(numbers.lags, mean, components, tasks)
    return Lens(numbers.lags, tasks=tasks) if numbers.lags or tasks else None


def principal_directions(
    features: npt.NDArray[np.floating[Any]], num_kept: int
) -> tuple[FloatArray, FloatArray]:
    """The mean of features and the directions in which they differ most, (size, kept).

    Of features divided by their deviations. Signs are fixed (the largest number of a direction is
    positive), so that the same frames give the same directions.

    >>> features = np.array([[0.0, 0.0, 5.0], [1.0, 1.0, 5.0], [2.0, 2.0, 5.0]])
    >>> mean, directions = principal_directions(features, num_kept=1)
    >>> mean, directions.round(3).ravel()
    (array([1., 1., 5.], dtype=float32), array([0.866, 0.866, 0.   ], dtype=float32))
    """
    rows = np.linspace(0, len(features) - 1, min(len(features), _ROWS_TO_LEARN_FROM))
    some = features[np.unique(rows.astype(np.int64))].astype(np.float64)
    mean, deviation = some.mean(axis=0), some.std(axis=0)
    still = deviation <= 1e-6 * (1e-6 + np.abs(mean))
    scale = np.where(still, 1.0, deviation)
    scaled = np.where(still, 0.0, (some - mean) / scale)
    if scaled.shape[1] <= len(some):
        squares, vectors = np.linalg.eigh(scaled.T @ scaled)
        spread, directions = np.sqrt(np.maximum(squares[::-1], 0)), vectors[:, ::-1]
    else:
        _, spread, rows_of_directions = np.linalg.svd(scaled, full_matrices=False)
        directions = rows_of_directions.T
    # In at least one, so that there is something to see.
    num_there = max(int((spread > _LEAST_SPREAD * spread[0]).sum()), 1)
    directions = directions[:, : min(num_kept, num_there)]
    largest = np.abs(directions).argmax(axis=0)
    directions = directions * np.sign(directions[largest, np.arange(directions.shape[1])])
    components = np.where(still[:, None], 0.0, directions / scale[:, None])
    return mean.astype(np.float32), components.astype(np.float32)


@dataclass(frozen=True, eq=False)
class Seen:
    """Frames as some networks see them: through a lens, if they have one."""

    lens: Lens | None
    frames: TrainingFrames
    device: torch.device
    max_bytes: int | None

    @cached_property
    def rows(self) -> FeatureRows:
        """Where a training draws from."""
        return FeatureRows(self.frames.features, self.device, self.max_bytes)

    @property
    def read_once(self) -> FeatureRows:
        """To go through once; not moved for that where no training draws from them."""
        if "rows" in vars(self):
            return self.rows
        return FeatureRows(self.frames.features, self.device, max_bytes=0)


class Sight:
    """Frames as the networks of each family see them, made when first asked for."""

    def __init__(
        self,
        frames: TrainingFrames,
        numbers: Hyperparameters,
        device: torch.device,
        max_bytes: int | None = None,
        tasks: TaskCodes | None = None,
    ) -> None:
        self._frames = frames
        self._numbers = numbers
        self._tasks = tasks
        self._placed = (device, max_bytes)
        self._made: dict[str, Seen] = {}

    def of(self, family: str) -> Seen:
        if family not in self._made:
            lens = lens_of(self._frames, self._numbers.of(family), self._tasks)
            self._made[family] = self._as_they_are if lens is None else self._through(lens)
        return self._made[family]

    @cached_property
    def _as_they_are(self) -> Seen:
        return Seen(None, self._frames, *self._placed)

    def _through(self, lens: Lens) -> Seen:
        frames = replace(self._frames, features=lens.inputs(self._frames))
        return Seen(lens, frames, *self._placed)
