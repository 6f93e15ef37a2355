"""Values that need no network: the fixed points of the backups on recorded episodes."""

from goalward.targets import td
from goalward.targets.namespace import Array, namespace
from goalward.targets.steps import recorded_steps


def exact_liveness(
    target_function: Array, episode_ends: Array, at_goal: Array, discount: float | Array
) -> Array:
    """The liveness value each frame would have if frames shared nothing: the fixed point.

        V(s_t) = min over j >= t of 1 - discount^(j - t + 1) * (1 - l(s_j)),  -1 at the goal

    j runs to the goal, or to the last frame where V(s') = 1. From the first goal on every frame
    is worth -1 (see `recorded_steps`); the target function is not read there. With the sparse
    target function this is the anchor value, with the anchor values it is the bootstrapped one.

    How an episode without success ended makes no difference here. As l <= 1, the last frame is
    worth (1 - discount) + discount * l(s) whether V(s') is 1 (a failure, or a time-out taken as
    terminal) or l(s) (a time-out left open): only a network that generalises sees the option.

    `target_function` (..., frames) may lead with runs; `episode_ends` (episodes,), `at_goal`
    (frames,). The doubling scan takes log2(longest episode) passes over all frames and only
    ever multiplies by powers of the discount below 1, so that long episodes keep their digits.

    >>> import numpy as np
    >>> at_goal = np.array([0, 0, 1, 0, 0]) > 0
    >>> exact_liveness(np.array([1.0, 1, -1, 1, 0]), np.array([3, 5]), at_goal, 0.9)
    array([-0.62, -0.8 , -1.  ,  0.19,  0.1 ])
    """
    xp = namespace(target_function)
    steps, reached = recorded_steps(episode_ends, at_goal)
    # In worth = 1 - V the backup is worth = discount * max(1 - l(s), worth'), and 0 is "never".
    worth = discount * (1 - xp.clip(target_function, None, 1.0))
    worth = xp.where(reached & (steps == 0), 2.0, worth)
    longest = int(steps.max()) if len(steps) else 0
    stride = 1
    while stride <= longest:
        # `worth` looks at `stride` frames by now; those beyond the goal or the end do not count.
        inside = xp.asarray(steps[:-stride] >= stride, dtype=worth.dtype)
        later = discount**stride * inside * worth[..., stride:]
        worth[..., :-stride] = xp.maximum(worth[..., :-stride], later)
        stride *= 2
    return 1 - worth


def exact_td(
    episode_ends: Array, at_goal: Array, discount: float | Array, normaliser: float
) -> Array:
    """The TD value each frame would have if frames shared nothing: the fixed point.

        V = -(1 - discount^k) / (1 - discount) / normaliser - [no goal] * discount^k * C_fail

    k steps before the goal or the last frame, C_fail over the normaliser as in `td`.

    >>> import numpy as np
    >>> exact_td(np.array([3, 5]), np.array([0, 0, 1, 0, 0]) > 0, discount=0.9, normaliser=20)
    array([-0.095, -0.05 ,  0.   , -0.95 , -1.   ])
    """
    xp = namespace(at_goal)
    steps, reached = recorded_steps(episode_ends, at_goal)
    power = discount**steps
    at_stop = xp.where(reached, 0.0, -td.FAILURE_COST)
    return (power - 1) / ((1 - discount) * normaliser) + power * at_stop
