"""How two policies stood after every pair of rollouts, to draw."""

from dataclasses import dataclass

import numpy as np

from goalward.metrics.comparing import sequential
from goalward.metrics.comparing.budget import budget_looks
from goalward.metrics.comparing.pairing import meeting_by_start, meeting_by_task, starts_of
from goalward.metrics.comparing.result import Comparison
from goalward.metrics.comparing.tables.outcome_table import OutcomeTable
from goalward.rollouts.endings import FloatArray

# More points than these no picture shows.
_MOST_POINTS = 500
# Curves of more pairs are a tangle.
_MOST_PAIRS = 10


@dataclass(frozen=True, eq=False)
class WatchingCurve:
    """One pair: after `pairs` pairs the evidence, and what is wanted of it.

    Evidence is the e-value, or with a budget the lead, for whoever is ahead. `lower` and `upper`
    are the interval of the difference, second minus first, that holds at all looks at once.
    """

    first: str
    second: str
    pairs: FloatArray
    evidence: FloatArray
    wanted: FloatArray
    difference: FloatArray
    lower: FloatArray
    upper: FloatArray


def watching_curves(table: OutcomeTable, comparison: Comparison) -> list[WatchingCurve]:
    """Of the pairs of the best policy; none where the order of rollouts is not known."""
    best = comparison.best_first[0].policy
    starts = starts_of(table)
    place = {policy.policy: number for number, policy in enumerate(table.policies)}
    found: list[WatchingCurve] = []
    for pair in comparison.pairs:
        if best not in (pair.first, pair.second) or pair.watched is None or not pair.num_pairs:
            continue
        i, j = place[pair.first], place[pair.second]
        meeting = (
            meeting_by_start(table, starts, i, j)
            if pair.paired and starts is not None
            else meeting_by_task(table.policies[i], table.policies[j], [])
        )
        first, second = meeting.succeeded.T
        looks = sequential.looks(first, second, level=comparison.level)
        num = looks.num_pairs
        at = np.unique(np.linspace(1, num, min(num, _MOST_POINTS)).astype(np.int64)) - 1
        evidence = np.exp(np.minimum(looks.log_e_value, np.log(1e300)))
        wanted = np.full(num, pair.watched.wanted_e_value)
        if comparison.budget is not None:
            alpha = 1 / pair.watched.wanted_e_value
            seen = budget_looks(first, second, comparison.budget, alpha)
            at = at[at < len(seen.lead)]
            evidence = np.abs(seen.lead).astype(np.float64)
            wanted = np.where(seen.wanted <= comparison.budget, seen.wanted, np.nan)
        limits = sequential.difference_interval(
            looks.wins[at], looks.losses[at], at + 1.0, comparison.level
        )
        found.append(
            WatchingCurve(
                first=pair.first,
                second=pair.second,
                pairs=(at + 1).astype(np.float64),
                evidence=evidence[at],
                wanted=wanted[at].astype(np.float64),
                difference=(looks.wins[at] - looks.losses[at]) / (at + 1.0),
                lower=limits.lower,
                upper=limits.upper,
            )
        )
    return found[:_MOST_PAIRS]
