"""An encoder in 8 bits as one file: made once, kept beside the embeddings that it made.

    <cache>/embeddings/<encoder>-<pool>-<key>/network.onnx

One picture in, one vector out; how a picture is prepared stands in its metadata, with a checksum.
Whoever has the file needs neither the model's own files nor torch to run it.
"""

# pyright: basic
# (onnx and onnxruntime ship no type stubs)

import json
import logging
import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from goalward.checksums import (
    CHECKSUM_KEY,
    CHECKSUM_PLACE,
    DamagedFile,
    check,
    written_with_checksum,
)
from goalward.embeddings.cache.encoder_cache import NETWORK
from goalward.embeddings.encoders import INT8, Encoder
from goalward.embeddings.models.preprocessing import Resize, ResizeAndCrop, resize_from
from goalward.errors import GoalwardError, argument

if TYPE_CHECKING:
    import onnx
    import torch

    from goalward.embeddings.models.image_net import ImageNet

FACTS = "goalward"
# Raise it when the same weights would give other numbers.
_RECIPE = 1
# Has GELU and LayerNormalization as operators of their own, which ONNX Runtime has fast code for.
_OPSET = 20
# Between 8 bits and float32, on made-up pictures; trained transformers have above 0.995.
_LEAST_COSINE = 0.95
_NUM_PROBES = 4

_log = logging.getLogger(__name__)


def eight_bit_file(encoder: Encoder, folder: Path) -> Path:
    """The file of this encoder in its folder of the cache, made if it is not there."""
    path = folder / NETWORK
    adds_exactly = _eight_bits()
    if not adds_exactly():
        raise GoalwardError(
            f"{argument('precision', INT8)}: this processor has no VNNI, and sums of 8-bit "
            f"products overflow in it; leave out {argument('precision')}"
        )
    if _is_whole(path, encoder):
        return path
    _log.info("%s: its network is written in 8 bits, once", encoder.label)
    model, facts = _made(encoder)
    for name, text in ((FACTS, json.dumps(facts, sort_keys=True)), (CHECKSUM_KEY, CHECKSUM_PLACE)):
        entry = model.metadata_props.add()
        entry.key, entry.value = name, text
    with written_with_checksum(path) as temporary:
        temporary.write_bytes(model.SerializeToString())
    _log.info("%s: cosine to float32 at least %.4f, on made-up pictures", path, facts["cosine"])
    return path


def prepared_by(path: Path) -> Resize | ResizeAndCrop:
    """How a picture is prepared for the network in this file."""
    import onnx

    (facts,) = (one.value for one in onnx.load(path).metadata_props if one.key == FACTS)
    return resize_from(json.loads(facts)["resize"])


def _eight_bits() -> Any:
    try:
        from goalward.embeddings.onnx.eight_bit import adds_exactly
    except ImportError as error:
        raise GoalwardError(
            f"{argument('precision', INT8)} needs the packages onnx and onnxruntime: "
            "pip install 'goalward[onnx]'"
        ) from error
    return adds_exactly


def _is_whole(path: Path, encoder: Encoder) -> bool:
    """Whether the file is there, as it was written, of this encoder and this recipe."""
    import onnx

    if not path.exists():
        return False
    try:
        check(path, always_carried=True)
        metadata = {one.key: one.value for one in onnx.load(path).metadata_props}
        facts = json.loads(metadata[FACTS])
        return facts["encoder"] == encoder.label and facts["recipe"] == _RECIPE
    except (DamagedFile, LookupError, ValueError, TypeError) as error:
        reason = error.reason if isinstance(error, DamagedFile) else error
        _log.warning("%s: is made anew (%s)", path, reason)
        return False


def _made(encoder: Encoder) -> "tuple[onnx.ModelProto, dict[str, Any]]":
    import onnx
    import torch

    from goalward.embeddings.models.image_net import PixelNet
    from goalward.embeddings.onnx.eight_bit import in_eight_bits
    from goalward.embeddings.onnx.export import as_onnx

    net = encoder.load()
    if not isinstance(net.resize, Resize | ResizeAndCrop):
        raise GoalwardError(
            f"{encoder.label}: its pictures are prepared by code of transformers, which a network "
            f"in 8 bits does without; leave out {argument('precision')}"
        )
    reference = PixelNet(net.net, net.normalisation).eval()
    probes = _probes(net)
    model = onnx.load_from_string(as_onnx(reference, probes[:1], "pixels", opset=_OPSET))
    if not in_eight_bits(model):
        raise GoalwardError(
            f"{argument('precision', INT8)}: {encoder.label} has no matrix products with weights; "
            "8 bits are for vision transformers"
        )
    with torch.inference_mode():
        wanted = torch.cat([reference(probe[None]) for probe in probes]).numpy()
    cosine = _least_cosine(model.SerializeToString(), probes.numpy(), wanted)
    if cosine < _LEAST_COSINE:
        raise GoalwardError(
            f"{encoder.label}: in 8 bits it gives other vectors (cosine {cosine:.3f} to float32 on "
            f"made-up pictures); leave out {argument('precision')}"
        )
    facts = {
        "encoder": encoder.label,
        "recipe": _RECIPE,
        "resize": asdict(net.resize),
        "width": net.width,
        "cosine": cosine,
    }
    return model, facts


def _probes(net: "ImageNet") -> "torch.Tensor":
    """Pictures with large and small things in them, as the network takes them."""
    import torch

    generator = np.random.default_rng(0)
    pictures = []
    for number in range(_NUM_PROBES):
        coarse = generator.integers(0, 256, (4 << number, 4 << number, 3), dtype=np.uint8)
        times = 224 // (4 << number)
        pictures.append(net.resize(coarse.repeat(times, 0).repeat(times, 1)))
    return torch.from_numpy(np.stack(pictures))


def _least_cosine(model: bytes, probes: np.ndarray, wanted: np.ndarray) -> float:
    from goalward.embeddings.onnx.eight_bit_runner import session_of

    session = session_of(model, threads=os.cpu_count() or 1)
    told = [np.asarray(session.run(None, {"pixels": probe[None]})[0]) for probe in probes]
    got = np.concatenate(told)
    lengths = np.linalg.norm(got, axis=1) * np.linalg.norm(wanted, axis=1)
    return float(((got * wanted).sum(axis=1) / np.maximum(lengths, 1e-30)).min())
