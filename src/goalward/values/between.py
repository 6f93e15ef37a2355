"""Numbers of frames that nobody looked at, on straight lines between those of frames that were.

Networks are asked about every frame, and their answer is kept where features were known
(`goalward embed --every`). In between steps to the goal, raw values and chances are interpolated.
"""

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.thinning import filled_between, frames_looked_at, is_looked_at
from goalward.values.chances import ChanceTable
from goalward.values.table import ValueTable


def values_between(table: ValueTable, rollouts: Rollouts) -> ValueTable:
    """The table of these rollouts, interpolated where nobody looked, and marked."""
    if _all_are_looked_at(rollouts):
        return table
    return replace(
        table,
        raw_value=between(table.raw_value[..., None], rollouts)[..., 0],
        steps_to_goal=between(table.steps_to_goal[..., None], rollouts)[..., 0],
        interpolated=~is_looked_at(rollouts),
    )


def chances_between(table: ChanceTable, rollouts: Rollouts) -> ChanceTable:
    """The same for chances; where an episode ends somebody always looked."""
    if _all_are_looked_at(rollouts):
        return table
    return replace(table, within=between(table.within, rollouts))


def between(numbers: npt.NDArray[np.float32], rollouts: Rollouts) -> npt.NDArray[np.float32]:
    """Numbers of every frame, (..., frames, numbers), with those in between read off the line."""
    if _all_are_looked_at(rollouts):
        return numbers
    found = np.empty_like(numbers)
    starts = rollouts.episode_ends - rollouts.lengths
    for start, episode in zip(starts.tolist(), rollouts, strict=True):
        rows, frames = slice(start, start + episode.num_frames), frames_looked_at(episode)
        known = numbers[..., start + frames, :]
        found[..., rows, :] = filled_between(known, frames, episode.num_frames)
    return found


def _all_are_looked_at(rollouts: Rollouts) -> bool:
    return all(episode.every == 1 for episode in rollouts)
