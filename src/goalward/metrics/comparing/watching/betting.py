"""Bets against "no difference", pair after pair: what the capital says at any moment.

Whoever cannot gain in the mean where there is no difference starts with 1. Whatever the number of
looks and the reason to stop, P(the capital ever reaches 1 / alpha) <= alpha (Ville 1939).
"""

from dataclasses import dataclass

import numpy as np

from goalward.rollouts.endings import FloatArray


@dataclass(frozen=True, eq=False)
class Betting:
    """`log_e_value` (pairs,) is the logarithm of the capital, the e-value, after every pair."""

    level: float
    log_e_value: FloatArray

    @property
    def num_pairs(self) -> int:
        return len(self.log_e_value)

    @property
    def e_value(self) -> float:
        """The capital now; 1 before the first pair. Stays a number: at most 1e300."""
        return float(np.exp(min(self.log_e_value[-1], np.log(1e300)))) if self.num_pairs else 1.0

    @property
    def p_value(self) -> float:
        """An ordinary p-value that allows for every look: 1 over the largest e-value so far."""
        return float(np.exp(-max(0.0, self.log_e_value.max(initial=0.0))))

    def settled_at(self, alpha: float) -> int | None:
        """After how many pairs the e-value first reached 1 / alpha; None if it never did."""
        reached = np.flatnonzero(self.log_e_value >= -np.log(alpha))
        return int(reached[0]) + 1 if len(reached) else None
