"""How the episodes of several policies ended."""

from dataclasses import dataclass
from functools import cached_property
from math import lgamma, log

import numpy as np

from goalward.rollouts.endings import BoolArray, FloatArray, IndexArray
from goalward.rollouts.episode import Outcome


@dataclass(frozen=True, slots=True)
class EpisodeOutcome:
    """How one episode ended, after how many steps, and where the table says so.

    `score` is the credit for part of the task, between 0 and 1, where the table gives any;
    `prediction` what somebody thought of its chance of success without knowing the outcome.
    """

    episode: str
    outcome: Outcome
    steps: int | None
    task: str
    initial_state: str | None
    seed: str | None
    where: str
    score: float | None = None
    prediction: float | None = None

    @property
    def succeeded(self) -> bool:
        return self.outcome is Outcome.SUCCESS


@dataclass(frozen=True)
class PolicyOutcomes:
    """All episodes of one policy, in the order in which they stand in the files.

    `in_order` is false where nobody knows in which order they were run: a table of counts.
    `training_step` says how long it was trained, where a column does; `unlabelled` are predictions
    of rollouts that nobody labelled.
    """

    policy: str
    episodes: tuple[EpisodeOutcome, ...]
    in_order: bool = True
    training_step: float | None = None
    unlabelled: tuple[float, ...] = ()

    @cached_property
    def succeeded(self) -> BoolArray:
        """Whether each episode succeeded."""
        return np.array([e.outcome is Outcome.SUCCESS for e in self.episodes], dtype=np.bool_)

    @property
    def num_successes(self) -> int:
        return int(self.succeeded.sum())

    @cached_property
    def tasks(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(episode.task for episode in self.episodes))

    @cached_property
    def task_index(self) -> IndexArray:
        """Which of the tasks each episode attempted."""
        place = {task: index for index, task in enumerate(self.tasks)}
        return np.array([place[episode.task] for episode in self.episodes], dtype=np.int64)

    @cached_property
    def by_task(self) -> dict[str, IndexArray]:
        """The positions of each task's episodes."""
        order = np.argsort(self.task_index, kind="stable")
        ends = np.cumsum(np.bincount(self.task_index, minlength=len(self.tasks)))
        return dict(zip(self.tasks, np.split(order, ends[:-1]), strict=True))

    @cached_property
    def has_steps(self) -> bool:
        return all(episode.steps is not None for episode in self.episodes)

    @cached_property
    def has_scores(self) -> bool:
        return all(episode.score is not None for episode in self.episodes)

    @cached_property
    def scores(self) -> FloatArray:
        """The score of each episode; only where all have one."""
        return np.array([episode.score for episode in self.episodes], dtype=np.float64)

    @cached_property
    def has_predictions(self) -> bool:
        return all(episode.prediction is not None for episode in self.episodes)

    def counts(self, task: str) -> tuple[int, int]:
        """Successes and episodes in one task."""
        succeeded = self.succeeded[self.by_task[task]] if task in self.by_task else np.zeros(0)
        return int(succeeded.sum()), len(succeeded)

    @cached_property
    def sorted_by_outcome(self) -> bool:
        """Whether somebody sorted the rows: no longer the order in which episodes were run.

        Successes and others in one block each in every task is taken as sorted if chance would do
        that less than once in 10,000 tables.
        """
        log_chance = 0.0
        for positions in self.by_task.values():
            succeeded = self.succeeded[positions]
            changes = int((succeeded[1:] != succeeded[:-1]).sum())
            if changes > 1:
                return False
            if changes == 1:
                # Two of all the orders of so many successes are in blocks.
                log_chance += log(2) - _log_choices(len(succeeded), int(succeeded.sum()))
        return log_chance < log(1e-4)


@dataclass(frozen=True)
class OutcomeTable:
    """Two policies or more, and what happened in each of their episodes.

    `notes` are what had to be said about the files. `scores_only`: no file says how episodes ended,
    only what they were worth; a score of 1 then stands for success.
    """

    policies: tuple[PolicyOutcomes, ...]
    notes: tuple[str, ...] = ()
    scores_only: bool = False

    @property
    def tasks(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(task for policy in self.policies for task in policy.tasks))


def _log_choices(n: int, k: int) -> float:
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)
