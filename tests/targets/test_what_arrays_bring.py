"""What arrays bring along is kept: leading axes, whole numbers, the device, values out of range."""

import numpy as np
import torch

from goalward.targets.liveness import liveness_target
from goalward.targets.namespace import arange_like
from goalward.targets.survival import hazard_loss, hazard_targets, success_probability

EDGES = np.array([0.0, 1.0, 2.0, 3.0])
# Of two runs for one frame: hazards of 1/2 and of 1/4 in each of three bins of one step.
LOGITS = np.array([[[0.0, 0, 0]], [[-np.log(3), -np.log(3), -np.log(3)]]])


def test_loss_of_several_runs_is_the_loss_of_each():
    """Success after one step: 1/2 then 1/2, or 3/4 then 1/4."""
    loss = hazard_loss(LOGITS, np.array([1]), np.array([True]), EDGES)
    assert loss.shape == (2, 1)
    np.testing.assert_allclose(np.exp(-loss), [[1 / 4], [3 / 16]])


def test_chance_of_several_runs_is_the_chance_of_each():
    """Within one step there are two tries: 1 - 1/2^2 and 1 - (3/4)^2."""
    np.testing.assert_allclose(success_probability(LOGITS, EDGES, 1.0), [[3 / 4], [7 / 16]])


def test_whole_steps_take_the_precision_of_the_edges():
    edges = EDGES.astype(np.float32)
    passed, succeeded = hazard_targets(np.array([1]), np.array([True]), edges)
    assert passed.dtype == succeeded.dtype == np.float32
    passed, succeeded = hazard_targets(
        torch.tensor([1]), torch.tensor([True]), torch.tensor(EDGES, dtype=torch.float64)
    )
    assert passed.dtype == succeeded.dtype == torch.float64


def test_counting_stays_on_the_device():
    on_no_device = torch.zeros(2, dtype=torch.float64, device="meta")
    counted = arange_like(on_no_device, 3)
    assert counted.device.type == "meta"
    assert counted.dtype == torch.float64
    assert counted.shape == (3,)


def test_after_the_last_frame_nothing_is_worse_than_never():
    """An anchor network may say 1.5; the last frame of an episode is worth 1 even so."""
    no, yes = np.array([False]), np.array([True])
    value = liveness_target(np.array([1.5]), np.array([0.3]), no, yes, discount=0.9)
    np.testing.assert_allclose(value, [1.0])
