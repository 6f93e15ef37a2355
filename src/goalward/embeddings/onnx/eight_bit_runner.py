"""An encoder in 8 bits on the CPU: pictures one by one, as many at a time as there are cores.

One picture at a time is faster than a batch, whose activations do not fit into a core's cache
(7.1 against 5.9 frames a second, SigLIP2-B's shape), and a picture cannot depend on its company.
"""

# pyright: basic
# (onnxruntime ships no type stubs)

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import onnxruntime

from goalward.embeddings.encoders import INT8
from goalward.embeddings.models.preprocessing import Prepare
from goalward.embeddings.onnx.eight_bit_files import prepared_by
from goalward.rollouts.frames import Image

Vectors = np.ndarray


def session_of(model: bytes | str, threads: int) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    # Waiting threads sleep: the decoder needs the cores between two pictures.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


class EightBitRunner:
    """Batches of any size; a thread has a picture for itself."""

    precision: str = INT8

    def __init__(self, path: Path, batch_size: int, threads: int) -> None:
        self.batch_size = batch_size
        self._session = session_of(str(path), threads=1)
        self.prepare: Prepare = prepared_by(path)
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="encoder")

    def new_batch(self, height: int, width: int) -> Image:
        return np.zeros((self.batch_size, height, width, 3), dtype=np.uint8)

    def submit(self, pixels: Image) -> Callable[[], Vectors]:
        vectors = np.concatenate(list(self._threads.map(self._vector, pixels)))
        return lambda: vectors

    def _vector(self, picture: Image) -> Vectors:
        return np.asarray(self._session.run(None, {"pixels": picture[None]})[0])
