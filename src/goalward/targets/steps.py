"""What a recording says about the number of steps to the goal."""

from goalward.targets.namespace import Array, arange_like, namespace


def recorded_steps(episode_ends: Array, at_goal: Array) -> tuple[Array, Array]:
    """Steps from each frame to its episode's goal, or to the last frame where there is none.

    Returns `steps` and `reached`: with `reached` the goal lies `steps` ahead; without it the
    recording only shows that it lies further off than `steps`.

    Reaching a goal is final: the goal of an episode is its first frame marked in `at_goal`, and
    every frame after it is at the goal too (0, reached). A recorder that runs on films the
    completed task, and reading those frames as "never reached again" would call it a failure.

    `episode_ends` (episodes,) holds one past the last frame of each, `at_goal` is (frames,).

    >>> import numpy as np
    >>> steps, reached = recorded_steps(np.array([4, 7]), np.array([0, 0, 1, 0, 0, 0, 0]) > 0)
    >>> steps
    array([2, 1, 0, 0, 2, 1, 0])
    >>> reached.astype(int)
    array([1, 1, 1, 1, 0, 0, 0])
    """
    xp = namespace(episode_ends)
    # One past the last frame stands behind all goals, so that a search always finds something.
    goals = xp.concatenate([xp.where(at_goal)[0], episode_ends[-1:]])
    starts = xp.concatenate([xp.zeros_like(episode_ends[:1]), episode_ends[:-1]])
    goal = goals[xp.searchsorted(goals, starts)]
    reached = goal < episode_ends
    stop = xp.where(reached, goal, episode_ends - 1)

    frame = arange_like(episode_ends, len(at_goal))
    episode = xp.searchsorted(episode_ends, frame, side="right")
    return xp.clip(stop[episode] - frame, 0, None), reached[episode]
