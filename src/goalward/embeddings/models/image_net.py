"""A network that turns bytes of pictures into vectors, and the fastest correct way to run it."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn.functional import cosine_similarity

from goalward.embeddings.models.pillow_resize import PillowResize, can_resize
from goalward.embeddings.models.preprocessing import (
    Normalisation,
    Prepare,
    Resize,
    ResizeAndCrop,
    as_it_is,
)
from goalward.rollouts.frames import Image

Vectors = npt.NDArray[np.float32]

# Frames per forward pass. Fixed per device, so that the same frames always give the same bytes;
# larger batches are no faster (benchmarks/embed.py).
_BATCH_SIZE = {"cpu": 16, "cuda": 256}
# Bytes of pictures resized at once: the numbers in between take several times their room.
_RESIZED_BYTES = 32 << 20
# The least cosine between another way to run a network and torch in float32.
_SAME_VECTOR = 0.9999


class Runner(Protocol):
    """Runs a network on batches of one size, on one device.

    `prepare` is what has to happen to a frame before it goes into a batch.
    """

    precision: str
    batch_size: int
    prepare: Prepare

    def new_batch(self, height: int, width: int) -> Image:
        """Room for one batch of prepared frames: (batch_size, height, width, 3) bytes, zero."""
        ...

    def submit(self, pixels: Image) -> Callable[[], Vectors]:
        """Start on a full batch; the result is there when the returned function returns."""
        ...


@dataclass(frozen=True, eq=False)
class ImageNet:
    """A network in float32 on the CPU, with the way from a picture to its input."""

    net: nn.Module
    width: int
    resize: Prepare
    normalisation: Normalisation
    onnx_on_cpu: bool = False

    def on(self, device: torch.device, batch_size: int | None = None) -> Runner:
        """The fastest way to run it there whose vectors are the same."""
        batch_size = _BATCH_SIZE.get(device.type, 64) if batch_size is None else batch_size
        reference = PixelNet(self.net, self.normalisation)
        if self.onnx_on_cpu and device.type == "cpu":
            runner = self._onnx_runner(reference, batch_size)
            if runner is not None:
                return runner
        if device.type == "cpu":
            # Convolutions are half as fast again on channels that lie together.
            reference = reference.to(memory_format=torch.channels_last)  # pyright: ignore
        return TorchRunner(reference, self.resize, device, batch_size)

    def _onnx_runner(self, reference: "PixelNet", batch_size: int) -> Runner | None:
        try:
            from goalward.embeddings.onnx.runner import OnnxRunner
        except ImportError:
            warnings.warn(
                "onnxruntime and onnx are not installed; with them this encoder is three times "
                "as fast (pip install 'goalward[offline]')",
                stacklevel=4,
            )
            return None
        probe = self.resize(
            np.arange(64 * 64 * 3, dtype=np.uint32).astype(np.uint8).reshape(64, 64, 3)
        )
        runner = OnnxRunner(reference, self.resize, batch_size, probe.shape[:2])
        batch = runner.new_batch(*probe.shape[:2])
        batch[0] = probe
        with torch.inference_mode():
            wanted = reference(torch.from_numpy(batch[:1]))
        got = torch.from_numpy(runner.submit(batch)()[:1])
        if cosine_similarity(wanted, got).item() < _SAME_VECTOR:
            warnings.warn("onnxruntime gives other vectors than torch; torch is used", stacklevel=4)
            return None
        return runner


class PixelNet(nn.Module):
    """Bytes (images, height, width, 3) -> vectors (images, size) in float32."""

    def __init__(self, net: nn.Module, normalisation: Normalisation) -> None:
        super().__init__()
        self.net = net
        std = torch.tensor(normalisation.std)
        self.register_buffer("gain", normalisation.scale / std)
        self.register_buffer("offset", -torch.tensor(normalisation.mean) / std)
        self.gain: Tensor
        self.offset: Tensor
        self.dtype = torch.float32

    def forward(self, pixels: Tensor) -> Tensor:
        numbers = pixels.float() * self.gain + self.offset
        return self.net(numbers.permute(0, 3, 1, 2).to(self.dtype)).float()


class TorchRunner:
    """A network run by torch: float32 on the CPU; bfloat16 on CUDA, which resizes frames too."""

    def __init__(
        self, net: PixelNet, resize: Prepare, device: torch.device, batch_size: int
    ) -> None:
        self.batch_size = batch_size
        self.precision = "bfloat16" if device.type == "cuda" else "float32"
        self.prepare = resize
        self._resize: Resize | ResizeAndCrop | None = None
        self._resizers: dict[tuple[int, int], nn.Module] = {}
        self._device = device
        self._net = net.to(device)
        self._rows_at_once = batch_size
        if device.type == "cuda":
            net.net.to(torch.bfloat16)
            net.dtype = torch.bfloat16
            if isinstance(resize, Resize | ResizeAndCrop) and can_resize(resize.resample):
                self._resize, self.prepare = resize, as_it_is

    def new_batch(self, height: int, width: int) -> Image:
        batch = torch.zeros(self.batch_size, height, width, 3, dtype=torch.uint8)
        # Only from pinned memory can the GPU take a batch while the next one is filled.
        return (batch.pin_memory() if self._device.type == "cuda" else batch).numpy()

    def submit(self, pixels: Image) -> Callable[[], Vectors]:
        with torch.inference_mode():
            vectors = self._vectors(torch.from_numpy(pixels))
            if self._device.type != "cuda":
                return lambda: vectors.cpu().numpy()
            on_host = torch.empty(vectors.shape, pin_memory=True)
            on_host.copy_(vectors, non_blocking=True)
        arrived = torch.cuda.Event()
        # Of the device that copies: the current one may be another, whose stream knows nothing of
        # it, and the vectors would be taken before they are there.
        arrived.record(torch.cuda.current_stream(self._device))

        def result() -> Vectors:
            arrived.synchronize()
            return on_host.numpy()

        return result

    def _vectors(self, frames: Tensor) -> Tensor:
        while True:
            try:
                parts = frames.split(self._rows_at_once)
                return torch.cat([self._net(self._prepared(part)) for part in parts])
            except torch.cuda.OutOfMemoryError:
                if self._rows_at_once == 1:
                    raise
                self._rows_at_once //= 2
                torch.cuda.empty_cache()

    def _prepared(self, frames: Tensor) -> Tensor:
        on_device = frames.to(self._device, non_blocking=True)
        if self._resize is None:
            return on_device
        height, width = frames.shape[1:3]
        shape = self._resize.geometry(height, width)
        resizer = self._resizers.get((height, width))
        if resizer is None:
            size = (shape.height, shape.width)
            resizer = PillowResize((height, width), size, self._resize.resample).to(self._device)
            self._resizers[height, width] = resizer
        at_once = max(_RESIZED_BYTES // (height * width * 3), 1)
        resized = torch.cat([resizer(part) for part in on_device.split(at_once)])
        rows = slice(shape.top, shape.top + shape.crop_height)
        return resized[:, rows, shape.left : shape.left + shape.crop_width]
