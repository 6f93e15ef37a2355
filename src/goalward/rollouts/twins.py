"""Episodes that are the same recording: the same pictures, or the same motion to the last bit."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from goalward.errors import RolloutError
from goalward.progress import OnProgress, unheard
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.episode import Episode
from goalward.rollouts.frames import new_digest, update_with_parts


class Sameness(StrEnum):
    """What two episodes share. Pictures coded anew have other bytes, but often the same motion."""

    PICTURES = "pictures"
    MOTION = "motion"


@dataclass(frozen=True)
class Twins:
    """Two episodes, by position, that are one recording; `second` may be of another data set."""

    first: int
    second: int
    share: Sameness


def twins_within(rollouts: Rollouts, on_progress: OnProgress = unheard) -> tuple[Twins, ...]:
    """Pairs of episodes of one data set; of three that are the same, each goes with the first.

    >>> moving = np.arange(6.0, dtype=np.float32)[:, None]
    >>> episodes = [Episode(name, 6, "time_out", proprioception=moving) for name in "ab"]
    >>> twins_within(Rollouts(episodes))
    (Twins(first=0, second=1, share=<Sameness.MOTION: 'motion'>),)
    """
    keys = _Keys(rollouts, on_progress)
    found: dict[int, Twins] = {}
    for share, key_of in keys.kinds():
        first: dict[str, int] = {}
        for position in range(len(rollouts)):
            key = key_of(position)
            if key is not None and first.setdefault(key, position) != position:
                found.setdefault(position, Twins(first[key], position, share))
    return tuple(sorted(found.values(), key=lambda twins: (twins.first, twins.second)))


def twins_between(
    rollouts: Rollouts, others: Rollouts, on_progress: OnProgress = unheard
) -> tuple[Twins, ...]:
    """Pairs of an episode of the first data set with the first like it of the second."""
    total = len(rollouts) + len(others)
    ours = _Keys(rollouts, lambda so_far, _: on_progress(so_far, total))
    theirs = _Keys(others, lambda so_far, _: on_progress(len(rollouts) + so_far, total))
    found: dict[int, Twins] = {}
    for (share, key_of), (_, other_key_of) in zip(ours.kinds(), theirs.kinds(), strict=True):
        first: dict[str, int] = {}
        for position in range(len(others)):
            if (key := other_key_of(position)) is not None:
                first.setdefault(key, position)
        for position in range(len(rollouts)):
            key = key_of(position)
            if key is not None and key in first:
                found.setdefault(position, Twins(position, first[key], share))
    return tuple(found[position] for position in sorted(found))


class _Keys:
    """What pictures and motion of each episode are, as digests; None where there is nothing."""

    def __init__(self, rollouts: Rollouts, on_progress: OnProgress) -> None:
        self._pictures: list[str | None] = []
        self._motion: list[str | None] = []
        features = rollouts.features
        starts = rollouts.episode_ends - rollouts.lengths
        for position, episode in enumerate(rollouts):
            on_progress(position, len(rollouts))
            self._pictures.append(_pictures_key(episode))
            rows = episode.proprioception
            if rows.shape[1] == 0 and not episode.cameras and features is not None:
                # A feature file has neither cameras nor proprioception of its own.
                rows = features[starts[position] : rollouts.episode_ends[position]]
            self._motion.append(_motion_key(rows))
        on_progress(len(rollouts), len(rollouts))

    def kinds(self) -> Iterable[tuple[Sameness, Callable[[int], str | None]]]:
        yield Sameness.PICTURES, self._pictures.__getitem__
        yield Sameness.MOTION, self._motion.__getitem__


def _pictures_key(episode: Episode) -> str | None:
    """All cameras together: two views of one table may show the same still picture."""
    if not episode.cameras:
        return None
    digest = new_digest("pictures")
    try:
        for name in sorted(episode.cameras):
            update_with_parts(digest, episode.cameras[name].fingerprint().encode())
    except RolloutError:
        # A video that cannot be read is no copy of anything; whoever decodes it will say so.
        return None
    return digest.hexdigest()


def _motion_key(rows: np.ndarray) -> str | None:
    """A robot that never moves, or was not recorded, is like any other such."""
    if rows.size == 0 or len(rows) < 2 or not (rows != rows[0]).any():
        return None
    digest = new_digest("motion")
    update_with_parts(digest, str(rows.shape).encode(), np.ascontiguousarray(rows).tobytes())
    return digest.hexdigest()
