"""Which frames count as positive: the threshold rules of the tools, named."""

from dataclasses import dataclass

import numpy as np

from goalward.errors import GoalwardError
from goalward.exports.advantages import BoolArray, FloatArray, IntArray

KINDS = ("top", "task-top", "above", "percentile")
# Advantages closer than this are equal: sums in another order differ in the last digits.
_TIE = 1e-9


@dataclass(frozen=True)
class PositiveRule:
    """When an advantage counts as positive.

    | rule | positive | who does so |
    |---|---|---|
    | `top:0.3` | >= the 70th percentile of all frames | RLinf |
    | `task-top:0.3` | >= the 70th percentile of the frames of the same task | Evo-RL |
    | `percentile:30` | > the 30th percentile of all frames | |
    | `above:0.0` | > 0, in the unit of the advantages | |

    Percentiles are those of the frames before the goal, where there was something to decide; the
    threshold is then applied to all frames. Equal advantages are never told apart: with `top` the
    ones at the threshold are all positive, so that more than the share asked for may be, and all
    frames if all advantages are equal; with `above` and `percentile` none of these is.
    """

    kind: str
    number: float

    @classmethod
    def from_text(cls, text: str) -> "PositiveRule":
        """
        >>> PositiveRule.from_text("top:0.3")
        PositiveRule(kind='top', number=0.3)
        """
        kind, _, rest = text.partition(":")
        try:
            number = float(rest)
        except ValueError:
            number = float("nan")
        limits = {"top": (0.0, 1.0), "task-top": (0.0, 1.0), "percentile": (0.0, 100.0)}
        low, high = limits.get(kind, (-np.inf, np.inf))
        if kind not in KINDS or not np.isfinite(number) or not low <= number <= high:
            raise GoalwardError(
                f"no rule {text!r} for what is positive; there are top:0.3 and task-top:0.3 "
                "(a share from 0 to 1), percentile:30 (0 to 100), above:0.0 (any number)"
            )
        return cls(kind, number)

    def __str__(self) -> str:
        return f"{self.kind}:{self.number:g}"


@dataclass(frozen=True, eq=False)
class Positive:
    """Which frames are positive, and the thresholds: one for all, or one for each task."""

    is_positive: BoolArray
    thresholds: tuple[float, ...]


def positive_frames(
    rule: PositiveRule, advantage: FloatArray, is_open: BoolArray, task_indices: IntArray
) -> Positive:
    """Apply a rule to all frames; `task_indices` numbers the task of each.

    >>> advantage, every = np.array([1.0, 2.0, 3.0, 4.0, 5.0]), np.ones(5, dtype=bool)
    >>> one_task = np.zeros(5, dtype=int)
    >>> positive_frames(PositiveRule("top", 0.5), advantage, every, one_task).thresholds
    (3.0,)
    """
    group = task_indices if rule.kind == "task-top" else np.zeros_like(task_indices)
    is_positive = np.zeros(len(advantage), dtype=np.bool_)
    thresholds: list[float] = []
    for number in np.unique(group):
        here = group == number
        # A task whose every frame is at the goal has no others to go by.
        judged = here & is_open if (here & is_open).any() else here
        if rule.kind == "above":
            threshold = rule.number
        else:
            percent = rule.number if rule.kind == "percentile" else 100.0 * (1.0 - rule.number)
            threshold = float(np.percentile(advantage[judged], percent))
        thresholds.append(threshold)
        if rule.kind in ("top", "task-top"):
            is_positive[here] = advantage[here] >= threshold - _TIE
        else:
            is_positive[here] = advantage[here] > threshold + _TIE
    return Positive(is_positive, tuple(thresholds))
