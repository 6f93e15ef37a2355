"""How far the frames of new episodes lie from those that value functions learned from."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from goalward.embeddings.learned_frames import LearnedFrames
from goalward.rollouts.endings import FloatArray, IndexArray

# Directions in which learned frames differ most; the distance is taken in these.
_MOST_DIRECTIONS = 32
_MOST_FRAMES = 4000
_ROWS_AT_A_TIME = 1 << 14
Float32Array = npt.NDArray[np.float32]
# An episode is far from what was learned if at most so many learned ones are as far from the rest.
FAR = 0.05


@dataclass(frozen=True)
class EpisodeDistance:
    """How far an episode lies from what was learned: 1 is as far as learned ones from each other.

    `rank` is the share of learned episodes that lie at least as far from the others of them.
    """

    id: str
    """Of the episode."""
    distance: float
    """How far it lies."""
    rank: float

    @property
    def is_far(self) -> bool:
        return self.rank <= FAR


@dataclass(frozen=True)
class Familiarity:
    """The distances of new episodes, in their order, and from how many learned ones.

    Were the new episodes like the learned ones, about `FAR` of them would be far. `copies` are ids
    of those that were learned from themselves: the same recording; without `copies_known` nobody
    could look for them.
    """

    learned: str
    """The run whose networks judge."""
    num_learned: int
    """Episodes that they learned from."""
    episodes: tuple[EpisodeDistance, ...]
    """The new episodes."""
    copies: tuple[str, ...] = ()
    copies_known: bool = True

    @property
    def can_tell(self) -> bool:
        """Whether enough episodes were learned from for any to be called far."""
        return 1 / (self.num_learned + 1) <= FAR

    @property
    def far(self) -> tuple[EpisodeDistance, ...]:
        """Those that are far, the farthest first."""
        found = [episode for episode in self.episodes if episode.is_far]
        return tuple(sorted(found, key=lambda episode: -episode.distance))


def learned_frames(features: npt.NDArray[np.floating], episode_ends: IndexArray) -> LearnedFrames:
    """A sample of frames (frames, numbers), along the directions in which all differ most.

    Each direction in units of the deviation of the frames along it.
    """
    # torch takes seconds to import, and who reads a run does without.
    from goalward.training.frames.lens import principal_directions

    size = min(features.shape[1], _MOST_DIRECTIONS)
    mean, directions = principal_directions(features, size)
    deviation, low, high = _spread(features, mean, directions)
    directions = (directions / np.where(deviation > 0, deviation, 1.0)).astype(np.float32)
    num_rows = min(len(features), _MOST_FRAMES)
    kept = np.unique(np.linspace(0, len(features) - 1, num_rows).astype(np.int64))
    lengths = np.diff(episode_ends, prepend=0)
    episode_of = np.repeat(np.arange(len(episode_ends)), lengths)[kept]
    rows = (features[kept].astype(np.float32) - mean) @ directions
    rows = rows.astype(np.float32, copy=False)
    return LearnedFrames(mean, directions, rows, episode_of, low, high, len(episode_ends))


def _spread(
    features: npt.NDArray[np.floating], mean: Float32Array, directions: Float32Array
) -> tuple[FloatArray, Float32Array, Float32Array]:
    """The deviation along each direction, the least and the largest of each feature; in parts, as
    features may be larger than memory."""
    total, squares = np.zeros(directions.shape[1]), np.zeros(directions.shape[1])
    low = np.full(features.shape[1], np.inf, np.float32)
    high = -low
    for start in range(0, len(features), _ROWS_AT_A_TIME):
        rows = features[start : start + _ROWS_AT_A_TIME].astype(np.float32)
        points = ((rows - mean) @ directions).astype(np.float64)
        total, squares = total + points.sum(axis=0), squares + (points**2).sum(axis=0)
        low, high = np.minimum(low, rows.min(axis=0)), np.maximum(high, rows.max(axis=0))
    variance = squares / len(features) - (total / len(features)) ** 2
    return np.sqrt(np.maximum(variance, 0.0)), low, high


def familiarity(
    learned: LearnedFrames,
    new: npt.NDArray[np.floating],
    new_ends: IndexArray,
    ids: Sequence[str],
    name: str,
) -> Familiarity:
    """Mean distance of an episode's frames to the nearest frame of any learned episode.

    A learned episode is compared with the others of them, so that its distance is what a new one
    of the same kind would have.
    """
    own = _by_episode(learned.own_distances, learned.episode_of, learned.num_episodes)
    new_of = np.repeat(np.arange(len(new_ends)), np.diff(new_ends, prepend=0))
    found = _by_episode(learned.distances(new), new_of, len(new_ends))
    own = own[np.isfinite(own)]
    usual = float(np.median(own)) if len(own) and np.median(own) > 0 else 1.0
    ranks = ((own[None, :] >= found[:, None]).sum(axis=1) + 1) / (len(own) + 1)
    episodes = [
        EpisodeDistance(episode_id, float(distance / usual), float(rank))
        for episode_id, distance, rank in zip(ids, found, ranks, strict=True)
    ]
    return Familiarity(name, learned.num_episodes, tuple(episodes))


def _by_episode(numbers: FloatArray, episode_of: IndexArray, num_episodes: int) -> FloatArray:
    """The mean over the frames of each episode; NaN of one without frames."""
    counts = np.bincount(episode_of, minlength=num_episodes)
    total = np.bincount(episode_of, weights=numbers, minlength=num_episodes)
    return np.where(counts > 0, total / np.maximum(counts, 1), np.nan)
