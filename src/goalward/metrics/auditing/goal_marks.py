"""Goal frames that were marked too early or too late, as the chances see it."""

from dataclasses import dataclass

import numpy as np

from goalward.rollouts.endings import BoolArray, Endings, FloatArray

# Of the longest episode: a mark that is off by less is a matter of taste.
_OFF_BY = 0.1
# Of what other goals look like at their marks.
_AS_DONE_AS = 0.8
_NOT_DONE = 0.5
# Below it the values do not see goals at all.
_LEAST_LEVEL = 0.4
_LEAST_SUCCESSES = 4


@dataclass(frozen=True)
class GoalMark:
    """A goal frame that looks misplaced: where it is, where it seems to belong, and how sure.

    `sure` is how much more done the episode looks at the better frames than others: where the mark
    is late, how done it looked between the two; where it is early, how much more done it looked
    later than at the mark.
    """

    episode: int
    marked: int
    suggested: int
    sure: float

    @property
    def is_late(self) -> bool:
        return self.marked > self.suggested


def goal_marks(
    done: FloatArray, endings: Endings, held_out: BoolArray, ceiling: int
) -> tuple[GoalMark, ...]:
    """Marks of held-out successes that are off by a tenth of the longest episode or more.

    Elsewhere an episode starts to look done some frames before its mark (the median over
    successes). One that looked so much longer without a break is marked late; one that looked so
    only after its mark is marked early. Both are seen only where the recording has those frames.
    """
    successes = np.flatnonzero(endings.success & held_out).tolist()
    starts, goals = endings.starts, endings.goal_frames
    at_mark = np.array([done[starts[i] + goals[i]] for i in successes])
    level = float(np.median(at_mark)) if len(successes) else 0.0
    if len(successes) < _LEAST_SUCCESSES or level < _LEAST_LEVEL:
        return ()
    curves = {i: done[starts[i] : endings.episode_ends[i]] for i in successes}
    before = {i: _looked_done_for(curves[i], int(goals[i]), _AS_DONE_AS * level) for i in successes}
    usual = int(np.median(list(before.values())))
    off_by = max(round(_OFF_BY * ceiling), 1)
    found: list[GoalMark] = []
    for i, at in zip(successes, at_mark.tolist(), strict=True):
        goal = int(goals[i])
        if before[i] - usual >= off_by:
            better = goal - before[i] + usual
            found.append(GoalMark(i, goal, better, float(curves[i][better:goal].mean())))
        elif at < _NOT_DONE * level:
            later = np.flatnonzero(curves[i][goal:] >= _AS_DONE_AS * level)
            if len(later) and later[0] + usual >= off_by:
                better = min(goal + int(later[0]) + usual, len(curves[i]) - 1)
                best = float(curves[i][goal:].max())
                found.append(GoalMark(i, goal, better, best * (1 - at / level)))
    return tuple(found)


def _looked_done_for(curve: FloatArray, goal: int, level: float) -> int:
    """For how many frames before the mark, without a break, an episode looked done.

    >>> _looked_done_for(np.array([0.9, 0.1, 0.8, 0.9, 0.9]), goal=4, level=0.7)
    2
    """
    below = np.flatnonzero(curve[: goal + 1] < level)
    return (
        goal - int(below[-1]) - 1 if len(below) and below[-1] < goal else 0 if len(below) else goal
    )
