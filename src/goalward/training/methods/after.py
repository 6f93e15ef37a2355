"""The step after training: what a method makes of its values once its networks are trained.

Calibration belongs here: whatever is learned from what the networks say, not by them. What a step
learns is stored beside the networks, in the same file, under `after/`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt
from torch import Tensor

from goalward.training.frames.training_frames import TrainingFrames
from goalward.training.methods.hyperparameters import Hyperparameters

FloatArray = npt.NDArray[np.float32]
# What a step has learned of one run, by name.
Learned = Mapping[str, Tensor]


@dataclass(frozen=True, eq=False)
class JudgedFrames:
    """What one trained network says of frames whose end is known.

    `rows` are positions in `frames`: the frames of the episodes that were held out of the run's
    training, or, where none was (`unseen` is false), those it was trained on. `value` is what
    the network says of each row, within the range of its stage.

    A network that memorised its labels is right on the frames it was trained on; a step that
    learns from them corrects nothing.
    """

    frames: TrainingFrames
    rows: npt.NDArray[np.int64]
    value: FloatArray
    unseen: bool


class AfterTraining(Protocol):
    """What a step after training has to offer.

    A step sees all seeds of a method on one task and subset of the episodes at once, in one
    order when it learns and when it is applied: one that learns run by run goes through them, one
    that brings runs together reads them all.
    """

    @property
    def name(self) -> str:
        """What the step goes by in stored networks."""
        ...

    def learn(
        self, judged: Sequence[JudgedFrames], numbers: Hyperparameters
    ) -> Sequence[dict[str, Tensor]]:
        """What there is to remember of each run; names without a slash."""
        ...

    def apply(
        self, value: FloatArray, learned: Sequence[Learned], numbers: Hyperparameters
    ) -> FloatArray:
        """Values (runs, frames) of any frames become values of the same shape and meaning."""
        ...
