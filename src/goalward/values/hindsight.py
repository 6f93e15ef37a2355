"""Hindsight values: how things stood at a frame, knowing how its episode went on.

The *value* of a frame is what can be said at that moment. A recorded frame has a recorded future,
and the lambda-return through held-out values (`targets/lambda_returns.py`) reads it: the hindsight
value. `docs/hindsight.md` says which of the two is for what.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from goalward.rollouts.endings import Endings
from goalward.rollouts.findings import counted
from goalward.targets.lambda_returns import lambda_return
from goalward.targets.liveness import discounted_goal, liveness_value
from goalward.values.table import ValueTable

FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.int64]

DEFAULT_DECAY = 0.98
# Among which the data choose, where they can.
CANDIDATES = (0.0, 0.9, 0.95, 0.98, 0.99, 1.0)
# Fewer starts than these say more of themselves than of the task.
FEWEST_GROUPS = 5
# Starts are alike that lie this much closer than two episodes of the task do: encoders and videos
# leave a little noise on the same picture, and any two starts that differ by more are two.
_ALIKE = 0.02


def hindsight_values(
    value: npt.NDArray[np.floating], endings: Endings, discount: float, decay: float
) -> FloatArray:
    """Values on the common scale, (..., frames), as they look from the end of the episode.

        H = 1 - 2 G,   G(s) = discount * ((1 - decay) * W(s') + decay * G(s')),   W = (1 - V) / 2

    -1 at a goal and after it, 1 at the end of a failure. At the frame where the clock ran out
    nothing more is known, and hindsight is the value. A `decay` of 1 is what the recording alone
    says, 0 what the value of the next frame says. Linear in the values: the mean over seeds of
    their hindsight is the hindsight of their mean.

    >>> endings = Endings(np.array([3, 5]), np.array([2, -1]))
    >>> hindsight_values(np.array([0.5, 0.5, 0.5, 0.5, 0.0]), endings, 0.5, decay=1.0).tolist()
    [0.5, 0.0, -1.0, 0.5, 0.0]
    """
    power = discounted_goal(np.asarray(value, dtype=np.float64))
    seen = lambda_return(
        power, endings.episode_ends, endings.goal_frames, endings.failures, discount, decay
    )
    return np.asarray(1.0 - 2.0 * seen, dtype=np.float64)


def with_hindsight(
    table: ValueTable, endings: Endings, discount: float, decay: float
) -> ValueTable:
    """The table with the value and the hindsight value of every frame, on the common scale."""
    value = liveness_value(table.steps_to_goal.astype(np.float64), discount)
    return replace(
        table, value=value, hindsight_value=hindsight_values(value, endings, discount, decay)
    )


# ---- how far to trust the recording -------------------------------------------------------------


@dataclass(frozen=True)
class DecayError:
    """How far hindsight with this decay is from what happened to others that started alike.

    The mean squared error in discount^(steps to go), luck of the others included.
    """

    decay: float
    """The candidate."""
    error: float
    """Its mean squared error."""


@dataclass(frozen=True)
class HindsightChoice:
    """The decay of a run's hindsight values, and why it is that one.

    `num_groups` starts were recorded more than once, in `num_episodes` held-out episodes; `errors`
    are those of each candidate where these were enough to choose by.
    """

    decay: float = DEFAULT_DECAY
    """How far hindsight follows the recording: 0 is the value, 1 the recording alone."""
    reason: str = "the default"
    """Why it is that one, in words."""
    num_groups: int = 0
    num_episodes: int = 0
    errors: tuple[DecayError, ...] = ()


def choose_hindsight(
    value: npt.NDArray[np.floating],
    endings: Endings,
    discount: float,
    *,
    features: npt.NDArray[np.floating] | None,
    tasks: Sequence[str],
    folds: Sequence[Sequence[str]],
    given: float | None = None,
) -> HindsightChoice:
    """The decay that was given; or the one that episodes which start alike choose; or 0.98.

    How much of a recorded future says how things stood (keep it: a decay near 1) and how much is
    luck (forget it: a small decay)? One recording per start cannot tell: that a can was badly
    gripped all along, and shows it later, looks exactly like bad luck that falls later. Episodes
    that start alike can. They are independent samples of what follows from the same frame, so

        error(decay) = mean over ordered pairs (i, j) of siblings of (G_decay(i, 0) - G_1(j, 0))^2

    has the same luck of j in it for every decay, and differs by what hindsight along i gets wrong
    of their common first frame. All luck: what happened to i is no news of j, and following it
    adds its noise. All hidden detail: what happened to i happens to j.

    `value` (judges, frames) is of the speaking method: of all its seeds together or of each, as
    far as they held out other episodes together; `features` (frames, numbers) are what its
    networks see. `folds` name, for each of these, the part that every episode was held out with,
    empty for none: siblings are of one fold, or the networks that judge i would have learned how j
    ended. Episodes whose starts look alike and are not (another weight in the same can) count as
    luck what they do not share.
    """
    groups: list[list[IndexArray]] = [[] for _ in folds]
    if features is not None:
        groups = [groups_alike(features[endings.starts], tasks, of_judge) for of_judge in folds]
    counts = _num_starts(groups), len({i for found in groups for one in found for i in one})
    if given is not None:
        return HindsightChoice(given, "as it was asked for", *counts)
    if counts[0] < FEWEST_GROUPS:
        found = counted(range(counts[0]), "start") if counts[0] else "no start"
        was = "was" if counts[0] < 2 else "were"
        return HindsightChoice(
            DEFAULT_DECAY,
            f"the default: {found} {was} recorded more than once in one held-out part, and "
            f"it takes {FEWEST_GROUPS} for the data to choose",
            *counts,
        )
    errors = _sibling_errors(np.atleast_2d(value), endings, discount, groups)
    best = min(errors, key=lambda one: (one.error, abs(one.decay - DEFAULT_DECAY)))
    reason = (
        f"chosen by the data: of {counted(range(counts[0]), 'start')} that were recorded more than "
        "once, it says best how the other episodes went"
    )
    return HindsightChoice(best.decay, reason, *counts, errors)


def groups_alike(
    first_frames: npt.NDArray[np.floating], tasks: Sequence[str], folds: Sequence[str]
) -> list[IndexArray]:
    """Positions of episodes of one task and fold that start alike, two at least in each group.

    `first_frames` is (episodes, numbers). Numbers count in units of their standard deviation over
    the episodes of the task; numbers that never change tell nothing.

    >>> starts = np.array([[0.0], [5.0], [0.0], [9.0], [5.0], [5.0]])
    >>> folds = ["held out"] * 5 + [""]
    >>> [group.tolist() for group in groups_alike(starts, [""] * 6, folds)]
    [[0, 2], [1, 4]]
    """
    found: list[IndexArray] = []
    for task in dict.fromkeys(tasks):
        members = np.flatnonzero([other == task for other in tasks])
        numbers = np.asarray(first_frames[members], dtype=np.float64)
        # The deviation of equal numbers may be a last digit above 0; their range is 0.
        numbers = numbers[:, np.ptp(numbers, axis=0) > 0]
        numbers = numbers / numbers.std(axis=0)
        # Two episodes at random lie 2 apart in the mean over numbers of squared distances.
        nearest = 2.0 * _ALIKE**2 * max(numbers.shape[1], 1)
        fold_of = [folds[member] for member in members.tolist()]
        for fold in dict.fromkeys(fold_of):
            left = np.flatnonzero([other == fold for other in fold_of])
            while fold and len(left):
                is_alike = ((numbers[left] - numbers[left[0]]) ** 2).sum(axis=1) <= nearest
                if is_alike.sum() > 1:
                    found.append(members[left[is_alike]])
                left = left[~is_alike]
    return found


def _num_starts(groups: Sequence[Sequence[IndexArray]]) -> int:
    """Starts that any judge held out more than once; groups of two judges may be of one start."""
    starts: list[set[int]] = []
    for group in (set(one.tolist()) for found in groups for one in found):
        same = [start for start in starts if start & group]
        starts = [start for start in starts if not start & group] + [group.union(*same)]
    return len(starts)


def _sibling_errors(
    value: npt.NDArray[np.floating],
    endings: Endings,
    discount: float,
    groups: Sequence[Sequence[IndexArray]],
) -> tuple[DecayError, ...]:
    """Over all pairs of siblings, of every judge (value and groups) those that it held out."""

    def at_start(decay: float) -> FloatArray:
        seen = hindsight_values(value, endings, discount, decay)
        return discounted_goal(seen[:, endings.starts])

    came = at_start(1.0)
    found: list[DecayError] = []
    for decay in CANDIDATES:
        seen = at_start(decay)
        total, num_pairs = 0.0, 0
        for judge, group in ((j, group) for j, of_judge in enumerate(groups) for group in of_judge):
            squares = (seen[judge, group][:, None] - came[judge, group][None, :]) ** 2
            # An episode is no witness of itself.
            total += float(squares.sum() - squares.trace())
            num_pairs += len(group) * (len(group) - 1)
        found.append(DecayError(decay, total / num_pairs))
    return tuple(found)
