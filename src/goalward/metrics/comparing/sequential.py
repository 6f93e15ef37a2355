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

from goalward.metrics.uncertainty.proportions import ConfidenceLimits
from goalward.rollouts.endings import FloatArray, IndexArray

# The mixture over bets that makes an interval is a sum over so many. Fewer would still be valid, as
# every mixture is; at 1,000 pairs 64 agree with the integral to six digits.
_BETS, _BET_WEIGHTS = np.polynomial.legendre.leggauss(64)
_GRID_STEP = 0.005
_HALVINGS = 30


@dataclass(frozen=True)
class Looks:
    """What one would have seen after every pair of rollouts. Arrays have an entry per pair.

    The interval holds the difference at all looks at once with the probability
    `level`, provided that the difference stays the same while rollouts come in.
    """

    level: float
    wins: IndexArray
    losses: IndexArray
    log_e_value: FloatArray

    @property
    def num_pairs(self) -> int:
        return len(self.wins)

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
    pairs = np.array(list(zip(first, second, strict=False)), dtype=bool).reshape(-1, 2)
    wins = np.cumsum(pairs[:, 1] & ~pairs[:, 0], dtype=np.int64)
    losses = np.cumsum(pairs[:, 0] & ~pairs[:, 1], dtype=np.int64)
    return Looks(level, wins, losses, log_e_value(wins, losses))


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
    grid = np.linspace(-1, 1, round(2 / _GRID_STEP) + 1)[1:-1]
    most = -np.log(1 - level)
    kept = log_capital(grid, x, y, n) < most
    # The estimate is always kept: no bet gains there. It stands in where the grid is too coarse.
    estimate = ((x - y) / n)[..., 0]
    position = np.arange(len(grid))
    first = np.where(kept, position, len(grid)).min(axis=-1)
    last = np.where(kept, position, -1).max(axis=-1)
    inner_low = np.where(first < len(grid), grid[np.minimum(first, len(grid) - 1)], estimate)
    inner_high = np.where(last >= 0, grid[last], estimate)

    def limit(inside: FloatArray, outside: FloatArray) -> FloatArray:
        for _ in range(_HALVINGS):
            middle = (inside + outside) / 2
            inner = log_capital(middle[..., np.newaxis], x, y, n)[..., 0] < most
            inside, outside = np.where(inner, middle, inside), np.where(inner, outside, middle)
        return outside

    lower = limit(inner_low, np.maximum(np.minimum(inner_low, estimate) - _GRID_STEP, -1.0))
    upper = limit(inner_high, np.minimum(np.maximum(inner_high, estimate) + _GRID_STEP, 1.0))
    return ConfidenceLimits(lower, upper)


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
