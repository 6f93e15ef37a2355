"""What all views of a data set share, checked once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from goalward.errors import RolloutError
from goalward.rollouts.episode import Episode, FloatArray, first_bad_row
from goalward.rollouts.findings import LeftOut
from goalward.spilled import gathered

IndexArray = npt.NDArray[np.int64]
TaskVectors = Mapping[str, tuple[float, ...]]

# No count of frames, and exact as a float.
_LARGEST = 2**53


@dataclass(frozen=True)
class Source:
    """Where episodes were read from, and what was noticed on the way."""

    format: str
    path: str
    label_source: str
    warnings: tuple[str, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    horizon: int | None = None


@dataclass(frozen=True, eq=False)
class Storage:
    """What all views of one data set share; never changed after it is built."""

    episodes: tuple[Episode, ...]
    starts: IndexArray
    lengths: IndexArray
    proprioception: FloatArray
    features: FloatArray | None
    feature_layout: str
    sources: tuple[Source, ...]
    task_vectors: TaskVectors

    def rows(self, flat: FloatArray, episode_indices: IndexArray) -> FloatArray:
        """Of an array over all frames those of these episodes; a slice if they are neighbours."""
        starts, lengths = self.starts, self.lengths
        if len(episode_indices) == 0:
            return flat[:0]
        if (np.diff(episode_indices) == 1).all():
            first, last = episode_indices[0], episode_indices[-1]
            return flat[starts[first] : starts[last] + lengths[last]]
        parts = (flat[starts[i] : starts[i] + lengths[i]] for i in episode_indices)
        shape = (int(lengths[episode_indices].sum()), *flat.shape[1:])
        return gathered(parts, shape, flat.dtype)


def check_features(features: FloatArray, episodes: Sequence[Episode], lengths: IndexArray) -> None:
    if features.ndim != 2:
        raise RolloutError(f"features must be (frames, size), got shape {features.shape}")
    if len(features) != lengths.sum():
        raise RolloutError(
            f"features have {len(features)} rows, the episodes {lengths.sum()} frames"
        )
    bad = first_bad_row(features)
    if bad is not None:
        ends = np.cumsum(lengths)
        index = int(np.searchsorted(ends, bad, side="right"))
        frame = bad - int(ends[index] - lengths[index])
        raise RolloutError(
            f"episode {episodes[index].id}: features hold NaN or infinity at frame {frame}"
        )


def check_task_vectors(vectors: TaskVectors) -> None:
    sizes = {len(vector) for vector in vectors.values()}
    if len(sizes) > 1 or 0 in sizes:
        raise RolloutError(f"vectors of tasks must have one size, got {sorted(sizes)}")
    for task, vector in vectors.items():
        if not np.isfinite(vector).all():
            raise RolloutError(f"the vector of task {task[:80]!r} holds NaN or infinity")


def whole_numbers(values: npt.ArrayLike, what: str) -> IndexArray:
    """A list of whole numbers, as integers or as floats that are whole.

    >>> whole_numbers([3.0, 5.0], "episode_ends")
    array([3, 5])
    >>> whole_numbers([3, 6.4], "episode_ends")
    Traceback (most recent call last):
    ...
    goalward.errors.RolloutError: episode_ends must hold whole numbers, got 6.4
    """
    try:
        array = np.asarray(values)
    except ValueError as error:  # lists of different lengths
        raise RolloutError(f"{what} must be a list of whole numbers ({error})") from error
    if array.ndim != 1:
        raise RolloutError(f"{what} must be a list of whole numbers, got shape {array.shape}")
    if len(array) and array.dtype.kind not in "iuf":
        raise RolloutError(f"{what} must hold whole numbers, got {array.tolist()[0]!r}")
    array = array if len(array) else np.zeros(0, np.int64)
    is_whole = (array == np.trunc(array)) & (array > -_LARGEST) & (array < _LARGEST)
    if not is_whole.all():
        raise RolloutError(f"{what} must hold whole numbers, got {array[~is_whole][0]}")
    return array.astype(np.int64)


def check_unique_ids(episodes: Sequence[Episode]) -> None:
    seen: set[str] = set()
    for episode in episodes:
        if episode.id in seen:
            raise RolloutError(f"two episodes have the id {episode.id}")
        seen.add(episode.id)


def stack_proprioception(episodes: Sequence[Episode]) -> FloatArray:
    if not episodes:
        return np.zeros((0, 0), dtype=np.float32)
    size = episodes[0].proprioception.shape[1]
    for episode in episodes:
        if episode.proprioception.shape[1] != size:
            raise RolloutError(
                f"episode {episode.id} has {episode.proprioception.shape[1]} proprioceptive "
                f"numbers per frame, episode {episodes[0].id} has {size}"
            )
    return np.concatenate([episode.proprioception for episode in episodes])
