"""The mean of given numbers under random weights: how likely it lies above a limit.

Weights are drawn evenly from all that are 0 or more and sum to 1 (Dirichlet), as in the Bayesian
bootstrap. Their mean lies above a limit exactly if sum a_i E_i > 0, where a_i is the i-th number
less the limit and the E_i are exponential. The chance of that is an integral in the complex plane,

    P = 1 / (2 pi i) * integral over s of  prod_i (1 - a_i s)^(-c_i) / s

(c_i: how often number i is there) along the upright line through the point where the integrand is
smallest on the real axis; there it falls off fastest, and the trapezoidal rule has nearly all
digits with 70 points, mostly fewer.
"""

import numpy as np

from goalward.rollouts.endings import FloatArray

# In the variable v of `above` the integrand is tame within pi / 4 of the line (beyond, the Gaussian
# that it resembles grows), so that the rule is off by exp(-pi^2 / (2 step)): 5e-15 of the result.
_STEP = 0.15
_NODES = _STEP * np.arange(70)
_NEGLIGIBLE = 1e-14
_MOST_STEPS = 60
_PRECISION = 1e-12
_HALVINGS_OF_THE_LINE = 24


def above(numbers: FloatArray, counts: FloatArray, limit: FloatArray) -> FloatArray:
    """The chance that the randomly weighted mean lies above a limit, (...) for numbers (..., n).

    `counts` (..., n) say how often each number is there, 0 or more, not necessarily whole. Chances
    up to one half have six digits and mostly twelve; of those near 1 the rest has few. Of three
    numbers 0 and one 1 the mean is Beta(1, 3), above 0.2 with the chance 0.8^3:

    >>> round(float(above(np.array([0.0, 1.0]), np.array([3.0, 1.0]), np.array(0.2))), 12)
    0.512
    """
    a = np.where(counts > 0, numbers - limit[..., np.newaxis], 0.0)
    most = a.max(axis=-1)
    # Above none or above all there is nothing to integrate; any numbers with both signs will do.
    is_decided = (most <= 0) | (a.min(axis=-1) >= 0)
    a = np.where(is_decided[..., np.newaxis], np.linspace(-1, 1, a.shape[-1]), a)
    largest = np.where(is_decided, 1.0, most)
    centre = _lowest_point(a, counts, largest)
    slope = a / (1 - a * centre[..., np.newaxis])
    width = 1 / np.sqrt((counts * slope**2).sum(axis=-1) + 1 / centre**2)
    log_centre = -(counts * np.log1p(-a * centre[..., np.newaxis])).sum(axis=-1)
    total = np.zeros(centre.shape)
    for node in _NODES:
        s = centre + 1j * width * np.sinh(node)
        log_product = -(counts * np.log(1 - a * s[..., np.newaxis])).sum(axis=-1)
        share = np.exp(log_product - log_centre) / s * (width * np.cosh(node))
        total += share.real * (0.5 if node == 0 else 1.0)
        if (np.abs(share) < _NEGLIGIBLE * np.abs(total)).all():
            break
    chance = np.exp(log_centre) * total * _STEP / np.pi
    return np.where(is_decided, np.where(most > 0, 1.0, 0.0), np.clip(chance, 0.0, 1.0))


def upper_quantile(numbers: FloatArray, counts: FloatArray, tail: float) -> FloatArray:
    """The limit above which the randomly weighted mean lies with the chance `tail`, (...).

    >>> quantile = upper_quantile(np.array([0.0, 1.0]), np.array([3.0, 1.0]), 0.512)
    >>> round(float(quantile), 12)
    0.2
    """
    there = counts > 0
    low: FloatArray = np.where(there, numbers, np.inf).min(axis=-1)
    high: FloatArray = np.where(there, numbers, -np.inf).max(axis=-1)
    # The logarithm of the chance is nearly straight. Where it crosses a chord from one end to the
    # other is the next end on its side (regula falsi); an end that stays twice counts for half as
    # much (Dowell and Jarratt 1971), so that both ends come close.
    at_low: FloatArray = np.full(low.shape, -np.log(tail))
    at_high: FloatArray = np.full(low.shape, -1.0)
    stayed: FloatArray = np.zeros(low.shape)
    middle: FloatArray = (low + high) / 2
    for _ in range(_MOST_STEPS):
        chance = above(numbers, counts, middle)
        off = np.maximum(np.log(np.maximum(chance, 1e-300)) - np.log(tail), -1.0)
        is_below = off > 0
        at_high = np.where(is_below & (stayed > 0), at_high / 2, at_high)
        at_low = np.where(~is_below & (stayed < 0), at_low / 2, at_low)
        low, at_low = np.where(is_below, middle, low), np.where(is_below, off, at_low)
        high, at_high = np.where(is_below, high, middle), np.where(is_below, at_high, off)
        stayed = np.where(is_below, 1.0, -1.0)
        is_found = (np.abs(off) < _PRECISION) | (high - low <= _PRECISION)
        if is_found.all():
            break
        chord = low + (high - low) * at_low / (at_low - at_high)
        middle = np.where(is_found, middle, chord)
    return middle


def _lowest_point(a: FloatArray, counts: FloatArray, largest: FloatArray) -> FloatArray:
    """Where the integrand is smallest between its poles 0 and 1 / largest, by halving.

    Its logarithm is convex there; nearly the lowest point will do, as every line between the poles
    has the same integral.
    """
    low, high = np.zeros(largest.shape), 1 / largest
    for _ in range(_HALVINGS_OF_THE_LINE):
        middle = (low + high) / 2
        bend = a * middle[..., np.newaxis]
        is_falling = (counts * bend / (1 - bend)).sum(axis=-1) < 1
        low, high = np.where(is_falling, middle, low), np.where(is_falling, high, middle)
    return (low + high) / 2
