"""All that a score may need: what was predicted, how the episodes ended, what training saw."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from goalward.metrics.scores.movement import Movement, movement
from goalward.metrics.scores.paper_metrics import Pool
from goalward.rollouts.endings import Endings, FloatArray


@dataclass(frozen=True, eq=False)
class Predictions:
    """What one method predicted on some episodes.

    `steps` (seeds, frames) are predicted steps to the goal, inf for never; `horizon` is the task's
    standard horizon. `training` are the predictions of the same seeds on the episodes they learned
    from, None where nobody knows them. `chance` (frames,) is how likely the method, all seeds of
    it, holds success within the horizon; None where it was not asked.
    """

    steps: FloatArray
    endings: Endings
    horizon: int
    training: "Predictions | None" = None
    pool: Pool = "frames"
    chance: FloatArray | None = None

    def __post_init__(self) -> None:
        steps = np.atleast_2d(self.endings.per_frame(self.steps))
        object.__setattr__(self, "steps", steps)
        if self.training is not None and len(self.training.steps) != len(steps):
            raise ValueError(f"{len(steps)} seeds in test, {len(self.training.steps)} in training")

    @cached_property
    def moves(self) -> Movement:
        """How steps move along each episode; beyond the horizon all is equally far."""
        return movement(self.steps, self.endings, ceiling=self.horizon)
