"""Which of two policies is better in each task, and whether that is the same in all of them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from goalward.metrics.comparing.pairing import Meeting
from goalward.metrics.comparing.rates.boschloo import boschloo_tests
from goalward.metrics.comparing.rates.exact_tests import holm, mcnemar_test
from goalward.metrics.comparing.result import TaskVerdict
from goalward.metrics.comparing.tasks.heterogeneity import NUM_DRAWS, equal_odds
from goalward.metrics.uncertainty.equal_rates import EqualRates, equal_rates

# Draws for each of many pairs: their p-values need fewer digits than a minute is worth.
_DRAWS_IN_ALL, _FEWEST_DRAWS = 200_000, 199


@dataclass(frozen=True)
class TaskCounts:
    """What two policies did in each of the tasks that both ran.

    Where episodes are paired, also how many pairs only the first and only the second won.
    """

    first: str
    second: str
    tasks: tuple[str, ...]
    successes: tuple[list[int], list[int]]
    totals: tuple[list[int], list[int]]
    won_alone: tuple[list[int], list[int]] | None


def task_counts(meeting: Meeting) -> TaskCounts:
    (x1, x2), (n1, n2) = meeting.counts()
    alone = meeting.won_alone_by_task() if meeting.paired else None
    names = meeting.first.policy, meeting.second.policy
    return TaskCounts(*names, meeting.tasks, (x1, x2), (n1, n2), alone)


def task_verdicts(
    pairs: Sequence[TaskCounts], level: float
) -> list[tuple[tuple[TaskVerdict, ...], EqualRates | None]]:
    """For every pair of policies: its tasks, those that tell most first, and whether they agree.

    A verdict allows for the number of tasks and pairs in all (Holm).
    """
    several = [pair for pair in pairs if len(pair.tasks) > 1]
    p_values = _p_values(several)
    adjusted = iter(holm([p for of_pair in p_values for p in of_pair]))
    own = {
        id(pair): [(p, next(adjusted)) for p in of_pair]
        for pair, of_pair in zip(several, p_values, strict=True)
    }
    num_draws = min(NUM_DRAWS, max(_FEWEST_DRAWS, _DRAWS_IN_ALL // max(len(several), 1)))
    return [
        (_verdicts(pair, own[id(pair)], level), _equal_effects(pair, num_draws))
        if len(pair.tasks) > 1
        else ((), None)
        for pair in pairs
    ]


def _p_values(pairs: Sequence[TaskCounts]) -> list[list[float]]:
    """Exact, of every task: McNemar's for pairs, else Boschloo's, all of them at once."""
    apart = [pair for pair in pairs if pair.won_alone is None]
    tables = [
        (x1, n1, x2, n2)
        for pair in apart
        for x1, n1, x2, n2 in zip(
            pair.successes[0], pair.totals[0], pair.successes[1], pair.totals[1], strict=True
        )
    ]
    x1, n1, x2, n2 = np.array(tables, dtype=np.int64).reshape(-1, 4).T
    found = iter(boschloo_tests(x1, n1, x2, n2).tolist() if tables else [])
    return [
        [next(found) for _ in pair.tasks]
        if pair.won_alone is None
        else [mcnemar_test(*alone) for alone in zip(*pair.won_alone, strict=True)]
        for pair in pairs
    ]


def _verdicts(
    pair: TaskCounts, p_values: Sequence[tuple[float, float]], level: float
) -> tuple[TaskVerdict, ...]:
    (x1, x2), (n1, n2) = pair.successes, pair.totals
    found: list[TaskVerdict] = []
    for place, task in enumerate(pair.tasks):
        p_value, adjusted = p_values[place]
        difference = x2[place] / n2[place] - x1[place] / n1[place]
        winner = pair.second if difference > 0 else pair.first
        found.append(
            TaskVerdict(
                task=task,
                first=(x1[place], n1[place]),
                second=(x2[place], n2[place]),
                difference=difference,
                p_value=p_value,
                adjusted_p_value=adjusted,
                better=winner if adjusted <= 1 - level and difference else None,
            )
        )
    return tuple(sorted(found, key=lambda one: (one.p_value, -abs(one.difference))))


def _equal_effects(pair: TaskCounts, num_draws: int) -> EqualRates:
    """Whether the second policy may be ahead by the same odds in every task."""
    if pair.won_alone is None:
        (x1, x2), (n1, n2) = pair.successes, pair.totals
        return equal_odds(x1, n1, x2, n2, num_draws=num_draws)
    # Of the pairs that one policy alone won, the second wins the same share in every task.
    told = [(w, w + loss) for loss, w in zip(*pair.won_alone, strict=True) if w + loss]
    return equal_rates([w for w, _ in told] or [0], [n for _, n in told] or [1])
