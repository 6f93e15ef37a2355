"""The same code on CUDA: graph replay, bfloat16 products and fused kernels change little."""

import numpy as np
import pytest
import torch

import goalward
from goalward.training.methods.table import METHODS

# bfloat16 keeps three digits; after this many steps the two trainings have drifted apart by less
# than the difference between two seeds (0.0001 to 0.012 seen on an H200).
TOLERANCE = 0.02


def make_rollouts() -> goalward.Rollouts:
    rng = np.random.default_rng(0)
    ramp = np.linspace(0, 1, 30)[:, None]
    look = rng.normal(size=(4, 6))
    features = [
        np.hstack([sign * ramp, ramp**2]) @ look[:2] + 0.05 * rng.normal(size=(30, 6))
        for sign in (1, -1) * 10
    ]
    return goalward.from_arrays(features, success=[True, False] * 10)


def fitted(rollouts: goalward.Rollouts, method: str, device: str, **options) -> goalward.Fitted:
    # Early stopping would compare the networks of two different moments.
    small = {"width": 64, "num_steps": 600, "batch_size": 128, "held_out_fraction": 0.0}
    return goalward.fit(rollouts, method, seeds=2, device=device, **small | options)


def both(method: str, **options) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Values, chances within 8 steps and logged losses, on CUDA and on the CPU."""
    rollouts = make_rollouts()
    found = []
    for device in ("cuda", "cpu"):
        one = fitted(rollouts, method, device, **options)
        losses = np.array([curve.loss for curve in one.log.curves])
        values = one.predict(rollouts, device=device).raw_values(method)
        found.append((values, one.chances(rollouts, 8, device=device), losses))
    return found


needs_cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device here")


@needs_cuda
@pytest.mark.parametrize("method", METHODS)
def test_cuda_agrees_with_the_cpu(method: str):
    for cuda, cpu in zip(*both(method), strict=True):
        assert np.isfinite(cuda).all()
        assert np.abs(cuda - cpu).mean() < TOLERANCE


@needs_cuda
@pytest.mark.parametrize(
    "options",
    [
        {"cross_fit": 3},
        {"held_out_fraction": 0.2},
        {"lagged_tau": 0.1},
        {"time_out": "open"},
        {"capacity": 100},
    ],
    ids=str,
)
def test_options_work_on_cuda(options):
    for cuda, cpu in zip(*both("liveness", **options), strict=True):
        assert np.isfinite(cuda).all()
        assert np.abs(cuda - cpu).mean() < TOLERANCE


@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="there are no two CUDA devices here")
def test_the_second_card_learns_what_the_first_does():
    rollouts = make_rollouts()
    first, second = (fitted(rollouts, "liveness", f"cuda:{card}") for card in (0, 1))
    values = [one.predict(rollouts).raw_values("liveness") for one in (first, second)]
    np.testing.assert_allclose(*values, atol=1e-6)
