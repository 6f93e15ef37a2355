"""The number of steps to success as a random variable K, of which a time-out saw only a part.

Steps are cut into bins by `edges` e_0 = 0 < e_1 < ... < e_B: bin b holds e_b <= K < e_(b+1). Within
a bin every step has the same hazard, the chance of success now if it has not come before:

    q_b = P(K = k | K >= k) = sigmoid(logit_b - log(width_b))

so that a network that says 0 expects about one success per bin, however wide. Mass beyond e_B is
never: K = inf, value 1. `edges` are floats of the kind and precision of what they meet; bins are
the last axis of the logits.
"""

import numpy as np
import numpy.typing as npt

from goalward.targets.namespace import Array, namespace


def geometric_edges(max_steps: int, num_bins: int) -> npt.NDArray[np.float64]:
    """Bin edges that widen with distance: a step matters near the goal, and little far away.

    The first bin holds K = 0 alone, the last ends at `max_steps`; edges are whole numbers.

    >>> geometric_edges(max_steps=250, num_bins=8)
    array([  0.,   1.,   2.,   5.,  11.,  23.,  52., 114., 250.])
    """
    if not 1 <= num_bins <= max_steps:
        raise ValueError(f"{max_steps} steps do not make {num_bins} bins")
    # Where the geometric spacing falls below one step, take every step.
    spaced = np.floor(np.geomspace(1, max_steps, num_bins) + 0.5)
    return np.concatenate([[0.0], np.maximum(spaced, np.arange(1, num_bins + 1))])


def hazard_targets(steps: Array, reached: Array, edges: Array) -> tuple[Array, Array]:
    """What was seen of each bin: steps that passed without success, and whether it came (0 or 1).

    Reached: K = steps. Not reached: the clock ran out and K > steps is all that is known. A
    failure never succeeds: steps = inf, not reached. (...) becomes two arrays (..., bins).

    >>> edges = np.array([0.0, 1.0, 3.0, 7.0])
    >>> passed, succeeded = hazard_targets(np.array([4, 4]), np.array([True, False]), edges)
    >>> passed
    array([[1., 2., 1.],
           [1., 2., 2.]])
    >>> succeeded
    array([[0., 0., 1.],
           [0., 0., 0.]])
    """
    xp = namespace(steps)
    steps, reached = xp.asarray(steps, dtype=edges.dtype)[..., None], reached[..., None]
    passed = _steps_in_bins(xp.where(reached, steps, steps + 1), edges)
    succeeded = reached & (edges[:-1] <= steps) & (steps < edges[1:])
    return passed, xp.asarray(succeeded, dtype=edges.dtype)


def hazard_loss(logits: Array, steps: Array, reached: Array, edges: Array) -> Array:
    """Minus the log-likelihood of what was seen, per frame.

        success after K steps:    -log P(K)        = -log q(K) - sum over k < K of log(1 - q(k))
        time-out after c steps:   -log P(K > c)    = -sum over k <= c of log(1 - q(k))

    Least over many frames where q is the number of successes over the number of steps that were
    tried. Success is placed by its step, not only by its bin: a likelihood of bins alone is
    biased where clocks stop inside them. (..., bins) and (...) become (...).

    >>> loss = hazard_loss(
    ...     np.zeros((1, 3)), np.array([1]), np.array([True]), np.array([0.0, 1.0, 2.0, 3.0])
    ... )
    >>> loss / np.log(2)
    array([2.])
    """
    passed, succeeded = hazard_targets(steps, reached, edges)
    log_hazard, log_pass = _log_hazard_and_pass(logits, edges)
    return -namespace(logits).sum(passed * log_pass + succeeded * log_hazard, -1)


def soft_hazard_loss(logits: Array, targets: Array, edges: Array) -> Array:
    """The same on average over what may be seen: steps passed and chance of success per bin.

    `targets` (..., 2 * bins), as `lambda_hazard_targets` and `seen_of_bins` give them: least where
    the predicted distribution is the one they were drawn from. (..., bins) becomes (...).

    >>> edges, targets = np.array([0.0, 1.0, 2.0]), np.array([[1.0, 0.5, 0.0, 0.5]])
    >>> soft_hazard_loss(np.zeros((1, 2)), targets, edges) / np.log(2)
    array([2.])
    """
    num_bins = logits.shape[-1]
    log_hazard, log_pass = _log_hazard_and_pass(logits, edges)
    seen = targets[..., :num_bins] * log_pass + targets[..., num_bins:] * log_hazard
    return -namespace(logits).sum(seen, -1)


def seen_of_bins(steps: Array, reached: Array, edges: Array) -> Array:
    """What was seen of one future as `soft_hazard_loss` takes it: (...) becomes (..., 2 * bins).

    >>> seen_of_bins(np.array([1]), np.array([True]), np.array([0.0, 1.0, 3.0]))
    array([[1., 0., 0., 1.]])
    """
    return namespace(edges).concatenate(hazard_targets(steps, reached, edges), -1)


def chance_by_bin(logits: Array, edges: Array) -> Array:
    """P(K < end of each bin): (..., bins) becomes (..., bins), never falling.

    >>> chance_by_bin(np.zeros((1, 2)), np.array([0.0, 1.0, 2.0]))
    array([[0.5 , 0.75]])
    """
    xp = namespace(logits)
    _, log_pass = _log_hazard_and_pass(logits, edges)
    return 1 - xp.exp(xp.cumsum((edges[1:] - edges[:-1]) * log_pass, -1))


def success_probability(logits: Array, edges: Array, num_steps: float | Array) -> Array:
    """How likely success is within a number of steps: P(K <= num_steps).

    `num_steps` broadcasts against the leading axes. (..., bins) becomes (...).

    >>> edges = np.array([0.0, 1.0, 2.0])
    >>> success_probability(np.array([-99.0, 0.0]), edges, np.array([0.0, 1.0, 9.0]))
    array([0. , 0.5, 0.5])
    """
    xp = namespace(logits)
    steps = num_steps if isinstance(num_steps, int | float) else num_steps[..., None]
    _, log_pass = _log_hazard_and_pass(logits, edges)
    return 1 - xp.exp(xp.sum(_steps_in_bins(steps + 1, edges) * log_pass, -1))


def survival_value(logits: Array, edges: Array, discount: float | Array) -> Array:
    """The liveness value on average over K: never counts 1, a goal here counts -1.

        E[1 - 2 * discount^K] = 1 - 2 * sum over bins of P(K >= e) * discount^e * D
        D = q * (1 - r^width) / (1 - r),   r = discount * (1 - q)

    D is the discounted chance of success inside a bin, a geometric series. Not the value of the
    mean K: discount^K is convex, and one long tail does not outweigh many quick successes.
    (..., bins) becomes (...).

    >>> survival_value(np.array([[-99.0, 0.0]]), np.array([0.0, 1.0, 2.0]), discount=0.9)
    array([0.1])
    """
    xp = namespace(logits)
    width = edges[1:] - edges[:-1]
    log_hazard, log_pass = _log_hazard_and_pass(logits, edges)
    log_pass_bin = width * log_pass
    before = xp.concatenate([xp.zeros_like(log_pass[..., :1]), log_pass_bin[..., :-1]], -1)
    reach_bin = xp.exp(xp.cumsum(before, -1))
    series = (1 - discount**width * xp.exp(log_pass_bin)) / (1 - discount * xp.exp(log_pass))
    return 1 - 2 * xp.sum(reach_bin * discount ** edges[:-1] * xp.exp(log_hazard) * series, -1)


def _steps_in_bins(steps: float | Array, edges: Array) -> Array:
    """How many of the first `steps` (..., 1) steps lie in each bin."""
    xp = namespace(edges)
    return xp.minimum(xp.clip(steps - edges[:-1], 0.0, None), edges[1:] - edges[:-1])


def _log_hazard_and_pass(logits: Array, edges: Array) -> tuple[Array, Array]:
    """log q and log(1 - q) of a step in each bin."""
    xp = namespace(logits)
    logits = logits - xp.log(edges[1:] - edges[:-1])
    zero = xp.zeros_like(logits)
    return -xp.logaddexp(-logits, zero), -xp.logaddexp(logits, zero)
