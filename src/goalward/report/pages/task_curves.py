"""The values of each task as the front page draws them, small, beside all others."""

from typing import Any

import numpy as np

from goalward.report.pages.episodes import SPARK_POINTS, whole_percents
from goalward.rollouts.endings import FloatArray
from goalward.rollouts.episode import Outcome
from goalward.runs.mean_curve import mean_value_by_frame
from goalward.runs.run import Run

# The mean of two curves tells no more than the two.
FEWEST_FOR_A_MEAN = 3


def task_curves(run: Run) -> list[dict[str, Any]]:
    """For each task, in order of first appearance, its longest episode and a mean per outcome.

    A mean is in few points, from the first frame to the last of the longest episode of its outcome
    (`frames` of them), as a row of the table has its curve; single episodes are drawn from there.
    """
    places: dict[str, dict[Outcome, list[int]]] = {}
    for position, episode in enumerate(run.episodes):
        places.setdefault(episode.task, {}).setdefault(episode.outcome, []).append(position)
    return [
        {
            outcome: _mean(mean_value_by_frame(run, own))
            for outcome, own in by_outcome.items()
            if len(own) >= FEWEST_FOR_A_MEAN
        }
        for by_outcome in places.values()
    ]


def _mean(curve: FloatArray) -> dict[str, Any]:
    """
    >>> _mean(np.array([1.0, 0.0, -1.0]))
    {'frames': 3, 'line': [100, 50, 0]}
    """
    at = np.linspace(0, len(curve) - 1, min(len(curve), SPARK_POINTS))
    line = np.interp(at, np.arange(len(curve)), curve)
    return {"frames": len(curve), "line": whole_percents(line)}
