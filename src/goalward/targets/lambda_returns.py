"""Lambda-returns: what a recording says of a frame, read through the values of later frames.

A recording is one future of a frame. Taken alone (lambda 1) it is Monte Carlo: right on average,
and as noisy as luck is. The value of the next frame alone (lambda 0) is as wrong as that value.
Between them, with weights that fall by lambda per step, lies what either could not know.

Built once for all frames, not per batch: numpy alone.

A time-out ends with its clock *open*: its last frame is worth what the values say of it, nothing
more is known. A failure is worth never, and a goal is a goal.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.floating[Any]]
BoolArray = npt.NDArray[np.bool_]
IndexArray = npt.NDArray[np.int64]

# A chance of 1 has no logarithm of what is left.
_LEAST_LEFT = 1e-9


def lambda_return(
    power: FloatArray,
    episode_ends: IndexArray,
    goal_frames: IndexArray,
    failed: BoolArray,
    discount: float,
    decay: float,
) -> FloatArray:
    """What a goal counts for from here, given how the episode went on.

        G(s) = discount * ((1 - decay) * W(s') + decay * G(s'))
        G = 1 at a goal and after it;   0 at the end of a failure;   W where the clock ran out

    `power` (..., frames) is W = E[discount^K] of every frame, K the steps to success; `decay` is
    lambda. Per episode: `episode_ends` is one past its last frame, `goal_frames` its goal counted
    from its first frame or -1, `failed` whether the goal can no longer follow.

    >>> import numpy as np
    >>> ends, goals, failed = np.array([3, 6]), np.array([2, -1]), np.array([False, False])
    >>> returns = lambda_return(np.full(6, 0.5), ends, goals, failed, discount=0.8, decay=0.5)
    >>> returns.round(3).tolist()
    [0.52, 0.8, 1.0, 0.36, 0.4, 0.5]
    """
    first, stop = _first_and_stop(episode_ends, goal_frames)
    at_stop = np.where(goal_frames >= 0, 1.0, np.where(failed, 0.0, power[..., stop]))
    known = _with_ends(power, stop, at_stop, episode_ends, goal_frames)
    result = _with_ends(power, stop, at_stop, episode_ends, goal_frames)
    longest = int((stop - first).max())
    for back in range(1, longest + 1):
        here = (stop - back)[stop - back >= first]
        following = (1 - decay) * known[..., here + 1] + decay * result[..., here + 1]
        result[..., here] = discount * following
    return result


def _first_and_stop(
    episode_ends: IndexArray, goal_frames: IndexArray
) -> tuple[IndexArray, IndexArray]:
    """The first frame of every episode, and the frame of its goal or else its last."""
    first = np.concatenate([np.zeros_like(episode_ends[:1]), episode_ends[:-1]])
    return first, np.where(goal_frames >= 0, first + goal_frames, episode_ends - 1)


def _with_ends(
    power: FloatArray,
    stop: IndexArray,
    at_stop: FloatArray,
    episode_ends: IndexArray,
    goal_frames: IndexArray,
) -> FloatArray:
    """A copy with what is known where episodes stop, and 1 on what was filmed after a goal."""
    known = np.where(_after_goal(stop, episode_ends, goal_frames, power.shape[-1]), 1.0, power)
    known[..., stop] = at_stop
    return known


def _after_goal(
    stop: IndexArray, episode_ends: IndexArray, goal_frames: IndexArray, num_frames: int
) -> BoolArray:
    frame = np.arange(num_frames)
    episode = np.searchsorted(episode_ends, frame, side="right")
    return (goal_frames[episode] >= 0) & (frame > stop[episode])


def lambda_hazard_targets(
    within: FloatArray,
    episode_ends: IndexArray,
    goal_frames: IndexArray,
    failed: BoolArray,
    edges: FloatArray,
    decay: float,
) -> FloatArray:
    """The same for the whole distribution of steps: what was seen of each bin, on average.

        P(K <= n) here is P(K <= n - 1) one frame later, so
        G_n(s) = (1 - decay) * F_(n-1)(s') + decay * G_(n-1)(s')

    with F predicted and G = 1 for every n at a goal, 0 at the end of a failure, F itself where the
    clock ran out (temporally consistent survival regression, Maystre and Russo 2022). `within`
    (frames, bins) is F at the end of every bin, P(K < edges[b + 1]); between edges it is read with
    one hazard per bin, and G is carried along step by step, so that bins smear nothing. Returns
    (frames, 2 * bins): expected steps without success in each bin, then the chance of success
    there; `soft_hazard_loss` takes them.

    >>> import numpy as np
    >>> edges = np.array([0.0, 1.0, 2.0, 4.0])
    >>> ends, goals, failed = np.array([3]), np.array([2]), np.array([False])
    >>> lambda_hazard_targets(np.zeros((3, 3)), ends, goals, failed, edges, decay=1.0)
    array([[1., 1., 0., 0., 0., 1.],
           [1., 0., 0., 0., 1., 0.],
           [0., 0., 0., 1., 0., 0.]])
    """
    first, stop = _first_and_stop(episode_ends, goal_frames)
    num_frames, num_bins = within.shape
    result = np.zeros((num_frames, 2 * num_bins), dtype=within.dtype)
    # Every episode is at its stop, then all go back a step at a time.
    seen = _by_step(within[stop], edges)
    seen[goal_frames >= 0] = 1.0
    seen[failed & (goal_frames < 0)] = 0.0
    at_goal = _binned(np.ones_like(seen[:1]), edges)
    result[_after_goal(stop, episode_ends, goal_frames, num_frames)] = at_goal
    result[stop] = _binned(seen, edges)
    following = seen
    for back in range(1, int((stop - first).max()) + 1):
        going = stop - back >= first
        first, stop, following, seen = first[going], stop[going], following[going], seen[going]
        here = stop - back
        if back > 1:
            following = _by_step(within[here + 1], edges)
        mixed = (1 - decay) * following + decay * seen
        seen = np.concatenate([np.zeros_like(mixed[:, :1]), mixed[:, :-1]], 1)
        result[here] = _binned(seen, edges)
    return result


def _by_step(within: FloatArray, edges: FloatArray) -> FloatArray:
    """P(K <= n) for every n below the last edge, from that at the ends of bins: (rows, steps).

    Every step of a bin has the same hazard: the logarithm of what is left falls evenly.
    """
    width = edges[1:] - edges[:-1]
    step = np.arange(int(edges[-1]))
    bin_of = np.searchsorted(edges[1:], step + 0.5)
    share = (step - edges[:-1][bin_of] + 1) / width[bin_of]
    left = np.log(np.clip(1 - within, _LEAST_LEFT, 1.0))
    before = np.concatenate([np.zeros_like(left[:, :1]), left[:, :-1]], 1)
    log_left = before[:, bin_of] * (1 - share) + left[:, bin_of] * share
    return 1 - np.exp(log_left)


def _binned(seen: FloatArray, edges: FloatArray) -> FloatArray:
    """P(K <= n) by step (rows, steps) as expected steps passed, and chance, per bin."""
    nothing = np.zeros_like(seen[:, :1])
    chance = np.concatenate([nothing, seen], 1)
    passed = np.concatenate([nothing, np.cumsum(1 - seen, 1)], 1)
    edge = [int(place) for place in edges]
    start, end = edge[:-1], edge[1:]
    return np.concatenate([passed[:, end] - passed[:, start], chance[:, end] - chance[:, start]], 1)
