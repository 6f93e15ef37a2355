"""How many rollouts would settle a comparison, if the rates are what they now seem to be.

They are not: estimates from few rollouts are off, and the number of rollouts goes with one over the
square of the difference. Read the answers as an order of magnitude.
"""

# SciPy ships no type stubs.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from scipy import special

from goalward.metrics.comparing.watching.sequential import log_e_value
from goalward.rollouts.endings import FloatArray, IndexArray

# Nobody runs more rollouts than this per policy for one comparison; beyond it the answer is None.
MOST_ROLLOUTS = 10_000
# With fewer of each nobody can say how many more it takes: rates of 0 and 1 are mere luck.
LEAST_ROLLOUTS = 10
# A binomial probability further from its mean than so many standard deviations is below 1e-12.
_REACH = 7.0
_HALVINGS = 48


@dataclass(frozen=True)
class UntilSettled:
    """More rollouts per policy until the sequential test is settled: in half of all cases, in 90 %.

    None means more than `MOST_ROLLOUTS`.
    """

    median: int | None
    nine_in_ten: int | None


def pairs_for_power(
    only_first: float, only_second: float, *, alpha: float = 0.05, power: float = 0.8
) -> int | None:
    """Pairs after which the exact McNemar test finds the difference with this probability.

    `only_first` and `only_second` are the shares of pairs that one policy alone wins. Exact: the
    number of such pairs is binomial, and given it the test's own distribution is known.

    >>> pairs_for_power(0.1, 0.25)
    129
    """
    discordant = only_first + only_second
    if only_first == only_second:
        return None
    share = only_second / discordant
    most_losses = _most_losses(alpha)

    def found(num_pairs: int) -> float:
        reach = _REACH * np.sqrt(num_pairs * discordant * (1 - discordant)) + _REACH
        low = max(0, int(num_pairs * discordant - reach))
        high = min(num_pairs, int(num_pairs * discordant + reach) + 1)
        count = np.arange(low, high + 1)
        most = most_losses[count]
        rejected = sum(
            np.where(most >= 0, special.bdtr(np.maximum(most, 0), count, chance), 0.0)
            for chance in (share, 1 - share)
        )
        return float((_binomial(count, num_pairs, discordant) * rejected).sum())

    return _fewest(found, power, _fleiss(only_first, only_second, alpha, power))


@lru_cache(maxsize=8)
def _most_losses(alpha: float) -> IndexArray:
    """Of so many pairs, the most losses at which the two-sided test rejects; -1 for none."""
    count = np.arange(MOST_ROLLOUTS + 1)
    # A little too low at first, then up as long as the test rejects.
    most = np.floor(count / 2 - special.ndtri(1 - alpha / 2) * np.sqrt(count) / 2 - 2)
    most = np.maximum(most, -1).astype(np.int64)
    for _ in range(8):
        further = most + 1
        most += (further <= count) & (special.bdtr(further, count, 0.5) <= alpha / 2)
    return most


def rollouts_for_power(
    first_rates: npt.ArrayLike,
    second_rates: npt.ArrayLike,
    task_shares: npt.ArrayLike,
    *,
    alpha: float = 0.05,
    power: float = 0.8,
) -> int | None:
    """Rollouts per policy after which the test finds the difference with this probability.

    Rates and shares of the rollouts are by task. With a normal distribution of the
    Cochran-Mantel-Haenszel statistic, corrected for continuity where there are several tasks (it
    then follows the conditional exact test) and not for one (it then follows Boschloo's). For n
    rollouts with n d / 2 more successes than half and variances n v, that is the n at which

        n d / 2 - correction = z_alpha sqrt(n v_equal) + z_power sqrt(n v)         (Fleiss 1981)

    >>> rollouts_for_power([0.6], [0.8], [1.0])
    82
    """
    first, second, shares = (
        np.asarray(values, dtype=np.float64) for values in (first_rates, second_rates, task_shares)
    )
    excess = abs(float((shares * (second - first)).sum())) / 2
    if excess == 0:
        return None
    together = (first + second) / 2
    equal = float((shares * together * (1 - together)).sum()) / 2
    apart = float((shares * (first * (1 - first) + second * (1 - second))).sum()) / 4
    correction = 0.5 if len(shares) > 1 else 0.0
    size = _where_it_shows(excess, correction, equal, apart, alpha, power)
    return size if size <= MOST_ROLLOUTS else None


def until_settled(
    only_first: float,
    only_second: float,
    *,
    wins: int = 0,
    losses: int = 0,
    alpha: float = 0.05,
) -> UntilSettled:
    """More pairs until the sequential test is settled, going on from the wins and losses so far.

    From the shares of pairs that one policy alone wins: the lead of the better one drifts and
    spreads like a Brownian motion; for each number of pairs, the chance that it has passed by then
    the line that touches the wanted leads there (Siegmund 1985, eq. 3.15). Within a fifth of what
    simulations give, in a millisecond. As the test may be looked at after every rollout, going on
    with it is always allowed; going on with the others is not.

    >>> until_settled(0.1, 0.4)
    UntilSettled(median=37, nine_in_ten=87)
    """
    discordant = only_first + only_second
    if only_first == only_second:
        return UntilSettled(None, None)
    if float(log_e_value(wins, losses)) >= -np.log(alpha):
        return UntilSettled(0, 0)
    drift = abs(only_second - only_first)
    spread = np.sqrt(max(discordant - drift**2, 1e-12))
    lead = (wins - losses) * (1 if only_second > only_first else -1)
    pairs = np.arange(1, MOST_ROLLOUTS + 1)
    if drift * MOST_ROLLOUTS < 1:
        return UntilSettled(None, None)
    count, leads = _wanted_leads(alpha)
    so_far = wins + losses + pairs * discordant
    wanted = np.interp(so_far, count, leads) - lead
    slope = np.interp(so_far, count, np.gradient(leads, count)) * discordant
    start = np.maximum(wanted - slope * pairs, 0.0)
    scale = spread * np.sqrt(pairs)
    reached = special.ndtr((drift * pairs - wanted) / scale)
    # exp(...) * ndtr(...) by logarithms: one may run over where the other vanishes.
    log_back = 2 * (drift - slope) * start / spread**2
    log_back += special.log_ndtr(-((drift - slope) * pairs + start) / scale)
    chance = np.maximum.accumulate(reached + np.exp(np.minimum(log_back, 0.0)))
    median, nine_in_ten = (np.searchsorted(chance, share) + 1 for share in (0.5, 0.9))
    return UntilSettled(_at_most(int(median)), _at_most(int(nine_in_ten)))


@lru_cache(maxsize=8)
def _wanted_leads(alpha: float) -> tuple[FloatArray, FloatArray]:
    """Numbers of pairs that one policy alone wins, and the lead that settles it after so many."""
    count = np.unique(np.geomspace(1, 4 * MOST_ROLLOUTS, 2_000).round())
    low, high = np.zeros(len(count)), count + 1.0
    for _ in range(_HALVINGS):
        lead = (low + high) / 2
        inside = np.minimum(lead, count)
        settled = log_e_value((count + inside) / 2, (count - inside) / 2) >= -np.log(alpha)
        settled |= lead >= count
        low, high = np.where(settled, low, lead), np.where(settled, lead, high)
    # Where even all of them are too few: as many as the first that are enough.
    enough = log_e_value(count, 0) >= -np.log(alpha)
    return count, np.where(enough, high, count[enough][0])


def _at_most(number: int) -> int | None:
    return number if number <= MOST_ROLLOUTS else None


def _fleiss(only_first: float, only_second: float, alpha: float, power: float) -> int:
    """Pairs by a normal distribution, corrected for continuity: near what the exact test needs."""
    difference, discordant = abs(only_second - only_first), only_first + only_second
    return _where_it_shows(
        difference, 1.0, discordant, max(discordant - difference**2, 0.0), alpha, power
    )


def _where_it_shows(
    excess: float, correction: float, equal: float, apart: float, alpha: float, power: float
) -> int:
    """The n with n excess - correction = z_alpha sqrt(n equal) + z_power sqrt(n apart)."""
    root = special.ndtri(1 - alpha / 2) * np.sqrt(equal) + special.ndtri(power) * np.sqrt(apart)
    root = float(root + np.sqrt(root**2 + 4 * excess * correction)) / (2 * excess)
    return max(1, int(min(np.ceil(root**2), 10.0 * MOST_ROLLOUTS)))


def _binomial(count: IndexArray, total: int, chance: float) -> FloatArray:
    log_choices = (
        special.gammaln(total + 1) - special.gammaln(count + 1) - special.gammaln(total - count + 1)
    )
    return np.exp(
        log_choices + special.xlogy(count, chance) + special.xlog1py(total - count, -chance)
    )


def _fewest(found: Callable[[int], float], power: float, guess: int) -> int | None:
    """The smallest number with that power, up to the ripple that discrete tests have."""
    low, high = max(min(guess, MOST_ROLLOUTS) * 3 // 4, 1), min(guess + 2, MOST_ROLLOUTS)
    while found(high) < power:
        if high >= MOST_ROLLOUTS:
            return None
        low, high = high, min(high + high // 4 + 1, MOST_ROLLOUTS)
    while low > 1 and found(low) >= power:
        low, high = low * 3 // 4, low
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if found(middle) >= power else (middle, high)
    return high
