"""The discounted liveness value: how far a frame is from success, between -1 and 1."""

import math

from goalward.targets.namespace import Array, namespace


def sparse_target_function(at_goal: Array) -> Array:
    """What is known of a frame by itself: is the task complete here?

        l(s) = -1 on a goal frame, +1 elsewhere                                   (paper, eq. 8)

    >>> import numpy as np
    >>> sparse_target_function(np.array([False, False, True]))
    array([ 1.,  1., -1.])
    """
    return namespace(at_goal).where(at_goal, -1.0, 1.0)


def liveness_backup(target_function: Array, next_value: Array, discount: float | Array) -> Array:
    """Worth of a frame: as good as itself or as what follows, one step later.

        V(s) = (1 - discount) + discount * min(l(s), V(s'))                       (paper, eq. 7)

    A goal frame is not backed up: its value is -1 by definition, not 1 - 2 * discount
    (`liveness_target` sees to it).

    >>> import numpy as np
    >>> liveness_backup(np.array([1.0]), np.array([-1.0]), 0.9)
    array([-0.8])
    """
    xp = namespace(next_value)
    return (1 - discount) + discount * xp.minimum(target_function, next_value)


def liveness_target(
    target_function: Array,
    next_value: Array,
    at_goal: Array,
    at_end: Array,
    discount: float | Array,
) -> Array:
    """What a value network regresses to: the backup, and the two frames that have none.

        V(s) = -1 on a goal frame;   V(s') = 1 after the last frame of an episode

    `at_goal` marks the goal and what was recorded after it, `at_end` the last frame of every
    episode; what `next_value` holds on either is not read. A time-out left open has no target
    at all: its last frame is to be left out of the loss, not given another number here.

    >>> import numpy as np
    >>> one, at_goal, at_end = np.ones(3), np.array([0, 1, 0]) > 0, np.array([0, 1, 1]) > 0
    >>> liveness_target(one, np.array([-1.0, 0.3, 0.3]), at_goal, at_end, discount=0.9)
    array([-0.8, -1. ,  1. ])
    """
    xp = namespace(next_value)
    value = liveness_backup(target_function, xp.where(at_end, 1.0, next_value), discount)
    return xp.where(at_goal, -1.0, value)


def liveness_value(steps: Array, discount: float | Array) -> Array:
    """The value a fixed number of steps before a goal; never (inf) is worth 1.

        V = 1 - 2 * discount^steps                                                (paper, eq. 9)

    >>> import numpy as np
    >>> liveness_value(np.array([0.0, 1.0, 2.0, np.inf]), 0.9)
    array([-1.  , -0.8 , -0.62,  1.  ])
    """
    return 1 - 2 * discount**steps


def discounted_goal(value: Array) -> Array:
    """What a goal so far away counts for: discount^steps, 1 at the goal and 0 for never.

        discount^steps = (1 - V) / 2

    >>> import numpy as np
    >>> discounted_goal(np.array([-1.0, -0.8, 1.0]))
    array([1. , 0.9, 0. ])
    """
    return (1 - value) / 2


def steps_to_goal(value: Array, discount: float | Array) -> Array:
    """How many steps from success a value says the policy is; 1 and above mean never (inf).

        k = log((1 - V) / 2) / log(discount),   V clipped into [-1, 1]

    Far from the goal the value runs out of digits: beyond about 17 / (1 - discount) steps
    float32 cannot tell them from never (2,400 at 0.993), float64 beyond 37 / (1 - discount).

    >>> import numpy as np
    >>> steps_to_goal(np.array([-1.2, -1.0, -0.62, 1.0]), 0.9)
    array([ 0.,  0.,  2., inf])
    """
    xp = namespace(value)
    power = discounted_goal(xp.clip(value, -1.0, 1.0))
    never = power == 0
    log_discount = math.log(discount) if isinstance(discount, float) else xp.log(discount)
    # Both logarithms are negative or zero; abs keeps a goal at 0 rather than -0.
    steps = xp.abs(xp.log(xp.where(never, 1.0, power)) / log_discount)
    return xp.where(never, math.inf, steps)
