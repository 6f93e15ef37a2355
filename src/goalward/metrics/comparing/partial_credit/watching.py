"""Comparing two mean scores while rollouts come in: look after every one, stop when it is clear.

The bets of `sequential.py` with partial credit. A pair of rollouts is worth D, the second policy's
score less the first's, in [-1, 1]. If the mean scores are equal, a bet b in [-1, 1] that multiplies
the capital by 1 + b D gains nothing in the mean, whatever the shapes of the scores, and the capital
ever reaches 1 / alpha with a chance of at most alpha (Ville 1939; Waudby-Smith and Ramdas 2024). It
is spread evenly over all bets. For scores of 0 and 1 alone this is that test, to the last digit.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from goalward.metrics.comparing.partial_credit.mean_interval import checked_scores
from goalward.metrics.comparing.watching.betting import Betting
from goalward.metrics.uncertainty.proportions import ConfidenceLimits
from goalward.rollouts.endings import FloatArray

# The integral over bets on one side. The capital is a polynomial in the bet, and for the large
# numbers of pairs at which 64 points no longer have every digit, a mixture of 64 is as valid.
_NODES, _NODE_WEIGHTS = np.polynomial.legendre.leggauss(64)
_SHARES, _SHARE_WEIGHTS = (1 + _NODES) / 2, _NODE_WEIGHTS / 2
_HALVINGS = 40


@dataclass(frozen=True, eq=False)
class ScoreLooks(Betting):
    """What one would have seen after every pair of rollouts.

    `differences` (pairs,) are second minus first.
    """

    differences: FloatArray

    def settled_for(self, alpha: float) -> float | None:
        """The mean difference at the look that settled it: its sign is the side it decided for."""
        look = self.settled_at(alpha)
        return None if look is None else float(self.differences[:look].mean())

    def interval(self, look: int = -1) -> ConfidenceLimits:
        """Mean differences that no bet has refuted at one of the looks; valid at all at once."""
        if not self.num_pairs:
            return ConfidenceLimits(np.array(-1.0), np.array(1.0))
        seen = range(1, self.num_pairs + 1)[look]
        return unrefuted_differences(self.differences[:seen], self.level)


def score_looks(first: npt.ArrayLike, second: npt.ArrayLike, level: float = 0.95) -> ScoreLooks:
    """The test after every pair of scores; the i-th of each make a pair.

    Pairs from one start, or rollouts of the policies in turn. One without a partner waits for it.
    Scores must not depend on later rollouts: a judge that learns from all of them does.

    >>> found = score_looks([0.0, 0.5] * 8, [1.0, 0.75] * 8)
    >>> found.settled_at(alpha=0.05), round(found.e_value)
    (11, 127)
    """
    num_pairs = min(np.size(first), np.size(second))
    if num_pairs == 0:
        return ScoreLooks(level, log_e_value=np.zeros(0), differences=np.zeros(0))
    a, b = (checked_scores(np.asarray(scores)[:num_pairs]) for scores in (first, second))
    return ScoreLooks(level, log_e_value=log_e_values(b - a), differences=b - a)


def log_e_values(differences: FloatArray) -> FloatArray:
    """Logarithm of the capital after each of the differences, (..., pairs) to the same shape.

        e = integral over b in (-1, 1) of prod (1 + b D) / 2

    >>> np.exp(log_e_values(np.ones(5)))[-1].round(3)             # 2^5 / 6
    np.float64(5.333)
    """
    capital = np.full(differences.shape, -np.inf)
    for bet, weight in zip((*_SHARES, *-_SHARES), (*_SHARE_WEIGHTS, *_SHARE_WEIGHTS), strict=True):
        gains = np.cumsum(np.log1p(bet * differences), axis=-1)
        capital = np.logaddexp(capital, gains + np.log(weight / 2))
    return capital


def unrefuted_differences(differences: FloatArray, level: float = 0.95) -> ConfidenceLimits:
    """Mean differences d that the bets have not refuted after all of these: a confidence sequence.

    A bet on more than d multiplies by 1 - u + u (1 + D) / (1 + d), one on less by
    1 - u + u (1 - D) / (1 - d), for u spread evenly over 0 to 1, half of the capital on each side.
    Both are log-convex in d, and at the mean difference no bet has gained: what is not refuted is
    an interval around it. At d = 0 the bets are those of `log_e_values`.

    >>> [round(float(limit), 2) for limit in unrefuted_differences(np.array([0.5, 0.25] * 20))]
    [0.2, 0.46]
    """
    distinct, counts = np.unique(differences, return_counts=True)
    most = -np.log(1 - level)
    mean = float(differences.mean())

    def is_refuted(d: float) -> bool:
        if not -1 < d < 1:
            return True
        more = (1 + distinct) / (1 + d) - 1
        less = (1 - distinct) / (1 - d) - 1
        sides = np.concatenate([np.outer(_SHARES, more), np.outer(_SHARES, less)])
        logs = np.log1p(sides) @ counts + np.log(np.tile(_SHARE_WEIGHTS, 2) / 2)
        return bool(np.logaddexp.reduce(logs) >= most)

    def limit(outside: float) -> float:
        inside = mean
        for _ in range(_HALVINGS):
            middle = (inside + outside) / 2
            inside, outside = (inside, middle) if is_refuted(middle) else (middle, outside)
        return outside

    return ConfidenceLimits(np.array(limit(-1.0)), np.array(limit(1.0)))
