"""Monte Carlo, the paper's other baseline: the return that was recorded, one number per frame."""

import math

from goalward.targets.namespace import Array, namespace
from goalward.targets.steps import recorded_steps

# C_fail over the normaliser: the normalisers of two of the paper's three tasks are twice the
# time-out, so that a time-out's first frame has the lowest return there is, -1.
FAILURE_COST = 0.5


def monte_carlo_return(episode_ends: Array, at_goal: Array, normaliser: float) -> Array:
    """Minus the steps that followed, and minus C_fail where no success followed, in [-1, 0].

        G = -k / normaliser                    k steps before the goal
        G = -(k + C_fail) / normaliser         k steps before the last frame of another episode

    C_fail = normaliser / 2; what falls below -1 is clipped. `episode_ends` (episodes,),
    `at_goal` (frames,).

    >>> import numpy as np
    >>> monte_carlo_return(np.array([2, 4]), np.array([0, 1, 0, 0]) > 0, normaliser=10)
    array([-0.1,  0. , -0.6, -0.5])
    """
    xp = namespace(at_goal)
    steps, reached = recorded_steps(episode_ends, at_goal)
    at_stop = xp.where(reached, 0.0, -FAILURE_COST)
    return xp.clip(at_stop - steps / normaliser, -1.0, 0.0)


def steps_from_return(value: Array, normaliser: float) -> Array:
    """How many steps from success a return says the policy is; -1 and below mean never (inf).

        k = -V * normaliser,   0 <= k < normaliser

    The return of a time-out is read the same way: at its last frame it says normaliser / 2
    more steps. That is the cost of failure read as steps, not an observation, and it cannot be
    told from a success that far off; only the clipped end of the range, -1, says never.

    >>> import numpy as np
    >>> steps_from_return(np.array([0.1, -0.25, -0.5, -1.0]), normaliser=500)
    array([  0., 125., 250.,  inf])
    """
    xp = namespace(value)
    cost = xp.abs(xp.clip(value, None, 0.0))
    return xp.where(cost >= 1, math.inf, cost * normaliser)
