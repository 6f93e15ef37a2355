"""How the episodes of several policies ended."""

from dataclasses import dataclass
from itertools import pairwise
from math import comb, log

from goalward.rollouts.episode import Outcome


@dataclass(frozen=True)
class EpisodeOutcome:
    """How one episode ended, after how many steps, and where the table says so."""

    episode: str
    outcome: Outcome
    steps: int | None
    task: str
    initial_state: str | None
    seed: str | None
    where: str

    @property
    def succeeded(self) -> bool:
        return self.outcome is Outcome.SUCCESS


@dataclass(frozen=True)
class PolicyOutcomes:
    """All episodes of one policy, in the order in which they stand in the files."""

    policy: str
    episodes: tuple[EpisodeOutcome, ...]

    @property
    def num_successes(self) -> int:
        return sum(episode.succeeded for episode in self.episodes)

    @property
    def tasks(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(episode.task for episode in self.episodes))

    @property
    def has_steps(self) -> bool:
        return all(episode.steps is not None for episode in self.episodes)

    def counts(self, task: str) -> tuple[int, int]:
        """Successes and episodes in one task."""
        succeeded = [episode.succeeded for episode in self.episodes if episode.task == task]
        return sum(succeeded), len(succeeded)

    @property
    def sorted_by_outcome(self) -> bool:
        """Whether somebody sorted the rows: no longer the order in which episodes were run.

        Successes and others in one block each in every task is taken as sorted if chance would do
        that less than once in 10,000 tables.
        """
        log_chance = 0.0
        for task in self.tasks:
            succeeded = [episode.succeeded for episode in self.episodes if episode.task == task]
            changes = sum(a != b for a, b in pairwise(succeeded))
            if changes > 1:
                return False
            if changes == 1:
                # Two of all the orders of so many successes are in blocks.
                log_chance += log(2) - log(comb(len(succeeded), sum(succeeded)))
        return log_chance < log(1e-4)


@dataclass(frozen=True)
class OutcomeTable:
    """Two policies or more, and what happened in each of their episodes."""

    policies: tuple[PolicyOutcomes, ...]

    @property
    def tasks(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(task for policy in self.policies for task in policy.tasks))
