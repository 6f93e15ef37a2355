"""Comparing two success rates while rollouts come in, where their number has a known end.

Who knows that there will be 200 rollouts of each policy, and no more, can have a sharper test than
who may go on for ever. Rollouts are taken in pairs, as in `sequential.py`. Pairs that both win or
both lose say nothing; of the others, if the policies are equally good, each is a coin that is as
likely to fall for the one as for the other, whenever it comes and whatever the rates are. So the
lead of one policy over the other is a walk whose distribution is known, given which pairs were
coins: after every pair the walks that lead the most are called settled, as many as the error spent
by then allows. Exact for any rates, for pairs that start alike, and for rates that change.
"""

from dataclasses import dataclass

import numpy as np

from goalward.rollouts.endings import BoolArray, FloatArray, IndexArray

# The share of the error spent after a share t of the budget is t^SPENDING. More keeps it for the
# end: fewer differences are missed, large ones are found later (docs/comparing.md, Measured).
SPENDING = 1.0
_FAR = np.iinfo(np.int64).max


@dataclass(frozen=True, eq=False)
class BudgetLooks:
    """What one would have seen after every pair. Arrays have an entry per pair.

    `lead` is how many more pairs the second policy won alone than the first; it is settled where
    its size reaches `wanted`.
    """

    budget: int
    lead: IndexArray
    wanted: IndexArray

    @property
    def settled_at(self) -> int | None:
        """After how many pairs it was settled; None if it was not."""
        reached = np.abs(self.lead) >= self.wanted
        return int(reached.argmax()) + 1 if reached.any() else None

    @property
    def settled_for_second(self) -> bool:
        """Which side it was settled for."""
        at = self.settled_at
        return at is not None and bool(self.lead[at - 1] > 0)


def budget_looks(
    first: BoolArray, second: BoolArray, budget: int, alpha: float = 0.05
) -> BudgetLooks:
    """The test after every pair of successes, up to the budget.

    >>> looks = budget_looks(np.zeros(9, dtype=bool), np.ones(9, dtype=bool), budget=20)
    >>> looks.settled_at, looks.settled_for_second
    (7, True)
    """
    a, b = (np.asarray(side, dtype=np.bool_)[:budget] for side in (first, second))
    num_pairs = min(len(a), len(b))
    a, b = a[:num_pairs], b[:num_pairs]
    lead = np.cumsum(b.astype(np.int64) - a.astype(np.int64))
    return BudgetLooks(budget, lead, wanted_leads((a != b)[np.newaxis], budget, alpha)[0])


def wanted_leads(coins: BoolArray, budget: int, alpha: float = 0.05) -> IndexArray:
    """The lead that settles it after every pair, (experiments, pairs).

    `coins` (experiments, pairs) says which pairs were won by one policy alone. The walk that has
    not been called settled has a distribution over leads; after each pair the smallest lead is
    wanted whose chance, of either side, is within what may be spent by then. What a lead cannot
    spend, as leads are whole numbers, is kept for later.
    """
    num_experiments, num_pairs = coins.shape
    reach = int(coins.sum(axis=1).max(initial=0)) + 1
    chance = np.zeros((num_experiments, 2 * reach + 1))
    chance[:, reach] = 1.0
    spent = np.zeros(num_experiments)
    wanted = np.full((num_experiments, num_pairs), _FAR, dtype=np.int64)
    for pair in range(num_pairs):
        walks = coins[:, pair]
        chance[walks] = _one_coin(chance[walks])
        allowed = alpha * ((pair + 1) / budget) ** SPENDING - spent
        # Chances of leads of 1, 2, ... and more; those of the other side are equal.
        tails = 2 * np.cumsum(chance[:, :reach:-1], axis=1)[:, ::-1]
        least = (tails > allowed[:, np.newaxis]).sum(axis=1) + 1
        possible = least <= reach
        gone = np.where(possible, tails[np.arange(len(tails)), np.minimum(least, reach) - 1], 0.0)
        wanted[:, pair] = np.where(possible & (gone > 0), least, _FAR)
        spent += gone
        leads = np.abs(np.arange(-reach, reach + 1))
        chance[leads[np.newaxis] >= least[:, np.newaxis]] = 0.0
    return wanted


def _one_coin(chance: FloatArray) -> FloatArray:
    half = chance / 2
    moved = np.zeros_like(chance)
    moved[:, 1:] += half[:, :-1]
    moved[:, :-1] += half[:, 1:]
    return moved
