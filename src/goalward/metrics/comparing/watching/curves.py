"""How two policies stood after every pair of rollouts, to draw."""

from dataclasses import dataclass

import numpy as np

from goalward.metrics.comparing.episode_pairs import meeting_of
from goalward.metrics.comparing.pairing import Meeting
from goalward.metrics.comparing.partial_credit.watching import score_looks
from goalward.metrics.comparing.result import Comparison
from goalward.metrics.comparing.tables.outcome_table import OutcomeTable
from goalward.metrics.comparing.watching import sequential
from goalward.metrics.comparing.watching.budget import budget_looks
from goalward.rollouts.endings import FloatArray

# More points than these no picture shows.
_MOST_POINTS = 500
# Each interval of scores is a search of its own.
_MOST_SCORE_POINTS = 100
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
    of_best = [pair for pair in comparison.pairs if best in (pair.first, pair.second)]
    found: list[WatchingCurve] = []
    for pair in of_best[:_MOST_PAIRS]:
        if pair.watched is None or not pair.num_pairs:
            continue
        meeting = meeting_of(table, pair)
        if comparison.scores_only:
            found.append(_of_scores(meeting, comparison.level, pair.watched.wanted_e_value))
            continue
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
    return found


def _of_scores(meeting: Meeting, level: float, wanted_e_value: float) -> WatchingCurve:
    first, second = (
        policy.scores[rows]
        for policy, rows in zip((meeting.first, meeting.second), meeting.together.T, strict=True)
    )
    looks = score_looks(first, second, level=level)
    num = looks.num_pairs
    at = np.unique(np.linspace(1, num, min(num, _MOST_SCORE_POINTS)).astype(np.int64)) - 1
    limits = [looks.interval(int(look)) for look in at]
    return WatchingCurve(
        first=meeting.first.policy,
        second=meeting.second.policy,
        pairs=(at + 1).astype(np.float64),
        evidence=np.exp(np.minimum(looks.log_e_value[at], np.log(1e300))),
        wanted=np.full(len(at), wanted_e_value),
        difference=(np.cumsum(looks.differences) / np.arange(1, num + 1))[at],
        lower=np.array([float(one.lower) for one in limits]),
        upper=np.array([float(one.upper) for one in limits]),
    )
