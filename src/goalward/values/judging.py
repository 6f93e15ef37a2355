"""Several networks, one answer: which of them judge an episode, and the mean of what they say."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from goalward.errors import GoalwardError
from goalward.training.frames.inputs import FeatureRows
from goalward.training.frames.training_frames import TrainingFrames
from goalward.training.methods.table import Method
from goalward.training.networks.nets import Nets
from goalward.training.runs import NetRun


class Judgement(NamedTuple):
    """What the networks of one method, all seeds of a task, say of that task's frames.

    `nets` are the networks of all seeds, the members of the first before those of the second;
    `share` (networks, frames) is how much each counts in the mean over the members of its seed;
    `value` and `steps` (seeds, frames) are of that mean.
    """

    method_index: int
    method: Method
    frames: npt.NDArray[np.int64]
    rows: FeatureRows
    nets: Nets
    share: npt.NDArray[np.float32]
    value: npt.NDArray[np.float32]
    steps: npt.NDArray[np.floating[Any]]


def shares(
    frames: TrainingFrames, by_seed: Sequence[Sequence[NetRun]], unseen: bool
) -> npt.NDArray[np.float32]:
    """How much each network counts in the mean of its seed: (networks, frames).

    All alike, or with `unseen` those alone that never saw the episode.
    """
    members = len(by_seed[0])
    if not unseen:
        return np.full((len(by_seed) * members, frames.num_frames), 1 / members, np.float32)
    counted: list[npt.NDArray[np.float64]] = []
    for runs in by_seed:
        blind = np.stack([~frames.frames_of(run.episodes) for run in runs]).astype(np.float64)
        if not blind.any(axis=0).all():
            raise GoalwardError(
                f"the networks of stage {runs[0].stage.name} have all seen some of these episodes: "
                "it takes a method that trains on folds to judge what it learned from"
            )
        counted.append(blind / blind.sum(axis=0))
    return np.concatenate(counted).astype(np.float32)


def over_members(
    said: npt.NDArray[np.float32], share: npt.NDArray[np.float32], num_seeds: int
) -> npt.NDArray[np.float32]:
    """(seeds * members, frames) becomes the mean over members, (seeds, frames)."""
    if len(said) == num_seeds:
        return said
    return (said * share).reshape(num_seeds, -1, said.shape[-1]).sum(axis=1)


def rising(chance: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Without the last digits' rounding: within [0, 1] and never falling along the last axis."""
    return np.maximum.accumulate(np.clip(chance, 0.0, 1.0), axis=-1)
