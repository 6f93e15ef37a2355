"""The clock of a task, where nobody recorded it: read off the time-outs."""

from collections.abc import Sequence

import numpy as np

from goalward.rollouts.endings import BoolArray, Endings, FloatArray, IndexArray


def task_clocks(endings: Endings, tasks: Sequence[str]) -> IndexArray:
    """Steps after which the clock of each episode's task usually runs out, (episodes,).

    The median of the task's time-outs, the lower of two middle ones; where none timed out, its
    longest episode. A few that somebody stopped early do not change it, and one of a single frame
    had no clock at all.

    >>> endings = Endings(np.cumsum([41, 41, 41, 11, 31]), np.array([-1, -1, -1, -1, 30]))
    >>> task_clocks(endings, [""] * 5).tolist(), task_clocks(endings, list("aaaab")).tolist()
    ([40, 40, 40, 40, 40], [40, 40, 40, 40, 30])
    """
    last = endings.lengths - 1
    timed_out = ~endings.success & ~endings.failures & (last > 0)
    clocks = np.zeros(endings.num_episodes, dtype=np.int64)
    for task in dict.fromkeys(tasks):
        of_task = np.array([other == task for other in tasks])
        found = np.sort(last[of_task & timed_out])
        clocks[of_task] = found[(len(found) - 1) // 2] if len(found) else last[of_task].max()
    return clocks


def share_under_clock(seen_until: IndexArray, timed_out: BoolArray, clock: int) -> FloatArray:
    """The share of episodes whose clock leaves them t steps, for t = 0, ..., clock: (clock + 1,).

        G(t) = product over s < t of (1 - time-outs after s steps / episodes still running then)

    Kaplan and Meier's, over episodes of one task. A success or a failure that came after s steps
    came before the clock of the same step.

    >>> share_under_clock(np.array([4, 4, 1, 2]), np.array([True, True, True, False]), 4)
    array([1.  , 1.  , 0.75, 0.75, 0.75])
    """
    capped = np.minimum(seen_until, clock)
    ended = np.bincount(capped, minlength=clock + 1)
    cut = np.bincount(capped[timed_out], minlength=clock + 1)
    running = ended[::-1].cumsum()[::-1] - (ended - cut)
    left = 1 - np.divide(cut, running, out=np.zeros(clock + 1), where=running > 0)
    return np.concatenate([[1.0], np.cumprod(left)[:-1]])
