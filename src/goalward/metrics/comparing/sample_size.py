"""How many rollouts would settle a comparison, if the rates are what they now seem to be.

They are not: estimates from few rollouts are off, and the number of rollouts goes with one over the
square of the difference. Read the answers as an order of magnitude.
"""

# SciPy ships no type stubs.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats

from goalward.metrics.comparing.sequential import log_e_value
from goalward.seeds import generator

# Nobody runs more rollouts than this per policy for one comparison; beyond it the answer is None.
MOST_ROLLOUTS = 10_000
_NUM_SIMULATIONS = 4_000
_NUM_PATHS = 1_000


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

    def found(num_pairs: int) -> float:
        num_discordant = np.arange(num_pairs + 1)
        # The most losses (and the fewest wins) at which the two-sided test still rejects.
        most = stats.binom.ppf(alpha / 2, num_discordant, 0.5)
        most = most - (stats.binom.cdf(most, num_discordant, 0.5) > alpha / 2)
        share = only_second / discordant
        rejected = stats.binom.cdf(most, num_discordant, share)
        rejected += stats.binom.cdf(most, num_discordant, 1 - share)
        return float((stats.binom.pmf(num_discordant, num_pairs, discordant) * rejected).sum())

    return _fewest(found, power)


def rollouts_for_power(
    first_rates: npt.ArrayLike,
    second_rates: npt.ArrayLike,
    task_shares: npt.ArrayLike,
    *,
    alpha: float = 0.05,
    power: float = 0.8,
) -> int | None:
    """Rollouts per policy after which the test finds the difference with this probability.

    Rates and shares of the rollouts are by task. Simulated, with a stand-in for the exact tests
    that takes no time: the Cochran-Mantel-Haenszel statistic, with the continuity correction where
    there are several tasks (it then follows the conditional exact test) and without for one (it
    then follows Boschloo's).

    >>> 75 < rollouts_for_power([0.6], [0.8], [1.0]) < 95
    True
    """
    rates = [np.asarray(rate, dtype=np.float64) for rate in (first_rates, second_rates)]
    shares = np.asarray(task_shares, dtype=np.float64)
    if float((shares * (rates[1] - rates[0])).sum()) == 0:
        return None
    threshold = float(stats.norm.isf(alpha / 2))
    correction = 0.5 if len(shares) > 1 else 0.0

    def found(num_rollouts: int) -> float:
        totals = np.maximum(np.round(shares * num_rollouts), 1).astype(np.int64)
        draw = generator(0, "sample size", num_rollouts)
        first, second = (
            draw.binomial(totals, rate, (_NUM_SIMULATIONS, len(shares))) for rate in rates
        )
        together = first + second
        excess = np.abs((second - together / 2).sum(axis=1)) - correction
        variance = (together * (2 * totals - together) / (4 * (2 * totals - 1))).sum(axis=1)
        return float((excess > threshold * np.sqrt(variance)).mean())

    return _fewest(found, power)


def until_settled(
    only_first: float,
    only_second: float,
    *,
    wins: int = 0,
    losses: int = 0,
    alpha: float = 0.05,
) -> UntilSettled:
    """More pairs until the sequential test is settled, going on from the wins and losses so far.

    Simulated from the shares of pairs that one policy alone wins. As the test may be looked at
    after every rollout, going on with it is always allowed; going on with the others is not.
    """
    discordant = only_first + only_second
    if only_first == only_second:
        return UntilSettled(None, None)
    threshold = -np.log(alpha)
    if float(log_e_value(wins, losses)) >= threshold:
        return UntilSettled(0, 0)
    # Only pairs that one policy alone wins move the test; the others are put in between afterwards.
    most = int(np.ceil(MOST_ROLLOUTS * discordant * 1.1)) + 10
    draw = generator(0, "until settled")
    num_discordant = np.full(_NUM_PATHS, np.inf)
    ahead = np.zeros(_NUM_PATHS, dtype=np.int64)
    taken, chunk = 0, 64
    while taken < most and np.isinf(num_discordant).mean() > 0.05:
        won = draw.random((_NUM_PATHS, chunk)) < only_second / discordant
        so_far = ahead[:, np.newaxis] + np.cumsum(won, axis=1)
        seen = taken + np.arange(1, chunk + 1)
        reached = log_e_value(wins + so_far, losses + seen - so_far) >= threshold
        first = np.where(reached.any(axis=1), taken + 1 + reached.argmax(axis=1), np.inf)
        num_discordant = np.minimum(num_discordant, first)
        ahead, taken, chunk = so_far[:, -1], taken + chunk, min(2 * chunk, 1024)
    settled = np.isfinite(num_discordant)
    num_pairs = np.full(_NUM_PATHS, np.inf)
    stops = num_discordant[settled].astype(np.int64)
    num_pairs[settled] = stops + draw.negative_binomial(stops, discordant)
    # An order statistic, not an interpolation: between a number and inf there is nothing.
    ordered = np.sort(num_pairs)
    median, nine_in_ten = (ordered[int(share * _NUM_PATHS) - 1] for share in (0.5, 0.9))
    return UntilSettled(_at_most(float(median)), _at_most(float(nine_in_ten)))


def _at_most(number: float) -> int | None:
    return int(number) if number <= MOST_ROLLOUTS else None


def _fewest(found: Callable[[int], float], power: float) -> int | None:
    """The smallest number with that power, up to the ripple that discrete tests have."""
    high = 4
    while found(high) < power:
        if high >= MOST_ROLLOUTS:
            return None
        high = min(2 * high, MOST_ROLLOUTS)
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if found(middle) >= power else (middle, high)
    return high
