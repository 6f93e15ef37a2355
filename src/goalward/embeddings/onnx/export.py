"""A network of torch as ONNX, by torch's exporter."""

# pyright: basic
# (torch's exporter is not typed)

import io
import warnings
from contextlib import redirect_stdout

import torch
from torch import Tensor, nn

from goalward.errors import GoalwardError


def as_onnx(net: nn.Module, example: Tensor, name: str, *, opset: int | None = None) -> bytes:
    """The network for inputs of the example's shape, which go by this name there."""
    try:
        import onnx  # noqa: F401  torch's exporter needs it
    except ImportError as error:
        raise GoalwardError("this needs the package onnx: pip install 'goalward[onnx]'") from error
    exported = io.BytesIO()
    # Of what it does not know, the exporter prints the whole graph.
    with warnings.catch_warnings(), torch.inference_mode(), redirect_stdout(io.StringIO()):
        # The exporter says that there is a newer one; that one needs yet another package.
        warnings.simplefilter("ignore")
        try:
            torch.onnx.export(
                net,
                (example,),
                exported,  # pyright: ignore  (it does take a file)
                dynamo=False,
                input_names=[name],
                opset_version=opset,
            )
        except Exception as error:  # an operator that it does not know, of whatever class
            first = (str(error).strip().splitlines() or [type(error).__name__])[0]
            raise GoalwardError(f"this network cannot be written as ONNX ({first})") from error
    return exported.getvalue()
