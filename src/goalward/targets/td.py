"""TD(0), the paper's first baseline: minus the discounted number of steps."""

from goalward.targets.liveness import steps_to_goal
from goalward.targets.namespace import Array, namespace

# C_fail over the normaliser; the paper says only "a large constant".
FAILURE_COST = 1.0


def td_target(
    next_value: Array, at_goal: Array, at_end: Array, discount: float | Array, normaliser: float
) -> Array:
    """One step costs 1, success costs nothing more, an episode without it C_fail at its end.

        V(s) = -1 / normaliser + discount * V(s')
        V(s) = 0 on a goal frame;   V(s) = -C_fail / normaliser = -1 on any other last frame

    `at_end` marks the last frame of every episode; at a goal the goal counts. Backwards from its
    -1 a time-out tends to what endless steps cost, -1 / (1 - discount) / normaliser: -4, -1 and
    -0.5 in the paper's three tasks, so that its frames lie below, at or above its end.

    >>> import numpy as np
    >>> at_goal, at_end = np.array([0, 1, 0]) > 0, np.array([0, 1, 1]) > 0
    >>> td_target(np.array([-0.5, 9.0, 9.0]), at_goal, at_end, discount=0.9, normaliser=20)
    array([-0.5,  0. , -1. ])
    """
    xp = namespace(next_value)
    value = xp.where(at_end, -FAILURE_COST, -1 / normaliser + discount * next_value)
    return xp.where(at_goal, 0.0, value)


def steps_from_td(value: Array, discount: float | Array, normaliser: float) -> Array:
    """How many steps from success a TD value says the policy is.

        V = -(1 - discount^k) / (1 - discount) / normaliser, solved for k

    However many steps, they cost less than 1 / (1 - discount) / normaliser: at and below minus
    that the value says never (inf).

    >>> import numpy as np
    >>> steps_from_td(np.array([0.1, 0.0, -0.05, -0.095, -0.6]), discount=0.9, normaliser=20)
    array([ 0.,  0.,  1.,  2., inf])
    """
    power = 1 + value * normaliser * (1 - discount)
    return steps_to_goal(1 - 2 * power, discount)
