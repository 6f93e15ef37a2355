"""Tables of chances made from others: from a table of values, or from those of several folds."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from goalward.values.chances import ChanceTable, IndexArray, asked_of
from goalward.values.table import ValueTable


def chances_of_values(values: ValueTable, num_steps: IndexArray) -> ChanceTable:
    """What a table of values alone says of chances: the share of seeds that see success coming.

    No chances, as the seeds of a method agree with each other more than with the world; for
    values whose networks are not at hand.
    """
    num_methods, _, num_frames = values.steps_to_goal.shape
    asked = asked_of(num_steps)
    within = np.empty((num_methods, num_frames, len(asked)), dtype=np.float32)
    ends = values.steps_to_goal[:, :, values.episode_ends - 1]
    at_end = np.empty((*ends.shape, len(asked)), dtype=np.float32)
    for point, steps in enumerate(asked):
        within[..., point] = _reached(values.steps_to_goal, steps).mean(axis=1)
        at_end[..., point] = _reached(ends, steps)
    return ChanceTable(
        methods=values.methods,
        episode_ids=values.episode_ids,
        episode_tasks=values.episode_tasks,
        episode_ends=values.episode_ends,
        num_steps=num_steps,
        within=within,
        at_end=at_end[:, :, None],
    )


def _reached(steps: npt.NDArray[np.float32], num_steps: float) -> npt.NDArray[np.bool_]:
    """Never (inf) is not within any number of steps, be it infinite."""
    return (steps <= num_steps) & np.isfinite(steps)


def put_together(
    first: ChanceTable, parts: Sequence[tuple[IndexArray, ChanceTable]]
) -> ChanceTable:
    """The first table with some episodes (their positions) as other tables have them."""
    num_members = max(table.at_end.shape[2] for table in (first, *(part for _, part in parts)))
    within, at_end = first.within.copy(), with_members(first.at_end, num_members)
    episode_of = np.repeat(np.arange(len(first.episode_ids)), first.clocks + 1)
    for positions, part in parts:
        within[:, np.isin(episode_of, positions)] = part.within
        at_end[:, :, :, positions] = with_members(part.at_end, num_members)
    return replace(first, within=within, at_end=at_end, moved_by=())


def with_members(at_end: npt.NDArray[np.float32], num_members: int) -> npt.NDArray[np.float32]:
    """A copy with as many members as others have; those that are not there are NaN."""
    missing = num_members - at_end.shape[2]
    room = [(0, 0), (0, 0), (0, missing), (0, 0), (0, 0)]
    return np.pad(at_end, room, constant_values=np.nan)
