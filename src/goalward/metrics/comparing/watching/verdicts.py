"""What the tests say that may be looked at after every rollout, for two policies."""

from collections.abc import Sequence

import numpy as np

from goalward.metrics.comparing.pairing import Meeting
from goalward.metrics.comparing.result import BudgetTest, Limits, WatchedTest
from goalward.metrics.comparing.tables.outcome_table import OutcomeTable
from goalward.metrics.comparing.watching import sequential
from goalward.metrics.comparing.watching.budget import budget_looks, wanted_leads
from goalward.seeds import generator

_NUM_PATHS = 400


def in_order(table: OutcomeTable, notes: list[str]) -> bool:
    """Whether rows may stand in the order in which they were run.

    Rows sorted by outcome would pair successes with successes, and someone who looks would seem to
    see a difference where there is none.
    """
    for policy in table.policies:
        if not policy.in_order:
            notes.append(
                "counts do not say in which order rollouts were run: there is no test that allows "
                "for looking after every rollout"
            )
            return False
        if policy.sorted_by_outcome:
            notes.append(
                f"the rows of {policy.policy} are sorted by outcome; the test that allows for "
                "looking after every rollout needs them in the order in which they were run"
            )
            return False
    return True


def watched_test(meeting: Meeting, level: float, alpha: float) -> WatchedTest:
    """With an error of `alpha`; the interval, which many pairs have at once, is still open."""
    first, second = meeting.succeeded.T
    seen = sequential.looks(first, second, level=level)
    at, turned = seen.settled_at(alpha), seen.turned_at(alpha)
    names = meeting.first.policy, meeting.second.policy
    for_second = seen.settled_for_second(alpha)
    now_ahead = bool(seen.num_pairs) and bool(seen.wins[-1] > seen.losses[-1])
    return WatchedTest(
        num_pairs=seen.num_pairs,
        e_value=seen.e_value,
        wanted_e_value=1 / alpha,
        p_value=seen.p_value,
        settled_at=at,
        settled_for=None if at is None else names[for_second],
        turned_at=turned,
        stands=at is not None
        and bool(seen.log_e_value[-1] >= -np.log(alpha))
        and now_ahead == for_second,
        interval=(-1.0, 1.0),
    )


def watched_intervals(won_alone: Sequence[tuple[int, int, int]], level: float) -> list[Limits]:
    """Confidence sequences now, from losses, wins and pairs of every two policies."""
    losses, wins, pairs = np.array(won_alone, dtype=np.float64).T
    found = sequential.difference_interval(wins, losses, np.maximum(pairs, 1), level)
    return [
        (float(low), float(high)) if n else (-1.0, 1.0)
        for low, high, n in zip(found.lower, found.upper, pairs, strict=True)
    ]


def budget_test(
    meeting: Meeting, budget: int, alpha: float, *, with_chance: bool = True
) -> BudgetTest:
    """With an error of `alpha`, spent over the budget."""
    first, second = meeting.succeeded.T
    seen = budget_looks(first, second, budget, alpha)
    at = seen.settled_at
    num_pairs = len(seen.lead)
    look = num_pairs - 1 if at is None else at - 1
    # Where the last pair was no coin, nothing new is wanted: the lead that was wanted last is.
    wanted = seen.wanted[: look + 1][seen.wanted[: look + 1] <= budget]
    names = meeting.first.policy, meeting.second.policy
    return BudgetTest(
        budget=budget,
        num_pairs=num_pairs,
        lead=int(seen.lead[look]) if num_pairs else 0,
        wanted_lead=int(wanted[-1]) if len(wanted) else None,
        settled_at=at,
        settled_for=None if at is None else names[seen.settled_for_second],
        chance=None if at is not None or not with_chance else _chance(meeting, budget, alpha),
    )


def _chance(meeting: Meeting, budget: int, alpha: float) -> float | None:
    """How often it is settled by the end if the rates stay what they are, by simulation."""
    so_far = meeting.succeeded[:budget]
    left = budget - len(so_far)
    if not len(so_far):
        return None
    if not left:
        return 0.0
    draw = generator(0, "budget")
    if meeting.paired:
        coming = so_far[draw.integers(len(so_far), size=(_NUM_PATHS, left))]
    else:
        first, second, weights = meeting.rates()
        task = draw.choice(len(weights), size=(_NUM_PATHS, left), p=weights)
        luck = draw.random((_NUM_PATHS, left, 2))
        coming = luck < np.stack((first[task], second[task]), axis=-1)
    before = np.broadcast_to(so_far, (_NUM_PATHS, *so_far.shape))
    a, b = np.moveaxis(np.concatenate((before, coming), axis=1), -1, 0)
    lead = np.cumsum(b.astype(np.int64) - a.astype(np.int64), axis=1)
    settled = np.abs(lead) >= wanted_leads(a != b, budget, alpha)
    return float(settled.any(axis=1).mean())
