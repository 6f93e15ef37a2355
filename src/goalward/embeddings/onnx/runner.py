"""A network run by ONNX Runtime: on the CPU, several times as fast as torch for convolutions."""

# pyright: basic
# (onnxruntime ships no type stubs)

from collections.abc import Callable

import numpy as np
import onnx  # noqa: F401  without it there is nothing to run
import onnxruntime
import torch
from torch import nn

from goalward.embeddings.models.preprocessing import Prepare
from goalward.embeddings.onnx.export import as_onnx
from goalward.rollouts.frames import Image

Vectors = np.ndarray


class OnnxRunner:
    """Batches of one size on the CPU in float32."""

    precision = "float32"

    def __init__(
        self, net: nn.Module, resize: Prepare, batch_size: int, size: tuple[int, ...]
    ) -> None:
        self.batch_size = batch_size
        self.prepare = resize
        example = torch.zeros(batch_size, *size, 3, dtype=torch.uint8)
        exported = as_onnx(net, example, "pixels")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = torch.get_num_threads()
        # Waiting threads sleep: the decoder needs the cores between two batches.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self._session = onnxruntime.InferenceSession(
            exported, options, providers=["CPUExecutionProvider"]
        )

    def new_batch(self, height: int, width: int) -> Image:
        return np.zeros((self.batch_size, height, width, 3), dtype=np.uint8)

    def submit(self, pixels: Image) -> Callable[[], Vectors]:
        (vectors,) = self._session.run(None, {"pixels": pixels})
        return lambda: np.asarray(vectors)
