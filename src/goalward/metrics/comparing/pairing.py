"""Which episodes of two policies are compared with each other."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from goalward.errors import GoalwardError
from goalward.metrics.comparing.outcome_table import EpisodeOutcome, OutcomeTable, PolicyOutcomes
from goalward.metrics.uncertainty.proportions import task_weights
from goalward.rollouts.endings import FloatArray
from goalward.rollouts.findings import some_of


@dataclass(frozen=True)
class Meeting:
    """What two policies did where both were.

    `together` pairs episodes, in the order in which the later of the two ran: from one initial
    state if `paired`, else the i-th of either policy in a task. `first_alone` and `second_alone`
    are the episodes that found no partner, of tasks that both ran.
    """

    first: str
    second: str
    together: tuple[tuple[EpisodeOutcome, EpisodeOutcome], ...]
    paired: bool
    first_alone: tuple[EpisodeOutcome, ...] = ()
    second_alone: tuple[EpisodeOutcome, ...] = ()

    @property
    def episodes(self) -> tuple[list[EpisodeOutcome], list[EpisodeOutcome]]:
        return (
            [*(pair[0] for pair in self.together), *self.first_alone],
            [*(pair[1] for pair in self.together), *self.second_alone],
        )

    def counts(self) -> tuple[list[list[int]], list[list[int]]]:
        """Successes by task and episodes by task, each for the first and for the second."""
        tasks = dict.fromkeys(episode.task for episode in self.episodes[0])
        successes = [
            [sum(e.succeeded for e in episodes if e.task == task) for task in tasks]
            for episodes in self.episodes
        ]
        totals = [
            [sum(e.task == task for e in episodes) for task in tasks] for episodes in self.episodes
        ]
        return successes, totals

    @property
    def succeeded(self) -> list[tuple[bool, bool]]:
        """Whether the first and the second succeeded, pair by pair."""
        return [(a.succeeded, b.succeeded) for a, b in self.together]

    @property
    def won_alone(self) -> tuple[int, int]:
        """Pairs that only the first won, and pairs that only the second won."""
        return self.succeeded.count((True, False)), self.succeeded.count((False, True))

    def rates(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Success rates by task of the first and of the second, and how much each task counts."""
        (x1, x2), (n1, n2) = self.counts()
        return np.divide(x1, n1), np.divide(x2, n2), task_weights(n1, n2)


def matched_episodes(table: OutcomeTable) -> tuple[tuple[int, ...], ...]:
    """Episodes that started alike in all policies: for each start, its position in every policy.

    Starts are told apart by task and initial state, and by seed where a policy began several
    times from one state. Empty without initial states. The order is that in which the last
    policy got there.
    """
    episodes = [episode for policy in table.policies for episode in policy.episodes]
    if any(episode.initial_state is None for episode in episodes):
        return ()

    def positions(policy: PolicyOutcomes, seeds: bool) -> dict[tuple[str | None, ...], int]:
        return {
            (e.task, e.initial_state, e.seed if seeds else None): i
            for i, e in enumerate(policy.episodes)
        }

    alike = [positions(policy, False) for policy in table.policies]
    if any(len(a) < len(p.episodes) for a, p in zip(alike, table.policies, strict=True)):
        alike = [positions(policy, True) for policy in table.policies]
    shared = [start for start in alike[0] if all(start in others for others in alike)]
    return tuple(sorted((tuple(a[start] for a in alike) for start in shared), key=max))


def decide_pairing(
    table: OutcomeTable, matched: Sequence[tuple[int, ...]], paired: bool | None, notes: list[str]
) -> bool:
    """Whether to compare pairs: if wanted, or if nothing is said and every episode has partners."""
    sizes = [len(policy.episodes) for policy in table.policies]
    if paired is False:
        return False
    if paired and not matched:
        raise GoalwardError(
            "paired: no initial state is shared by all policies; wanted a column initial_state "
            "with equal entries, or name the column to pair by"
        )
    if paired and len(matched) < max(sizes):
        left_out = ", ".join(
            f"{size - len(matched)} of {policy.policy}"
            for size, policy in zip(sizes, table.policies, strict=True)
            if size > len(matched)
        )
        notes.append(f"left out, as not every policy started there: episodes {left_out}")
    if paired is None and matched and len(matched) < max(sizes):
        notes.append(
            f"not paired: only {len(matched)} initial states are shared by all policies; "
            "ask for a paired comparison to use these alone"
        )
    return bool(paired) or len(matched) == max(sizes)


def meetings_by_start(table: OutcomeTable, matched: Sequence[tuple[int, ...]]) -> list[Meeting]:
    """Every two policies, where episodes from one initial state make a pair."""
    return [
        Meeting(
            first.policy,
            second.policy,
            tuple((first.episodes[row[i]], second.episodes[row[j]]) for row in matched),
            paired=True,
        )
        for (i, first), (j, second) in combinations(enumerate(table.policies), 2)
    ]


def meetings_by_task(table: OutcomeTable, notes: list[str]) -> list[Meeting]:
    """Every two policies, in the tasks that both ran."""
    return [_meeting_by_task(*two, notes) for two in combinations(table.policies, 2)]


def _meeting_by_task(first: PolicyOutcomes, second: PolicyOutcomes, notes: list[str]) -> Meeting:
    shared = [task for task in first.tasks if task in second.tasks]
    if not shared:
        raise GoalwardError(f"{first.policy!r} and {second.policy!r} have no task in common")
    for one, other in ((first, second), (second, first)):
        left_out = [task for task in one.tasks if task not in shared]
        if left_out:
            tasks = some_of(left_out, most=3)
            notes.append(
                f"left out of {one.policy} against {other.policy}: {tasks}, which "
                f"{other.policy} did not run"
            )
    together: list[tuple[int, EpisodeOutcome, EpisodeOutcome]] = []
    alone: tuple[list[EpisodeOutcome], list[EpisodeOutcome]] = ([], [])
    for task in shared:
        sides = [
            [(i, e) for i, e in enumerate(policy.episodes) if e.task == task]
            for policy in (first, second)
        ]
        pairs = list(zip(*sides, strict=False))
        together += [(max(a[0], b[0]), a[1], b[1]) for a, b in pairs]
        for rest, side in zip(alone, sides, strict=True):
            rest += [e for _, e in side[len(pairs) :]]
    ordered = tuple((a, b) for _, a, b in sorted(together, key=lambda pair: pair[0]))
    return Meeting(first.policy, second.policy, ordered, False, tuple(alone[0]), tuple(alone[1]))
