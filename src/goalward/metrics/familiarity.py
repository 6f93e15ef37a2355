"""How far the frames of new episodes lie from those that value functions learned from."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from goalward.rollouts.endings import FloatArray, IndexArray

# Directions in which learned frames differ most; the distance is taken in these.
_MOST_DIRECTIONS = 32
_MOST_FRAMES = 4000
_ROWS_AT_A_TIME = 1024
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
    of those that were learned from themselves: the same recording.
    """

    learned: str
    """The run whose networks judge."""
    num_learned: int
    """Episodes that they learned from."""
    episodes: tuple[EpisodeDistance, ...]
    """The new episodes."""
    copies: tuple[str, ...] = ()

    @property
    def can_tell(self) -> bool:
        """Whether enough episodes were learned from for any to be called far."""
        return 1 / (self.num_learned + 1) <= FAR

    @property
    def far(self) -> tuple[EpisodeDistance, ...]:
        """Those that are far, the farthest first."""
        found = [episode for episode in self.episodes if episode.is_far]
        return tuple(sorted(found, key=lambda episode: -episode.distance))


def familiarity(
    learned: npt.NDArray[np.floating],
    learned_ends: IndexArray,
    new: npt.NDArray[np.floating],
    new_ends: IndexArray,
    ids: Sequence[str],
    name: str,
) -> Familiarity:
    """Mean distance of an episode's frames to the nearest frame of any learned episode.

    Features (frames, numbers) are projected onto the directions in which learned frames differ
    most, each in units of its deviation there. A learned episode is compared with the others of
    them, so that its distance is what a new one of the same kind would have.
    """
    # torch takes seconds to import, and who reads a run does without.
    from goalward.training.frames.lens import principal_directions

    size = min(learned.shape[1], _MOST_DIRECTIONS)
    mean, directions = principal_directions(learned, size)
    seen, asked = (learned - mean) @ directions, (new - mean) @ directions
    deviation = seen.std(axis=0)
    scale = np.where(deviation > 0, deviation, 1.0)
    episode_of = np.repeat(np.arange(len(learned_ends)), np.diff(learned_ends, prepend=0))
    kept = np.unique(np.linspace(0, len(seen) - 1, min(len(seen), _MOST_FRAMES)).astype(np.int64))
    base, base_of = seen[kept] / scale, episode_of[kept]
    own = _by_episode(_nearest(base, base, base_of, base_of), base_of, len(learned_ends))
    away = _nearest(asked / scale, base)
    new_of = np.repeat(np.arange(len(new_ends)), np.diff(new_ends, prepend=0))
    found = _by_episode(away, new_of, len(new_ends))
    own = own[np.isfinite(own)]
    usual = float(np.median(own)) if len(own) and np.median(own) > 0 else 1.0
    ranks = ((own[None, :] >= found[:, None]).sum(axis=1) + 1) / (len(own) + 1)
    episodes = [
        EpisodeDistance(episode_id, float(distance / usual), float(rank))
        for episode_id, distance, rank in zip(ids, found, ranks, strict=True)
    ]
    return Familiarity(name, len(learned_ends), tuple(episodes))


def _nearest(
    asked: FloatArray,
    base: FloatArray,
    asked_of: IndexArray | None = None,
    base_of: IndexArray | None = None,
) -> FloatArray:
    """The distance to the nearest row; with episodes, of another episode."""
    squares = (base**2).sum(axis=1)
    found = np.empty(len(asked))
    for start in range(0, len(asked), _ROWS_AT_A_TIME):
        rows = asked[start : start + _ROWS_AT_A_TIME]
        away = (rows**2).sum(axis=1)[:, None] + squares - 2 * rows @ base.T
        if asked_of is not None and base_of is not None:
            away[asked_of[start : start + len(rows), None] == base_of] = np.inf
        found[start : start + len(rows)] = np.sqrt(np.maximum(away.min(axis=1), 0.0))
    return found


def _by_episode(numbers: FloatArray, episode_of: IndexArray, num_episodes: int) -> FloatArray:
    """The mean over the frames of each episode; NaN of one without frames."""
    counts = np.bincount(episode_of, minlength=num_episodes)
    total = np.bincount(episode_of, weights=numbers, minlength=num_episodes)
    return np.where(counts > 0, total / np.maximum(counts, 1), np.nan)
