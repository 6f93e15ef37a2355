"""What two policies did where both were, as numbers: all that is kept of a meeting."""

from dataclasses import dataclass

import numpy as np

from goalward.metrics.comparing.base import Base
from goalward.metrics.comparing.pairing import Meeting
from goalward.metrics.comparing.partial_credit.comparison import ScoresMet
from goalward.metrics.comparing.result import BudgetTest, Limits, StepsComparison, WatchedTest
from goalward.metrics.comparing.tasks.rates import difference_of
from goalward.metrics.comparing.tasks.verdicts import TaskCounts, task_counts
from goalward.metrics.uncertainty import proportions
from goalward.rollouts.endings import FloatArray


@dataclass(frozen=True, eq=False)
class Met:
    """What is kept of a meeting until all pairs are tested together: no array of episodes."""

    counts: TaskCounts
    own_base: bool
    rates: tuple[float, float]
    by_task: tuple[FloatArray, FloatArray, FloatArray]
    interval: Limits
    interval_method: str
    num_pairs: int
    won_alone: tuple[int, int]
    watched: WatchedTest | None = None
    budget: BudgetTest | None = None
    steps: StepsComparison | None = None
    scores: ScoresMet | None = None

    @property
    def paired(self) -> bool:
        return self.counts.won_alone is not None


def met_over(meeting: Meeting, numbers: tuple[int, int], base: Base, level: float) -> Met:
    """Rates and their difference, over the base of all policies if this pair met there."""
    counts = task_counts(meeting)
    first, second, weights = by_task = meeting.rates()
    (x1, x2), (n1, n2) = counts.successes, counts.totals
    losses, wins = meeting.won_alone
    own_base = not base.is_that_of(meeting)
    rates = float((weights * first).sum()), float((weights * second).sum())
    of_all = [base.rates[number] for number in numbers]
    same_weights = own_base or np.allclose(
        [rate.rate for rate in of_all], rates, rtol=0, atol=1e-12
    )
    if not own_base:
        rates = of_all[0].rate, of_all[1].rate
    if meeting.paired:
        limits = proportions.paired_difference(losses, wins, len(meeting.together), level)
        method = "Tango"
    elif len(n1) == 1:
        limits = proportions.difference(x1[0], n1[0], x2[0], n2[0], level)
        method = "Newcombe"
    elif same_weights:
        limits = proportions.difference_by_task(x1, n1, x2, n2, level)
        method = "Klingenberg, by task"
    else:
        limits, method = difference_of(of_all[0], of_all[1], level), "Newcombe, by task"
    return Met(
        counts=counts,
        own_base=own_base,
        rates=rates,
        by_task=by_task,
        interval=(float(limits.lower), float(limits.upper)),
        interval_method=method,
        num_pairs=len(meeting.together),
        won_alone=(losses, wins),
    )
