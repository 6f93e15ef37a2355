"""Which episodes the rates of all policies are over, and how much each task counts."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from goalward.metrics.comparing.pairing import Meeting, Starts
from goalward.metrics.comparing.tables.outcome_table import OutcomeTable
from goalward.metrics.comparing.tasks.rates import TaskRate, common_weights, task_rate
from goalward.rollouts.endings import FloatArray, IndexArray
from goalward.rollouts.findings import some_of


@dataclass(frozen=True, eq=False)
class Base:
    """The episodes of each policy that its rate is over, the tasks and their weights.

    `shared_starts` is whether these are the initial states that all policies share; `successes` and
    `totals` (policies, tasks) count them.
    """

    rows: tuple[IndexArray, ...]
    tasks: tuple[str, ...]
    weights: FloatArray
    rates: tuple[TaskRate, ...]
    shared_starts: bool
    successes: IndexArray
    totals: IndexArray

    @property
    def weighted(self) -> bool:
        """Whether some rollouts count more than others."""
        return not all(rate.raw for rate in self.rates)

    def is_that_of(self, meeting: Meeting) -> bool:
        """Whether two policies meet over the same starts, or in the same tasks."""
        return meeting.paired == self.shared_starts and set(meeting.tasks) == set(self.tasks)


def base_of(
    table: OutcomeTable, starts: Starts | None, paired: Sequence[bool], notes: list[str]
) -> Base:
    """Shared initial states if every two policies share the same ones; else the common tasks."""
    policies = table.policies
    everyone = range(len(policies))
    if starts is not None and all(paired):
        in_all = starts.num_shared(*everyone)
        if in_all and all(starts.num_shared(*two) == in_all for two in combinations(everyone, 2)):
            return _base(table, tuple(starts.shared(*everyone).T), True)
    common = [task for task in table.tasks if all(task in p.by_task for p in policies)]
    if not common:
        notes.append(
            "no task was run by all policies: their rates are raw ones, of different tasks"
        )
        common = list(table.tasks)
    elif len(common) < len(table.tasks):
        left = [task for task in table.tasks if task not in common]
        notes.append(
            f"rates are over the {len(common)} tasks that all policies ran, without "
            f"{some_of(left, most=3)}"
            if len(common) > 1
            else f"rates are of the one task that all policies ran, without {some_of(left, most=3)}"
        )
    rows = tuple(
        np.concatenate([p.by_task[task] for task in common if task in p.by_task]) for p in policies
    )
    return _base(table, rows, False)


def _base(table: OutcomeTable, rows: Sequence[IndexArray], shared_starts: bool) -> Base:
    met: set[str] = set()
    for policy, own in zip(table.policies, rows, strict=True):
        there = np.bincount(policy.task_index[own], minlength=len(policy.tasks))
        met.update(t for t, times in zip(policy.tasks, there, strict=True) if times)
    tasks = tuple(task for task in table.tasks if task in met)
    successes = np.zeros((len(rows), len(tasks)), dtype=np.int64)
    totals = np.zeros_like(successes)
    for number, (policy, own) in enumerate(zip(table.policies, rows, strict=True)):
        index, won = policy.task_index[own], policy.succeeded[own]
        of_all, of_won = (
            np.bincount(some, minlength=len(policy.tasks)) for some in (index, index[won])
        )
        for place, task in enumerate(tasks):
            if task in policy.by_task:
                at = policy.tasks.index(task)
                totals[number, place], successes[number, place] = of_all[at], of_won[at]
    if totals.min() == 0:
        # No common task: every policy is all of its own episodes.
        weights = totals.sum(axis=0) / totals.sum()
        rates = tuple(
            TaskRate(float(x.sum() / n.sum()), float(n.sum()), True)
            for x, n in zip(successes, totals, strict=True)
        )
    else:
        weights = common_weights(totals)
        rates = tuple(task_rate(x, n, weights) for x, n in zip(successes, totals, strict=True))
    return Base(tuple(rows), tasks, weights, rates, shared_starts, successes, totals)
