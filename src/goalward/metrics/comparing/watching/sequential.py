"""Comparing two success rates while rollouts come in: look after every one, stop when it is clear.

The test bets. Rollouts of the two policies are taken in pairs, the i-th of the one with the i-th
of the other or both from one initial state. If the policies are equally good, a pair that only the
second wins is as likely as one that only the first wins. Someone who starts with 1 and bets on
either of the two at fair odds then grows with no strategy: whatever the number of looks and the
reason to stop, P(the capital ever reaches 1/a) <= a (Ville 1939). The capital is the e-value.
"""

# SciPy ships no type stubs.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special

from goalward.metrics.comparing.watching.betting import Betting
from goalward.metrics.uncertainty.proportions import ConfidenceLimits
from goalward.rollouts.endings import FloatArray, IndexArray

# The mixture over bets that makes an interval is a sum over so many. Fewer would still be valid, as
# every mixture is; at 1,000 pairs 64 agree with the integral to six digits.
_BETS, _BET_WEIGHTS = np.polynomial.legendre.leggauss(64)
# Halving [0, 1] so often leaves less than nine digits show.
_HALVINGS = 32


@dataclass(frozen=True, eq=False)
class Looks(Betting):
    """What one would have seen after every pair of rollouts. Arrays have an entry per pair.

    The interval holds the difference at all looks at once with the probability
    `level`, provided that the difference stays the same while rollouts come in.
    """

    wins: IndexArray
    losses: IndexArray

    def settled_for_second(self, alpha: float) -> bool:
        """Which side the first decision was for: the one that was ahead when it was taken."""
        at = self.settled_at(alpha)
        return at is not None and bool(self.wins[at - 1] > self.losses[at - 1])

    def turned_at(self, alpha: float) -> int | None:
        """After how many pairs the e-value first reached 1 / alpha for the other side, too."""
        for_second = self.settled_for_second(alpha)
        reached = self.log_e_value >= -np.log(alpha)
        other = reached & ((self.wins > self.losses) != for_second)
        return int(other.argmax()) + 1 if other.any() else None

    def interval(self, look: int = -1) -> ConfidenceLimits:
        """The differences, second minus first, that no bet has refuted at one of the looks."""
        if not self.num_pairs:
            return ConfidenceLimits(np.array(-1.0), np.array(1.0))
        num_pairs = range(1, self.num_pairs + 1)[look]
        return difference_interval(self.wins[look], self.losses[look], num_pairs, self.level)


def looks(first: Iterable[bool], second: Iterable[bool], level: float = 0.95) -> Looks:
    """The sequential test after every pair of successes; the i-th of each make a pair.

    A rollout without a partner waits for it: the longer side's last rollouts do not count yet.

    >>> found = looks([False] * 12, [True] * 12)
    >>> found.settled_at(alpha=0.05), round(found.e_value)
    (8, 315)
    """
    sides = [np.fromiter(side, dtype=np.bool_) for side in (first, second)]
    num_pairs = min(map(len, sides))
    a, b = (side[:num_pairs] for side in sides)
    wins, losses = (np.cumsum(alone, dtype=np.int64) for alone in (b & ~a, a & ~b))
    return Looks(level, log_e_value(wins, losses), wins, losses)


def log_e_value(wins: npt.ArrayLike, losses: npt.ArrayLike) -> FloatArray:
    """Logarithm of the capital after pairs of which the second policy alone won so many.

        e = integral over q in (0, 1) of q^wins (1 - q)^losses / (1/2)^(wins + losses)

    Betting the share q on the second policy multiplies the capital by 2q or 2(1 - q); the capital
    is spread evenly over all q. Pairs that both win or both lose leave it as it is.

    >>> round(float(np.exp(log_e_value(5, 0))), 3)          # 2^5 / 6
    5.333
    """
    x, y = np.asarray(wins, dtype=np.float64), np.asarray(losses, dtype=np.float64)
    return special.betaln(x + 1, y + 1) + (x + y) * np.log(2)


def difference_interval(
    wins: npt.ArrayLike, losses: npt.ArrayLike, pairs: npt.ArrayLike, level: float = 0.95
) -> ConfidenceLimits:
    """Differences of the rates that the bets have not refuted: a confidence sequence.

    For a difference d a pair is worth D - d, where D is 1 if only the second wins, -1 if only the
    first, else 0; the capital is the mean over bets b of the product of 1 + b (D - d) (Waudby-Smith
    and Ramdas 2024), with b spread evenly over all that never lose more than everything. At d = 0
    this is `log_e_value`, so that the interval leaves 0 out exactly when that test is settled.
    Holds for all numbers of pairs at once.

    >>> [round(float(limit), 2) for limit in difference_interval(40, 10, 100)]
    [0.09, 0.49]
    """
    counts = [np.asarray(count, dtype=np.float64) for count in (wins, losses, pairs)]
    x, y, n = (count[..., np.newaxis] for count in np.broadcast_arrays(*counts))
    most = -np.log(1 - level)
    # No bet gains at the estimate; from there the logarithm of the capital, which is convex in the
    # difference, grows to either side. At -1 and 1 themselves it is never asked for.
    estimate = ((x - y) / n)[..., 0]

    def limit(outside: float) -> FloatArray:
        inner, outer = estimate, np.full(estimate.shape, outside)
        for _ in range(_HALVINGS):
            middle = (inner + outer) / 2
            at_the_end = np.abs(middle) >= 1
            tried = np.where(at_the_end, 0.0, middle)
            kept = log_capital(tried[..., np.newaxis], x, y, n)[..., 0] < most
            kept |= at_the_end
            inner, outer = np.where(kept, middle, inner), np.where(kept, outer, middle)
        return outer

    return ConfidenceLimits(limit(-1.0), limit(1.0))


def log_capital(
    difference: FloatArray, wins: FloatArray, losses: FloatArray, pairs: FloatArray
) -> FloatArray:
    """Logarithm of the capital of someone who bets against a difference in (-1, 1)."""
    d = difference[..., np.newaxis]
    # From -1 / (1 - d), which a win ruins, to 1 / (1 + d), which a loss ruins.
    largest, smallest = 1 / (1 + d), -1 / (1 - d)
    bet = smallest + (largest - smallest) * (1 + _BETS) / 2
    x, y, n = wins[..., np.newaxis], losses[..., np.newaxis], pairs[..., np.newaxis]
    capital = (
        x * np.log1p(bet * (1 - d))
        + y * np.log1p(-bet * (1 + d))
        + (n - x - y) * np.log1p(-bet * d)
    )
    top = capital.max(axis=-1, keepdims=True)
    return top[..., 0] + np.log(np.exp(capital - top) @ (_BET_WEIGHTS / 2))
