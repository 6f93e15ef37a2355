"""Ways to run an encoder on this CPU, in images per second: the measurement behind the choice.

    python benchmarks/encoder_paths.py

EfficientNet-Lite0 with its real weights and a random network of SigLIP2-B's shape; each way is
checked against torch in float32 by the least cosine over a batch.
"""

import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from torch.nn.functional import cosine_similarity

from embed import siglip2_shape
from goalward.embeddings.encoders import find_encoder
from goalward.embeddings.models.image_net import ImageNet, PixelNet
from goalward.embeddings.onnx.runner import OnnxRunner

_BATCH_SIZE = 16
_SECONDS = 6.0


def speed(run: Callable[[], object]) -> float:
    run()
    started, batches = time.perf_counter(), 0
    while time.perf_counter() - started < _SECONDS:
        run()
        batches += 1
    return batches * _BATCH_SIZE / (time.perf_counter() - started)


def measure(name: str, load: Callable[[], ImageNet]) -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (_BATCH_SIZE, 224, 224, 3), dtype=np.uint8)
    tensor = torch.from_numpy(pixels)
    found = load()
    plain = PixelNet(found.net, found.normalisation)
    with torch.inference_mode():
        wanted = plain(tensor)

    def report(way: str, run: Callable[[], torch.Tensor]) -> None:
        with torch.inference_mode():
            images = speed(run)
            cosine = cosine_similarity(wanted, run().float()).min().item()
        print(f"{name}, {way}: {images:.1f} images/s, cosine at least {cosine:.5f}", flush=True)

    report("torch float32", lambda: plain(tensor))
    fresh = load()
    together = PixelNet(fresh.net, fresh.normalisation)
    together = together.to(memory_format=torch.channels_last)  # pyright: ignore
    report("torch float32, channels last", lambda: together(tensor))

    def in_bfloat16() -> torch.Tensor:
        with torch.autocast("cpu", torch.bfloat16):
            return together(tensor)

    report("torch bfloat16", in_bfloat16)
    compiled = torch.compile(together)
    report("torch.compile", lambda: compiled(tensor))
    runner = OnnxRunner(
        PixelNet(load().net, found.normalisation), found.resize, _BATCH_SIZE, (224, 224)
    )
    report("ONNX Runtime", lambda: torch.from_numpy(runner.submit(pixels)()))


def main() -> None:
    warnings.simplefilter("ignore")
    measure("effnet-lite0", lambda: find_encoder("effnet-lite0").load())
    with tempfile.TemporaryDirectory() as folder:
        encoder = siglip2_shape(Path(folder))
        measure("SigLIP2-B shape", encoder.load)


if __name__ == "__main__":
    main()
