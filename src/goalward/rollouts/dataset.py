"""Many episodes as flat arrays, and cheap views of them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, overload

import numpy as np
import numpy.typing as npt

from goalward.errors import RolloutError
from goalward.rollouts.endings import BoolArray, Endings
from goalward.rollouts.episode import Episode, FloatArray, Outcome
from goalward.rollouts.episode_table import episode_table
from goalward.rollouts.findings import LeftOut, counted
from goalward.rollouts.frames import Image
from goalward.rollouts.sampling import balanced_positions, chosen_positions, split_positions
from goalward.rollouts.storage import (
    IndexArray,
    Source,
    Storage,
    TaskVectors,
    check_features,
    check_task_vectors,
    check_unique_ids,
    stack_proprioception,
)

if TYPE_CHECKING:
    from pandas import DataFrame  # pyright: ignore[reportMissingTypeStubs]

# Episodes by position, in any order, or true for those that are wanted.
Positions = Sequence[int] | Sequence[bool] | npt.NDArray[np.integer] | BoolArray


class Rollouts(Sequence[Episode]):
    """A data set of episodes: flat arrays over all frames, plus where each episode ends.

    Every method that chooses episodes returns a view: it holds indices and shares the data.
    Arrays over frames (`proprioception`, `features`) follow the view's order; they are slices of
    the stored ones where the view is a run of neighbouring episodes.

    >>> rollouts = Rollouts([
    ...     Episode("0", num_frames=3, outcome=Outcome.SUCCESS, goal_frame=2),
    ...     Episode("1", num_frames=4, outcome=Outcome.TIME_OUT),
    ... ])
    >>> rollouts.episode_ends
    array([3, 7])
    >>> rollouts.endings.at_goal.astype(int)
    array([0, 0, 1, 0, 0, 0, 0])
    >>> rollouts.where(outcome=Outcome.TIME_OUT).ids, rollouts[~rollouts.success].ids
    (('1',), ('1',))
    """

    def __init__(
        self,
        episodes: Sequence[Episode],
        *,
        features: FloatArray | None = None,
        feature_layout: str = "",
        sources: Sequence[Source] = (),
        task_vectors: TaskVectors | None = None,
    ) -> None:
        """`features`, if given, has one row per frame over all episodes in their order."""
        episodes = tuple(episodes)
        check_unique_ids(episodes)
        lengths = np.array([episode.num_frames for episode in episodes], dtype=np.int64)
        if features is not None:
            check_features(features, episodes, lengths)
        check_task_vectors(task_vectors or {})
        self._storage = Storage(
            episodes=episodes,
            starts=np.cumsum(lengths) - lengths,
            lengths=lengths,
            proprioception=stack_proprioception(episodes),
            features=features,
            feature_layout=feature_layout,
            sources=tuple(sources),
            task_vectors=dict(task_vectors or {}),
        )
        self._episode_indices: IndexArray = np.arange(len(episodes), dtype=np.int64)

    def _view(self, positions: npt.ArrayLike) -> "Rollouts":
        view = object.__new__(Rollouts)
        view._storage = self._storage
        view._episode_indices = self._episode_indices[np.asarray(positions, dtype=np.int64)]
        return view

    # ---- one episode at a time ---------------------------------------------------------------

    def __len__(self) -> int:
        return len(self._episode_indices)

    @overload
    def __getitem__(self, index: int) -> Episode: ...
    @overload
    def __getitem__(self, index: slice | Positions) -> "Rollouts": ...
    def __getitem__(self, index: int | slice | Positions) -> "Episode | Rollouts":
        """An episode by its position, or several as `select` takes them."""
        if isinstance(index, slice):
            return self._view(np.arange(*index.indices(len(self))))
        # A single True is no position, though Python counts it as 1.
        if isinstance(index, int | np.integer) and not isinstance(index, bool):
            return self._storage.episodes[int(self._episode_indices[index])]
        return self.select(np.asarray(index))

    def __iter__(self) -> Iterator[Episode]:
        for index in self._episode_indices:
            yield self._storage.episodes[int(index)]

    def __repr__(self) -> str:
        counts = ", ".join(f"{int((self.outcomes == o).sum())} {o}" for o in Outcome)
        return f"Rollouts({counted(self)}: {counts}; {self.num_frames} frames)"

    def episode(self, episode_id: str | int) -> Episode:
        """The episode with this id, which is a text; a number stands for its digits."""
        wanted = str(episode_id)
        for episode in self:
            if episode.id == wanted:
                return episode
        raise RolloutError(f"no episode {episode_id} among {len(self)}")

    def clips(
        self, cameras: Sequence[str] | None = None
    ) -> Iterator[tuple[Episode, str, Iterator[Image]]]:
        """(episode, camera, frames) in order; frames are decoded one at a time as they are taken.

        All episodes of one camera come before the next camera, the order in which files that
        hold many episodes are read fastest.
        """
        for camera in self.camera_names if cameras is None else cameras:
            for episode in self:
                yield episode, camera, episode.frames(camera)

    # ---- facts per episode, in the order of the view -----------------------------------------

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(episode.id for episode in self)

    @property
    def lengths(self) -> IndexArray:
        """Frames per episode."""
        return self._storage.lengths[self._episode_indices]

    @property
    def episode_ends(self) -> IndexArray:
        """One past the last frame of each episode in the flat arrays."""
        return np.cumsum(self.lengths)

    @property
    def endings(self) -> Endings:
        """How each episode ended, as arrays over episodes and frames."""
        goals = [-1 if e.goal_frame is None else e.goal_frame for e in self]
        failed = [e.outcome is Outcome.FAILURE for e in self]
        return Endings(
            self.episode_ends, np.array(goals, dtype=np.int64), np.array(failed, dtype=np.bool_)
        )

    @property
    def outcomes(self) -> npt.NDArray[np.object_]:
        return np.array(self.endings.outcomes, dtype=object)

    @property
    def success(self) -> BoolArray:
        return self.endings.success

    @property
    def goal_frames(self) -> IndexArray:
        """The goal frame within each episode, -1 where there is none."""
        return self.endings.goal_frames

    @property
    def tasks(self) -> tuple[str, ...]:
        """The different tasks, in order of first appearance."""
        return tuple(dict.fromkeys(episode.task for episode in self))

    @property
    def task_indices(self) -> IndexArray:
        """For each episode, which of `tasks` it attempts."""
        number = {task: index for index, task in enumerate(self.tasks)}
        return np.array([number[episode.task] for episode in self], dtype=np.int64)

    @property
    def camera_names(self) -> tuple[str, ...]:
        """Cameras that every episode has."""
        if not len(self):
            return ()
        return tuple(name for name in self[0].cameras if all(name in e.cameras for e in self))

    @property
    def sources(self) -> tuple[Source, ...]:
        return self._storage.sources

    @property
    def warnings(self) -> tuple[str, ...]:
        return tuple(text for source in self.sources for text in source.warnings)

    @property
    def left_out(self) -> tuple[LeftOut, ...]:
        """Episodes that could not be trusted, each with its reason."""
        return tuple(left_out for source in self.sources for left_out in source.left_out)

    # ---- flat arrays over frames -------------------------------------------------------------

    @property
    def num_frames(self) -> int:
        return int(self.lengths.sum())

    @property
    def proprioception(self) -> FloatArray:
        """(num_frames, size)."""
        return self._storage.rows(self._storage.proprioception, self._episode_indices)

    @property
    def features(self) -> FloatArray | None:
        """(num_frames, size) as given by the user or by an encoder; None if there are none."""
        stored = self._storage.features
        return None if stored is None else self._storage.rows(stored, self._episode_indices)

    @property
    def feature_layout(self) -> str:
        """What the features are, in words; empty if the user brought them."""
        return self._storage.feature_layout

    @property
    def task_vectors(self) -> dict[str, tuple[float, ...]]:
        """What the texts of these tasks say, as an encoder reads them; empty where none did."""
        known = self._storage.task_vectors
        return {task: known[task] for task in self.tasks if task in known} if known else {}

    # ---- views -------------------------------------------------------------------------------

    def select(self, positions: Positions) -> "Rollouts":
        """The episodes at these positions, in this order, or where a boolean array is true."""
        return self._view(chosen_positions(positions, len(self)))

    def filter(self, keep: Callable[[Episode], bool]) -> "Rollouts":
        """The episodes for which `keep` is true."""
        return self._view([i for i, episode in enumerate(self) if keep(episode)])

    def where(self, *, outcome: Outcome | str | None = None, task: str | None = None) -> "Rollouts":
        """The episodes with this outcome and this task."""
        outcome = None if outcome is None else Outcome(outcome)
        return self.filter(
            lambda e: (outcome is None or e.outcome is outcome) and (task is None or e.task == task)
        )

    def split(self, test_fraction: float = 0.25, *, seed: int = 0) -> tuple["Rollouts", "Rollouts"]:
        """Training and test episodes, with every task and outcome in the same proportion.

        Whole episodes go to one side: neighbouring frames are near copies of each other, and a
        split by frame would test on what was trained on. Two or more episodes of a task and
        outcome are on both sides whatever the fraction; single ones are pooled over tasks.
        """
        test = split_positions(tuple(self), test_fraction, seed)
        on_test_side = np.isin(np.arange(len(self)), test)
        return self._view(np.flatnonzero(~on_test_side)), self._view(np.flatnonzero(on_test_side))

    def balanced(self, num_episodes: int, *, seed: int = 0) -> "Rollouts":
        """A random half of successes and half of the others.

        With one seed the smaller sample lies inside the larger, so that a study over data set
        sizes adds episodes and never swaps them.
        """
        return self._view(balanced_positions(self.success, num_episodes, seed))

    def to_pandas(self) -> "DataFrame":
        """One row per episode, if pandas is installed; frames and features stay here."""
        return episode_table(self)

    def with_features(
        self, features: FloatArray, *, layout: str = "", task_vectors: TaskVectors | None = None
    ) -> "Rollouts":
        """The same episodes with these numbers per frame; `layout` says what they are.

        Vectors of tasks that there are already stay where no others are given.
        """
        return Rollouts(
            tuple(self),
            features=features,
            feature_layout=layout,
            sources=self.sources,
            task_vectors=self.task_vectors if task_vectors is None else task_vectors,
        )

    def with_left_out(self, left_out: Sequence[LeftOut]) -> "Rollouts":
        """The same episodes, and some more that are known to be left out."""
        source = self.sources[0] if self.sources else Source("arrays", "", "")
        noted = replace(source, left_out=(*source.left_out, *left_out))
        return Rollouts(
            tuple(self),
            features=self.features,
            feature_layout=self.feature_layout,
            sources=(noted, *self.sources[1:]),
            task_vectors=self.task_vectors,
        )
