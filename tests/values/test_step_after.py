"""A step after training, as predictions see it: learned and applied task by task."""

from dataclasses import dataclass

import numpy as np
import pytest
import torch
from rollout_files.two_tasks import TINY, of_task, two_tasks

from goalward.training.methods.stages import MC
from goalward.training.methods.table import Method
from goalward.values.fit import fit

pytestmark = pytest.mark.usefixtures("one_thread")


@dataclass(frozen=True)
class Shift:
    """Lowers values by what it remembers of a run: a thousandth per frame it was shown."""

    name: str = "shift"

    def learn(self, judged, numbers):
        return [{"by": torch.tensor(len(run.rows) / 1000 * numbers.width)} for run in judged]

    def apply(self, value, learned, numbers):
        by = np.array([[float(run["by"]) / numbers.width] for run in learned], dtype=np.float32)
        return value - by


def test_a_step_after_training_learns_and_is_applied_task_by_task():
    """18 frames of one task and 10 of the other, none of them held out."""
    rollouts = two_tasks()
    methods = Method("shifted", (MC,), after=Shift()), Method("plain", (MC,))
    fitted = fit(rollouts, methods, seeds=2, **TINY)
    table = fitted.predict(rollouts)
    by = np.where(of_task("lift"), 0.018, 0.010)
    expected = np.clip(table.raw_values("plain") - by, -1, 0)
    np.testing.assert_allclose(table.raw_values("shifted"), expected, atol=1e-6)
    np.testing.assert_allclose(table.steps("shifted"), -8 * table.raw_values("shifted"), rtol=1e-5)
