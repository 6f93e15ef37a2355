"""Which episodes of two policies are compared with each other."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from goalward.errors import GoalwardError
from goalward.metrics.comparing.tables.outcome_table import OutcomeTable, PolicyOutcomes
from goalward.metrics.uncertainty.proportions import task_weights
from goalward.rollouts.endings import BoolArray, FloatArray, IndexArray
from goalward.rollouts.findings import some_of


@dataclass(frozen=True, eq=False)
class Meeting:
    """What two policies did where both were.

    `together` (pairs, 2) pairs episodes by their positions in either policy, in the order in which
    the later of the two ran: from one initial state if `paired`, else the i-th of either policy in
    a task. `first_alone` and `second_alone` are the positions of episodes that found no partner, of
    tasks that both ran.
    """

    first: PolicyOutcomes
    second: PolicyOutcomes
    together: IndexArray
    paired: bool
    first_alone: IndexArray
    second_alone: IndexArray

    @cached_property
    def rows(self) -> tuple[IndexArray, IndexArray]:
        """The positions of all episodes that count, of the first and of the second."""
        return (
            np.concatenate((self.together[:, 0], self.first_alone)),
            np.concatenate((self.together[:, 1], self.second_alone)),
        )

    @cached_property
    def tasks(self) -> tuple[str, ...]:
        """The tasks of these episodes, as the first policy met them in its pairs."""
        index = self.first.task_index[self.rows[0]]
        _, first_seen = np.unique(index, return_index=True)
        return tuple(self.first.tasks[index[at]] for at in np.sort(first_seen))

    def counts(self) -> tuple[list[list[int]], list[list[int]]]:
        """Successes by task and episodes by task, each for the first and for the second."""
        successes: list[list[int]] = []
        totals: list[list[int]] = []
        for policy, rows in zip((self.first, self.second), self.rows, strict=True):
            index, won = policy.task_index[rows], policy.succeeded[rows]
            size = len(policy.tasks)
            place = [policy.tasks.index(task) for task in self.tasks]
            totals.append(np.bincount(index, minlength=size)[place].tolist())
            successes.append(np.bincount(index[won], minlength=size)[place].tolist())
        return successes, totals

    @cached_property
    def succeeded(self) -> BoolArray:
        """(pairs, 2): whether the first and the second succeeded."""
        return np.stack(
            (
                self.first.succeeded[self.together[:, 0]],
                self.second.succeeded[self.together[:, 1]],
            ),
            axis=1,
        )

    @property
    def won_alone(self) -> tuple[int, int]:
        """Pairs that only the first won, and pairs that only the second won."""
        first, second = self.succeeded.T
        return int((first & ~second).sum()), int((second & ~first).sum())

    def won_alone_by_task(self) -> tuple[list[int], list[int]]:
        """The same in each of the tasks."""
        index = self.first.task_index[self.together[:, 0]]
        first, second = self.succeeded.T
        place = [self.first.tasks.index(task) for task in self.tasks]
        size = len(self.first.tasks)
        losses, wins = (
            np.bincount(index[alone], minlength=size)[place].tolist()
            for alone in (first & ~second, second & ~first)
        )
        return losses, wins

    def rates(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Success rates by task of the first and of the second, and how much each task counts."""
        (x1, x2), (n1, n2) = self.counts()
        return np.divide(x1, n1), np.divide(x2, n2), task_weights(n1, n2)


@dataclass(frozen=True, eq=False)
class Starts:
    """For every policy, the position of its episode from each start of the table; -1 for none."""

    positions: IndexArray

    def shared(self, *policies: int) -> IndexArray:
        """(starts, policies): positions of episodes that started alike in all of these policies.

        In the order in which the last of them got there.
        """
        chosen = self.positions[list(policies)]
        found = chosen[:, (chosen >= 0).all(axis=0)].T
        return found[np.argsort(found.max(axis=1, initial=-1), kind="stable")]

    def num_shared(self, *policies: int) -> int:
        return int((self.positions[list(policies)] >= 0).all(axis=0).sum())


def starts_of(table: OutcomeTable) -> Starts | None:
    """Where episodes started; None where some episode does not say.

    Starts are told apart by task and initial state, and by seed where a policy began several
    times from one state.
    """
    episodes = [episode for policy in table.policies for episode in policy.episodes]
    if any(episode.initial_state is None for episode in episodes):
        return None

    def places(seeds: bool) -> list[IndexArray]:
        number: dict[tuple[str | None, ...], int] = {}
        return [
            np.array(
                [
                    number.setdefault((e.task, e.initial_state, e.seed if seeds else None),
                                      len(number))
                    for e in policy.episodes
                ]
            )
            for policy in table.policies
        ]  # fmt: skip

    found = places(seeds=False)
    if any(len(np.unique(place)) < len(place) for place in found):
        found = places(seeds=True)
    positions = np.full((len(found), max(map(np.max, found)) + 1), -1)
    for row, place in zip(positions, found, strict=True):
        row[place] = np.arange(len(place))
    return Starts(positions)


def decide_pairing(
    table: OutcomeTable, starts: Starts | None, paired: bool | None, notes: list[str]
) -> list[bool]:
    """Whether to compare starts, for every two policies.

    If wanted, wherever two share any; if nothing is said, where every episode has its partner.
    """
    twos = list(combinations(range(len(table.policies)), 2))
    if paired is False or starts is None:
        if paired:
            _nothing_shared()
        return [False] * len(twos)
    sizes = [len(policy.episodes) for policy in table.policies]
    shared = [starts.num_shared(i, j) for i, j in twos]
    if paired and not any(shared):
        _nothing_shared()
    complete = [n == max(sizes[i], sizes[j]) for n, (i, j) in zip(shared, twos, strict=True)]
    if not all(complete):
        in_all = starts.num_shared(*range(len(sizes)))
        _note_what_is_left(table, twos, shared, complete, in_all, bool(paired), notes)
    return [n > 0 for n in shared] if paired else complete


def _nothing_shared() -> None:
    raise GoalwardError(
        "paired: no initial state is shared by all policies; wanted a column initial_state "
        "with equal entries, or name the column to pair by"
    )


def _note_what_is_left(
    table: OutcomeTable,
    twos: Sequence[tuple[int, int]],
    shared: Sequence[int],
    complete: Sequence[bool],
    in_all: int,
    paired: bool,
    notes: list[str],
) -> None:
    """Say which episodes have no partner, or that none is used."""
    sizes = [len(policy.episodes) for policy in table.policies]
    names = [policy.policy for policy in table.policies]
    one_base = len(set(shared)) == 1 and in_all == shared[0]
    if one_base and paired:
        left_out = ", ".join(
            f"{size - in_all} of {name}"
            for size, name in zip(sizes, names, strict=True)
            if size > in_all
        )
        notes.append(f"left out, as not every policy started there: episodes {left_out}")
    elif one_base:
        if in_all:
            notes.append(
                f"not paired: only {in_all} initial states are shared by all policies; "
                "ask for a paired comparison to use these alone"
            )
    else:
        some = [
            f"{names[i]} and {names[j]} share {n}"
            for (i, j), n, all_of_them in zip(twos, shared, complete, strict=True)
            if not all_of_them and (n or paired)
        ]
        if some and paired:
            notes.append(f"paired where two policies share initial states: {some_of(some, most=3)}")
        elif some:
            notes.append(
                f"not paired where some initial states are missing: {some_of(some, most=3)}; ask "
                "for a paired comparison to use these alone"
            )


def meeting_by_start(table: OutcomeTable, starts: Starts, i: int, j: int) -> Meeting:
    """Two policies, where episodes from one initial state make a pair."""
    none = np.zeros(0, dtype=np.int64)
    first, second = table.policies[i], table.policies[j]
    return Meeting(first, second, starts.shared(i, j), True, none, none)


def meeting_by_task(first: PolicyOutcomes, second: PolicyOutcomes, notes: list[str]) -> Meeting:
    """Two policies in the tasks that both ran, the i-th rollouts in a task as a pair."""
    shared = [task for task in first.tasks if task in second.by_task]
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
    together: list[IndexArray] = []
    alone: tuple[list[IndexArray], list[IndexArray]] = ([], [])
    for task in shared:
        sides = first.by_task[task], second.by_task[task]
        num_pairs = min(map(len, sides))
        together.append(np.stack([side[:num_pairs] for side in sides], axis=1))
        for rest, side in zip(alone, sides, strict=True):
            rest.append(side[num_pairs:])
    pairs = np.concatenate(together)
    pairs = pairs[np.argsort(pairs.max(axis=1), kind="stable")]
    return Meeting(first, second, pairs, False, np.concatenate(alone[0]), np.concatenate(alone[1]))
