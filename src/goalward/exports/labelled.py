"""Advantages of the chosen episodes with the frames that count as positive."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from goalward.exports.advantages import Advantages, WorthScale, episode_advantages
from goalward.exports.positive import PositiveRule, positive_frames
from goalward.runs.curves import Curves
from goalward.runs.run import Run

IntArray = npt.NDArray[np.int64]

# A share of positive frames this far above the one asked for is worth a word.
_NOTICEABLE = 0.05


@dataclass(frozen=True, eq=False)
class Labelled:
    """A row per frame of the chosen episodes; `positions` says where in the run each lies.

    `return_scale` brings worth to the range from -1 to 0 in which tools keep values: the time
    limit for steps, 1 for value.
    """

    positions: IntArray
    advantages: Advantages
    is_positive: npt.NDArray[np.bool_]
    return_scale: float
    words: str
    made_with: dict[str, Any]

    def row_of(self, positions: IntArray) -> IntArray:
        """The rows of these frames of the run, -1 for those that have none."""
        size = max(int(self.positions.max()), int(positions.max())) + 1
        rows = np.full(size + 1, -1, dtype=np.int64)
        rows[self.positions] = np.arange(len(self.positions))
        # The last entry stays -1, and is where -1 leads.
        return rows[positions]


def label(
    run: Run,
    curves: Curves,
    positions: Sequence[int],
    *,
    unit: str,
    n: int | Literal["hindsight", "end"],
    rule: PositiveRule,
) -> Labelled:
    """Advantages in hindsight, n steps ahead or to the end, and which of them are positive."""
    found = run_advantages(run, curves, positions, unit=unit, n=n)
    episodes = [run.episodes[position] for position in positions]
    number = {task: i for i, task in enumerate(dict.fromkeys(e.task for e in episodes))}
    task_indices = np.repeat([number[e.task] for e in episodes], [e.num_frames for e in episodes])
    positive = positive_frames(rule, found.advantage, found.is_open, task_indices)
    share = float(positive.is_positive.mean())
    ends = min(positive.thresholds), max(positive.thresholds)
    span = " to ".join(dict.fromkeys(f"{threshold:.3g}" for threshold in ends))
    decay = run.hindsight.decay
    texts = {"end": "to the end", "hindsight": f"in hindsight (lambda {decay:g})"}
    ahead = f"{n} steps ahead" if isinstance(n, int) else texts[n]
    count = f"{positive.is_positive.sum()} of {len(task_indices)} frames ({100 * share:.0f} %)"
    words = (
        f"{count} are positive: {rule}, "
        f"threshold {span} {'steps' if unit == 'steps' else 'in value'}, {ahead}"
    )
    if rule.kind in ("top", "task-top") and share > rule.number + _NOTICEABLE:
        words += "; more than asked for, as many advantages are equal or belong to reached goals"
    places = [run.frames_of(position) for position in positions]
    return Labelled(
        positions=np.concatenate([np.arange(one.start, one.stop) for one in places]),
        advantages=found,
        is_positive=positive.is_positive,
        return_scale=float(run.time_limit) if unit == "steps" else 1.0,
        words=words,
        made_with={
            "method": curves.method,
            "run": run.folder.path.name,
            "unit": unit,
            "n": n,
            "positive": str(rule),
        }
        | ({"hindsight": decay} if n == "hindsight" else {}),
    )


def run_advantages(
    run: Run,
    curves: Curves,
    positions: Sequence[int],
    *,
    unit: str,
    n: int | Literal["hindsight", "end"],
) -> Advantages:
    """The advantages of these episodes, one after the other.

    The ceiling of steps is the run's time limit: who needs longer than the longest episode took is
    counted as never.
    """
    scale = WorthScale.of(unit, discount=run.discount, ceiling=run.time_limit)
    parts: list[Advantages] = []
    for position in positions:
        episode = run.episodes[position]
        worth = scale.worth(curves.steps[run.frames_of(position)])
        parts.append(
            episode_advantages(
                worth,
                episode.outcome,
                episode.goal_frame,
                scale=scale,
                n=n if isinstance(n, int) else None,
                decay=run.hindsight.decay if n == "hindsight" else None,
            )
        )
    return Advantages.joined(parts)
