"""The value of several episodes in one curve."""

from collections.abc import Iterable

import numpy as np

from goalward.rollouts.endings import FloatArray
from goalward.runs.run import Run


def mean_value_by_frame(run: Run, positions: Iterable[int] | None = None) -> FloatArray:
    """The mean over episodes, frame by frame; an episode that has ended keeps its last value.

    A success keeps -1: otherwise only those that are late would be left, and every policy would
    look worse with time. `positions` are those of the episodes in the run, all of them by default.
    """
    value = run.curves().value
    chosen = range(len(run.episodes)) if positions is None else list(positions)
    parts = [value[run.frames_of(position)] for position in chosen]
    longest = max(map(len, parts))
    padded = np.stack([np.pad(part, (0, longest - len(part)), mode="edge") for part in parts])
    for row, position in enumerate(chosen):
        goal = run.episodes[position].goal_frame
        if goal is not None:
            padded[row, goal:] = -1.0
    return padded.mean(axis=0)
