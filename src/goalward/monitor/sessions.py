"""A network in an ONNX file, run by ONNX Runtime on the CPU."""

# pyright: basic
# (onnxruntime ships no type stubs)

from pathlib import Path

import numpy as np
import numpy.typing as npt

from goalward.errors import GoalwardError


class Session:
    """One input, any number of outputs."""

    def __init__(self, path: Path, threads: int) -> None:
        try:
            import onnxruntime
        except ImportError as error:
            raise GoalwardError(
                "a monitor needs onnxruntime: pip install 'goalward[onnx]'"
            ) from error
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        # Waiting threads sleep: the robot needs the cores between two frames.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        try:
            self._session = onnxruntime.InferenceSession(
                str(path), options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # whatever its C++ raises
            first = str(error).strip().splitlines()[0]
            raise GoalwardError(f"{path}: ONNX Runtime cannot run it ({first})") from error
        self._input = self._session.get_inputs()[0].name
        # How many it takes at a time: a network in 8 bits takes one, all others all cameras.
        self.num_at_once = int(self._session.get_inputs()[0].shape[0])

    def run(self, inputs: npt.NDArray) -> list[npt.NDArray[np.float32]]:
        return [np.asarray(one) for one in self._session.run(None, {self._input: inputs})]
