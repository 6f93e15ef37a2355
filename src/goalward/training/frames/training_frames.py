"""What the methods need to know of recorded episodes, as flat arrays over frames."""

import os
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import google_crc32c
import numpy as np
import numpy.typing as npt

from goalward.errors import GoalwardError
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.endings import Endings
from goalward.rollouts.episode import Outcome, first_bad_row
from goalward.rollouts.thinning import is_looked_at
from goalward.spilled import taken
from goalward.targets.steps import recorded_steps

BoolArray = npt.NDArray[np.bool_]
IndexArray = npt.NDArray[np.int64]
_EPISODES_AT_A_TIME = 1024
_ROWS_AT_A_TIME = 1 << 12


@dataclass(frozen=True, eq=False)
class TrainingFrames:
    """The frames of some rollouts: what the networks see of them, and how their episodes ended."""

    features: npt.NDArray[np.floating]
    endings: Endings
    episode_task: tuple[str, ...]
    episode_id: tuple[str, ...]
    # What the robot knows of itself, (frames, size): part of the features too, where they are of
    # pictures.
    proprioception: npt.NDArray[np.float32]
    # What the text of a task says, as an encoder's text tower has it; empty where none read it.
    task_vectors: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    # False where features lie between those of other frames (`rollouts/thinning.py`).
    looked_at: BoolArray | None = None

    @property
    def num_frames(self) -> int:
        return len(self.features)

    @property
    def num_episodes(self) -> int:
        return self.endings.num_episodes

    @property
    def episode_ends(self) -> IndexArray:
        return self.endings.episode_ends

    @property
    def horizon(self) -> int:
        """The most steps between two frames of an episode."""
        return max(int(self.endings.lengths.max()) - 1, 1)

    @cached_property
    def checksum(self) -> str:
        """Of all numbers of all frames, and of which of them were looked at."""
        looked_at = () if self.looked_at is None else (self.looked_at,)
        checksum = 0
        for array in (self.features, self.proprioception, *looked_at):
            for start in range(0, len(array), _ROWS_AT_A_TIME):
                rows = array[start : start + _ROWS_AT_A_TIME].tobytes()
                checksum = google_crc32c.extend(checksum, rows)
        return f"{checksum:08x}"

    def frames_of(self, episodes: tuple[int, ...]) -> BoolArray:
        """True on every frame of these episodes."""
        chosen = np.zeros(self.num_episodes, dtype=np.bool_)
        chosen[list(episodes)] = True
        return chosen[self.endings.episode_of]

    def select(self, episodes: tuple[int, ...], most_bytes: int | None = None) -> "TrainingFrames":
        """The frames of these episodes, which follow one another in rising order.

        Features of up to `most_bytes` are in memory then; None: as `goalward.spilled` has it.
        """
        rows = np.flatnonzero(self.frames_of(episodes))
        chosen = list(episodes)
        endings = self.endings
        return replace(
            self,
            features=taken(self.features, rows, most_bytes),
            endings=Endings(
                np.cumsum(endings.lengths[chosen]),
                endings.goal_frames[chosen],
                endings.failures[chosen],
            ),
            episode_task=tuple(self.episode_task[i] for i in episodes),
            episode_id=tuple(self.episode_id[i] for i in episodes),
            proprioception=self.proprioception[rows],
            looked_at=None if self.looked_at is None else self.looked_at[rows],
        )

    # ---- per frame ---------------------------------------------------------------------------

    @cached_property
    def _recorded_steps(self) -> tuple[IndexArray, BoolArray]:
        return recorded_steps(self.episode_ends, self.endings.at_goal)

    @property
    def steps(self) -> IndexArray:
        """Steps to the goal, or to the last frame where there is none; see `recorded_steps`."""
        return self._recorded_steps[0]

    @property
    def reached(self) -> BoolArray:
        """True where `steps` lead to a goal."""
        return self._recorded_steps[1]

    @cached_property
    def feature_sums(self) -> tuple[npt.NDArray[np.float64], ...]:
        """Per episode the sum and the sum of squares of features about their mean over all, and
        that mean: (episodes, size) twice and (size,). Every group of networks asks for them."""
        every = range(self.num_episodes)
        return *self.sums_of(every, self.centre), self.centre

    @cached_property
    def centre(self) -> npt.NDArray[np.float64]:
        """The mean of every feature over all frames, (size,)."""
        total = np.zeros(self.features.shape[1])

        def summed(episode: int) -> npt.NDArray[np.float64]:
            return self._rows(episode).sum(axis=0, dtype=np.float64)

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            for first in range(0, self.num_episodes, _EPISODES_AT_A_TIME):
                some = range(first, min(first + _EPISODES_AT_A_TIME, self.num_episodes))
                # One after the other, whoever was first: the sum is the same on every machine.
                for sums in pool.map(summed, some):
                    total += sums
        return total / self.num_frames

    def _rows(self, episode: int) -> npt.NDArray[np.floating]:
        return self.features[self.endings.starts[episode] : self.episode_ends[episode]]

    def sums_of(
        self, episodes: range, centre: npt.NDArray[np.float64]
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Sums and sums of squares of features about a centre, (episodes, size) each."""
        sums, squares = np.empty((2, len(episodes), len(centre)))

        def add_up(row: int) -> None:
            centred = self._rows(episodes[row]) - centre
            sums[row] = centred.sum(axis=0)
            squares[row] = np.einsum("fs,fs->s", centred, centred)

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(add_up, range(len(episodes))))
        return sums, squares

    @cached_property
    def scalings(self) -> dict[Any, Any]:
        """Standardisations that were worked out already, by the sets of episodes they are of."""
        return {}

    def ended_in(self, outcome: Outcome) -> BoolArray:
        """True on every frame of the episodes that ended so."""
        chosen = np.array([ending is outcome for ending in self.endings.outcomes], dtype=np.bool_)
        return chosen[self.endings.episode_of]


def episodes_at_a_time(frames: TrainingFrames, num_frames: int) -> Iterator[tuple[int, ...]]:
    """All episodes in their order, in portions of at most so many frames, or of one episode."""
    first, ends = 0, frames.episode_ends
    starts = frames.endings.starts
    while first < frames.num_episodes:
        last = int(np.searchsorted(ends, starts[first] + num_frames, side="right"))
        last = max(last, first + 1)
        yield tuple(range(first, last))
        first = last


def training_frames(rollouts: Rollouts) -> TrainingFrames:
    """The frames of rollouts with features; an error names what is missing or broken."""
    features = rollouts.features
    if not len(rollouts):
        raise GoalwardError("there are no episodes to learn from")
    if features is None or features.shape[1] == 0:
        raise GoalwardError(
            "the rollouts have no features; give them some with rollouts.with_features(array) "
            "or goalward.from_arrays"
        )
    endings = rollouts.endings
    _check_finite(features, endings, rollouts.ids)
    tasks = tuple(episode.task for episode in rollouts)
    return TrainingFrames(
        features,
        endings,
        tasks,
        rollouts.ids,
        rollouts.proprioception,
        rollouts.task_vectors,
        looked_at=None if all(e.every == 1 for e in rollouts) else is_looked_at(rollouts),
    )


def planning_frames(rollouts: Rollouts) -> TrainingFrames:
    """Frames whose features are not there yet: enough to say which networks there will be."""
    tasks = tuple(episode.task for episode in rollouts)
    nothing = np.zeros((rollouts.num_frames, 0), dtype=np.float32)
    return TrainingFrames(
        nothing, rollouts.endings, tasks, rollouts.ids, nothing, rollouts.task_vectors
    )


def _check_finite(
    features: npt.NDArray[np.floating], endings: Endings, ids: tuple[str, ...]
) -> None:
    frame = first_bad_row(features)
    if frame is not None:
        episode = int(endings.episode_of[frame])
        raise GoalwardError(
            f"episode {ids[episode]}: features hold NaN or infinity at frame "
            f"{int(endings.frame_in_episode[frame])}"
        )
