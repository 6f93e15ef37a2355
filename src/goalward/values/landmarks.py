"""Chances held against what happened: moved so far that they are right on average.

Networks that leave the clock open are too hopeful of episodes that they never saw. How much so can
be seen without another rollout: stop every held-out episode at nine places before its clock, the
landmarks; whoever still runs there either succeeds in the rest of the clock or does not, and both
were recorded. One number per method, a step of the log-odds, makes up for the mean difference.
"""

# pyright: standard
# (scipy ships no type stubs)

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import optimize, special

from goalward.rollouts.endings import BoolArray, Endings, FloatArray, IndexArray
from goalward.targets.log_odds import moved
from goalward.values.chances import ChanceTable
from goalward.values.clocks import share_under_clock, task_clocks

# Of the clock of a task.
LANDMARKS = np.arange(1, 10) / 10
# An episode is seen at up to nine landmarks and is still one episode.
_WEIGHT = 1 / len(LANDMARKS)
# As much as one episode of even chance holds the step at 0: few episodes move little.
_HELD_BACK = 1.0
_LEAST_CHANCE = 0.005


@dataclass(frozen=True, eq=False)
class Landmarks:
    """Frames where it is known whether success came within `num_steps`: all (landmarks seen,).

    `weight` is how many episodes each speaks for: itself, and those stopped before their outcome.
    """

    frame: IndexArray
    num_steps: IndexArray
    came: BoolArray
    weight: FloatArray


def landmarks(endings: Endings, tasks: Sequence[str], held_out: BoolArray) -> Landmarks:
    """Where held-out episodes still run at a landmark, and whether they succeed by the clock.

    The clock is that of the task (`task_clocks`). Of a time-out that was stopped before it nothing
    is known: those that ran for longer speak for it, with 1 / (share whose clock runs as long),
    as if nobody had stopped it because of how it went.

    >>> endings = Endings(np.array([21, 32]), np.array([-1, 10]))
    >>> found = landmarks(endings, ["", ""], np.array([True, True]))
    >>> found.frame[:3], found.num_steps[:3], found.came.astype(int)
    (array([ 2, 23,  4]), array([18, 18, 16]), array([0, 1, 0, 1, 0, 1, 0, 1, 0, 0, 0, 0, 0]))
    """
    last = endings.lengths - 1
    timed_out = ~endings.success & ~endings.failures
    runs_until = np.where(endings.success, endings.goal_frames, last)
    clocks = task_clocks(endings, tasks)
    frame, num_steps, came, weight = [], [], [], []
    for task in dict.fromkeys(tasks):
        of_task = np.array([other == task for other in tasks])
        clock = int(clocks[of_task][0])
        in_time = endings.success & (endings.goal_frames <= clock)
        known = of_task & held_out & ~(timed_out & (last < clock))
        under_clock = share_under_clock(runs_until[of_task], timed_out[of_task], clock)
        for at in np.unique(np.floor(LANDMARKS * clock + 0.5).astype(np.int64)):
            seen = np.flatnonzero(known & (runs_until > at) & (at < clock))
            frame.append(endings.starts[seen] + at)
            num_steps.append(np.full(len(seen), clock - at))
            came.append(in_time[seen])
            weight.append(under_clock[at] / under_clock[np.minimum(runs_until[seen], clock)])
    return Landmarks(*map(np.concatenate, (frame, num_steps, came, weight)))


def log_odds_step(chance: FloatArray, came: BoolArray, weight: FloatArray | float = 1.0) -> float:
    """How far the log-odds of chances (landmarks seen,) must move to be right on average.

    The most likely step, held back as by one more episode:

        sum over landmarks seen of weight * (sigmoid(log-odds + step) - came) / 9 + step = 0

    >>> round(log_odds_step(np.full(900, 0.5), np.arange(900) < 225), 2)  # log(1/3) is -1.10
    -1.04
    """
    odds = special.logit(np.clip(chance, _LEAST_CHANCE, 1 - _LEAST_CHANCE))
    weight = np.broadcast_to(weight, odds.shape)

    def slope(step: float) -> float:
        too_high = special.expit(odds + step) - came
        return _WEIGHT * float((weight * too_high).sum()) + _HELD_BACK * step

    # It only rises, and no landmark pulls by more than its weight. Newton's way would swing to and
    # fro, and end on the wrong side, where chances near 0 meet much success.
    furthest = (_WEIGHT * float(weight.sum()) + 1.0) / _HELD_BACK
    return optimize.root_scalar(slope, bracket=(-furthest, furthest), method="brentq").root


def held_against_outcomes(
    chances: ChanceTable, endings: Endings, held_out: BoolArray
) -> ChanceTable:
    """The chances of every method, each moved by its own step; they still rise with time.

    The held-out episodes that the step comes from are those that are told of: one number from all
    of them, so that each has little say in its own chance. A method that says nothing but a value
    has no chance that could be moved.
    """
    found = landmarks(endings, chances.episode_tasks, held_out)
    within, at_end = chances.within.copy(), chances.at_end.copy()
    asked = np.zeros(chances.num_frames)
    asked[found.frame] = found.num_steps
    steps: list[float] = []
    for index, method in enumerate(chances.methods):
        step = 0.0
        if chances.says_chances(method):
            said = chances.within_steps(method, asked)[found.frame]
            step = log_odds_step(said, found.came, found.weight)
            within[index] = moved(within[index], step)
            at_end[index] = _moved_together(at_end[index], step)
        steps.append(step)
    return replace(chances, within=within, at_end=at_end, moved_by=tuple(steps))


def _moved_together(each: np.ndarray, step: float) -> np.ndarray:
    """What every network says, (seeds, members, ...), so that their mean moves by the step.

    Moved one by one their mean would be another number than the moved mean, which is told. So all
    chances shrink alike, or all that is left of them does: they stay in [0, 1] and never fall
    along points.

    >>> _moved_together(np.array([[[0.25], [0.75]]]), -np.log(3)).round(3).tolist()
    [[[0.125], [0.375]]]
    """
    times = np.exp(step)
    num_networks = np.maximum((~np.isnan(each)).sum(axis=(0, 1)), 1)
    mean = np.nansum(each, axis=(0, 1)) / num_networks
    scale = 1 - mean + mean * times
    found = each * times / scale if times <= 1 else 1 - (1 - each) / scale
    return found.astype(each.dtype)
