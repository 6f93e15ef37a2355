"""The share of episodes that networks expect to succeed, and how sure of it one may be.

Chances by network are (seeds, members, episodes), NaN where an episode was judged by fewer.
"""

# pyright: standard
# (scipy ships no type stubs)

import math

import numpy as np
from scipy import special

from goalward.metrics.score import Interval, Score
from goalward.rollouts.endings import FloatArray

# The root mean square error of the expected share in worlds where the truth is known, measured by
# case_studies/truth: what is wrong with a model however many episodes and networks agree.
STRUCTURAL_ERROR = 0.13


def expected_share(by_network: FloatArray, level: float = 0.95) -> tuple[Score, Interval]:
    """The share of some episodes expected to succeed, (seeds, members, episodes), and how sure.

    >>> share, interval = expected_share(np.full((1, 1, 24), 0.5))
    >>> print(share, interval)
    0.500 0.242 to 0.758
    """
    share = float(one_answer(by_network).mean())
    middle, deviation = share_spread(by_network)
    limits = middle + deviation * special.ndtri(np.array([(1 - level) / 2, (1 + level) / 2]))
    return Score(share), interval_around(share, np.clip(limits, 0, 1), level)


def one_answer(by_network: FloatArray) -> FloatArray:
    """The mean over seeds and members, (seeds, members, episodes) to (episodes,)."""
    return np.nanmean(by_network, axis=(0, 1))


def share_spread(by_network: FloatArray) -> tuple[float, float]:
    """Where the true share lies: the middle and the standard deviation of a normal distribution.

    `by_network` (seeds, members, episodes) are chances by network. The variance is

        (which episodes were held out)  (sum of (p - mean)^2 + m (1 - m)) / M^2
        (which the networks saw)        mean over seeds of (K - 1) / K * sum over members of
                                        (share of the member - share of the seed)^2
        (what all of them get wrong)    STRUCTURAL_ERROR^2

    of M episodes with m = (sum of p + 1/2) / (M + 1): a few that happen to agree are not sure, so
    one imagined episode is as far from them as it can be. Each of the K members of a seed learned
    without one fold of the episodes, which makes their spread a delete-a-fold jackknife; where
    seeds have one network each, the variance over seeds takes its place.

    What lies below 0 or above 1 is 0 or 1: where all failures are final the true share is exactly
    0, which no distribution inside (0, 1) would ever hold.

    >>> middle, deviation = share_spread(np.full((1, 1, 24), 0.5))
    >>> round(middle, 3), round(deviation, 3)
    (0.5, 0.132)
    """
    chance = one_answer(by_network)
    number = len(chance)
    mean = float(chance.sum() + 0.5) / (number + 1)
    spread = float(((chance - chance.mean()) ** 2).sum()) + mean * (1 - mean)
    variance = spread / number**2 + _between_networks(by_network) + STRUCTURAL_ERROR**2
    return mean, math.sqrt(variance)


def _between_networks(by_network: FloatArray) -> float:
    """The variance of the share from one set of training episodes, or seed, to another."""
    is_there = ~np.isnan(by_network)
    by_seed = np.nanmean(by_network, axis=1)
    num_seeds, num_members = len(by_network), int(is_there.any(axis=(0, 2)).sum())
    if num_members > 1:
        # A network that an episode was not judged by says of it what the others say.
        own = np.where(is_there, by_network - by_seed[:, None], 0.0).mean(axis=-1)
        jackknife = (num_members - 1) / num_members * (own**2).sum(axis=1)
        return float(jackknife.mean())
    return float(by_seed.mean(axis=-1).var(ddof=1)) if num_seeds > 1 else 0.0


def interval_around(value: float, limits: FloatArray, level: float) -> Interval:
    """An interval that holds the value it is about."""
    low, high = limits.tolist()
    return Interval(min(low, value), max(high, value), level)
