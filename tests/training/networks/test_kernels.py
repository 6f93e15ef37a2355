"""Kernels for CUDA against the same as it is written: on a GPU, or by Triton's interpreter."""

import os

import numpy as np
import pytest
import torch
from torch.nn import functional

CUDA = torch.cuda.is_available()
DEVICE = "cuda" if CUDA else "cpu"
if not os.environ.get("GOALWARD_REQUIRE_TRITON"):
    pytest.importorskip("triton", reason="Triton is not here: make kernels")

import goalward  # noqa: E402
from goalward.training import fit, replay, step  # noqa: E402
from goalward.training.frames import inputs  # noqa: E402
from goalward.training.frames.inputs import standardised  # noqa: E402
from goalward.training.methods.table import METHODS  # noqa: E402
from goalward.training.networks import adam, value_net  # noqa: E402
from goalward.training.networks.fused import Kernels, all_kernels  # noqa: E402

kernels = all_kernels()


def drawn(*shape: int, dtype: torch.dtype = torch.float32, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).to(DEVICE, dtype)


def plain_norm_gelu(hidden, bias, gain, shift):
    normal = functional.layer_norm(hidden.float() + bias, hidden.shape[-1:])
    return functional.gelu(torch.addcmul(shift, normal, gain)).to(hidden.dtype)


@pytest.mark.parametrize("shape", [(1, 4, 512), (3, 37, 24), (2, 70, 300), (1, 64, 512)], ids=str)
def test_layer_norm_and_gelu_with_their_gradients(shape):
    runs, _, width = shape
    given = [drawn(*shape), *(drawn(runs, 1, width, seed=seed) for seed in (1, 2, 3))]
    along = drawn(*shape, seed=4)
    found = []
    for function in (plain_norm_gelu, kernels.norm_gelu):
        leaves = [tensor.clone().requires_grad_() for tensor in given]
        out = function(*leaves)
        found.append((out, *torch.autograd.grad(out, leaves, along)))
    for plain, fused in zip(*found, strict=True):
        assert plain.shape == fused.shape
        torch.testing.assert_close(fused, plain, rtol=1e-4, atol=2e-5)


def stepped(weight, first, second, gradient, copy, count=3.0):
    """Weight, moments and copy after a step, by plain torch and by the kernel."""
    step, rate = torch.tensor(count, device=DEVICE), torch.tensor(1e-2, device=DEVICE)
    sets = [[tensor.clone() for tensor in (weight, first, second, copy)] for _ in range(2)]
    adam.adam_step_with_copy(sets[0][0], gradient, *sets[0][1:3], step, rate, sets[0][3])
    betas = (adam.BETA_1, adam.BETA_2)
    kernels.adam_step_with_copy(
        sets[1][0], gradient, *sets[1][1:3], step, rate, sets[1][3], betas, adam.EPSILON
    )
    return sets


@pytest.mark.parametrize("count", [1.0, 3.0, 5000.0])
def test_a_step_of_adam(count):
    weight, first = drawn(3, 10, 77), 0.1 * drawn(3, 10, 77, seed=1)
    second, gradient = drawn(3, 10, 77, seed=2) ** 2 + 0.1, drawn(3, 10, 77, seed=3)
    by_torch, by_kernel = stepped(weight, first, second, gradient, torch.zeros_like(weight), count)
    for plain, fused in zip(by_torch, by_kernel, strict=True):
        torch.testing.assert_close(fused, plain, rtol=1e-5, atol=1e-5)


def test_a_step_of_adam_where_the_copy_has_more_rows():
    weight, ones = drawn(3, 10, 77), torch.ones(3, 10, 77, device=DEVICE)
    wide = value_net.product_copy(weight, torch.float32)
    by_torch, by_kernel = stepped(weight, ones, ones, drawn(*wide.shape, seed=3), wide)
    for plain, fused in zip(by_torch, by_kernel, strict=True):
        torch.testing.assert_close(fused, plain, rtol=1e-5, atol=1e-5)
    after, *_, copy = by_kernel
    torch.testing.assert_close(copy[:, :10], after)
    assert (copy[:, 10:] == 0).all()


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32], ids=str)
def test_rows_of_features(dtype):
    features = drawn(50, 1301, dtype=dtype)
    rows = torch.arange(18, device=DEVICE).view(3, 6) * 7 % 50
    mean, scale = drawn(3, 1, 1301, seed=1), drawn(3, 1, 1301, seed=2).abs() + 0.5
    found = kernels.gathered(features, rows, mean, scale, torch.float32)
    wanted = standardised(features[rows].float(), mean, scale, torch.float32)
    torch.testing.assert_close(found[..., :1301], wanted, rtol=1e-6, atol=1e-6)
    assert found.shape == (3, 6, 1304), "as many columns as matrix products want"
    assert (found[..., 1301:] == 0).all()


@pytest.mark.parametrize("capacity", [None, 100])
@pytest.mark.parametrize(("num_frames", "batch_size"), [(300, 64), (130, 20)])
def test_draws_are_those_of_replay(num_frames, batch_size, capacity):
    runs, num_batches = 3, 5000
    random = np.random.default_rng(0)
    mass = random.random((runs, num_frames)) * (random.random((runs, num_frames)) > 0.3)
    position = np.zeros((runs, num_frames), dtype=np.int64)
    for run in range(runs):
        position[run, mass[run] > 0] = random.permutation(int((mass[run] > 0).sum()))
    mass = torch.from_numpy(mass).float().to(DEVICE)
    position = torch.from_numpy(position).to(DEVICE)
    count = (mass > 0).sum(1, keepdim=True)
    keys = torch.from_numpy(random.integers(0, 1 << 32, (runs, 1))).to(DEVICE)
    window = None if capacity is None else position
    for batch in (0, 1, 4321):
        index = torch.tensor(batch, device=DEVICE)
        held, there = mass, count
        if capacity is not None:
            held = mass * replay.in_window(position, count, index * batch_size, capacity)
            there = count.clamp(max=capacity)
        rows, chance = replay.sample_rows(held, replay.uniforms(keys, index, batch_size))
        exponent = 0.4 + 0.6 * index / (num_batches - 1)
        weight = replay.importance_weights(chance, there, exponent)
        found, found_weight = kernels.draw(
            mass, window, count, capacity, keys, index, batch_size, (0.4, 1.0), num_batches
        )
        assert (held.gather(1, found) > 0).all()
        # A frame on the edge of its share may be its neighbour's.
        assert (found == rows).float().mean() > 0.99
        same = found == rows
        torch.testing.assert_close(found_weight[same], weight[same], rtol=1e-4, atol=1e-5)


def test_what_is_too_large_is_left_to_the_plain_path():
    assert kernels.takes_width(4096)
    assert not kernels.takes_width(4097)
    assert kernels.can_draw(500_000, 512)
    assert not kernels.can_draw(600_000, 512)


def trained(method: str, learning_rate: float) -> tuple[np.ndarray, np.ndarray]:
    """Values after one batch on the CPU, and its loss; later batches draw by what rounding left."""
    ramp = np.linspace(0, 1, 24)[:, None]
    look = np.random.default_rng(0).normal(size=(2, 6))
    features = [np.hstack([sign * ramp, ramp**2]) @ look for sign in (1, -1) * 4]
    rollouts = goalward.from_arrays(features, success=[True, False] * 4)
    numbers = {"width": 32, "num_steps": 2, "batch_size": 64, "held_out_fraction": 0.0}
    rounds = {"rounds": 1, "cross_fit": 2} if method == "lambda-returns" else {}
    fitted = goalward.fit(
        rollouts,
        method,
        seeds=1,
        device="cpu",
        learning_rate=learning_rate,
        **numbers,
        **rounds,
    )
    losses = np.array([curve.loss for curve in fitted.log.curves])
    return fitted.predict(rollouts, device="cpu").raw_values(method), losses


@pytest.fixture
def one_thread():
    """Triton's interpreter is for one thread at a time."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.mark.skipif(
    CUDA, reason="a GPU trains with the kernels itself: tests/training/test_cuda.py"
)
@pytest.mark.parametrize("method", METHODS)
def test_every_method_trains_with_the_kernels_as_without(method, one_thread, monkeypatch):
    # As on CUDA, where weights have a copy that products read.
    monkeypatch.setattr(fit, "product_dtype", lambda device: torch.bfloat16)
    untrained, _ = trained(method, 1e-12)
    plain, plain_losses = trained(method, 1e-2)
    asked: set[torch.dtype] = set()

    def interpreted(tensor: torch.Tensor, dtype: torch.dtype) -> Kernels | None:
        asked.add(dtype)
        return kernels if dtype is torch.bfloat16 else None

    for module in (adam, inputs, step, value_net):
        monkeypatch.setattr(module, "kernels_for", interpreted)
    found, losses = trained(method, 1e-2)
    assert asked == {torch.bfloat16, torch.float32}
    # Products are rounded to 8 bits in both, not in the same places.
    np.testing.assert_allclose(losses, plain_losses, rtol=2e-2, atol=2e-3)
    moved, apart = np.abs(plain - untrained).mean(), np.abs(found - plain).mean()
    assert apart < 0.05 * moved
