"""The matrix products of a network in 8 bits: what a vision transformer spends its time on.

A product of activations with weights becomes

    A W  ~  row (A_8 W_8) column          row_i = max |A_i| / 127,   column_j = max |W_j| / 127

with integers in between, which are summed without rounding. The usual recipes take one scale for
all activations of a layer, and a trained transformer has a few that are a hundred times the others:
here every row (a patch of a picture) has a scale of its own, found when it is seen, so that nothing
has to be calibrated and no picture changes another one's numbers.

Products of activations with activations, in attention, stay in float32, as does all else.

Processors without VNNI add two products in 16 bits, which overflow without a word: `adds_exactly`
finds out, and such a processor is refused.
"""

# pyright: basic
# (onnx builds its classes at run time)

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper

_LARGEST = 127
# Activations are unsigned there, around this zero.
_ZERO = 128
# A row of zeros is divided by this.
_TINY = 1e-12
_CONTRIBUTED = "com.microsoft"


def in_eight_bits(model: onnx.ModelProto) -> int:
    """Change the products of a float32 network in place; how many there were."""
    graph = model.graph
    weights = _weights(graph)
    quantised: dict[str, tuple[str, str]] = {}
    nodes: list[onnx.NodeProto] = []
    added: list[onnx.TensorProto] = []
    num_changed = 0
    for node in graph.node:
        weight = weights.get(node.input[1]) if node.op_type == "MatMul" else None
        if weight is None or len(weight.dims) != 2:
            nodes.append(node)
            continue
        activations = node.input[0]
        if activations not in quantised:
            before, *names = _rows_in_eight_bits(activations)
            nodes += before
            quantised[activations] = names[0], names[1]
        tensors, product = _product(node, weight, *quantised[activations], f"eight{num_changed}")
        added += tensors
        nodes += product
        num_changed += 1
    if not num_changed:
        return 0
    added += [
        numpy_helper.from_array(np.array(1 / _LARGEST, np.float32), "eight_unit"),
        numpy_helper.from_array(np.array(_ZERO, np.uint8), "eight_zero"),
        numpy_helper.from_array(np.array(_TINY, np.float32), "eight_tiny"),
        numpy_helper.from_array(np.array([-1], np.int64), "eight_last"),
    ]
    del graph.node[:]
    graph.node.extend(nodes)
    _keep_used(graph, added)
    if all(one.domain != _CONTRIBUTED for one in model.opset_import):
        model.opset_import.append(helper.make_opsetid(_CONTRIBUTED, 1))
    return num_changed


def adds_exactly() -> bool:
    """Whether this processor sums products of 8-bit numbers without overflow."""
    size = 64
    whole = helper.make_tensor_value_info("whole", onnx.TensorProto.UINT8, [1, size])
    total = helper.make_tensor_value_info("total", onnx.TensorProto.INT32, [1, 1])
    weights = numpy_helper.from_array(np.full((size, 1), _LARGEST, np.int8), "weights")
    node = helper.make_node("MatMulInteger", ["whole", "weights"], ["total"])
    graph = helper.make_graph([node], "sum", [whole], [total], [weights])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    largest = np.full((1, size), 255, np.uint8)
    (found,) = session.run(None, {"whole": largest})
    return int(np.asarray(found).item()) == size * 255 * _LARGEST


def _weights(graph: onnx.GraphProto) -> dict[str, onnx.TensorProto]:
    """Tensors that are constant, by every name they go under."""
    found = {tensor.name: tensor for tensor in graph.initializer}
    for node in graph.node:
        # The exporter keeps equal tensors once, and gives the others as copies.
        if node.op_type == "Identity" and node.input[0] in found:
            found[node.output[0]] = found[node.input[0]]
    return found


def _rows_in_eight_bits(name: str) -> tuple[list[onnx.NodeProto], str, str]:
    """Nodes that make (whole numbers, the largest of each row) of some activations."""
    size, largest, row = f"{name}_size", f"{name}_largest", f"{name}_row"
    shares, whole = f"{name}_shares", f"{name}_whole"
    nodes = [
        helper.make_node("Abs", [name], [size]),
        helper.make_node("ReduceMax", [size, "eight_last"], [largest], keepdims=1),
        helper.make_node("Max", [largest, "eight_tiny"], [row]),
        helper.make_node("Div", [name, row], [shares]),
        helper.make_node("QuantizeLinear", [shares, "eight_unit", "eight_zero"], [whole]),
    ]
    return nodes, whole, row


def _product(
    node: onnx.NodeProto, weight: onnx.TensorProto, whole: str, row: str, name: str
) -> tuple[list[onnx.TensorProto], list[onnx.NodeProto]]:
    numbers = numpy_helper.to_array(weight)
    column = np.abs(numbers).max(axis=0) / _LARGEST
    column = np.where(column > 0, column, 1).astype(np.float32)
    rounded = np.rint(numbers / column).astype(np.int8)
    tensors = [
        numpy_helper.from_array(rounded, f"{name}_weights"),
        numpy_helper.from_array(column, f"{name}_columns"),
    ]
    inputs = [whole, f"{name}_weights", "eight_unit", f"{name}_columns", "eight_zero"]
    product = f"{name}_product"
    nodes = [
        helper.make_node("MatMulIntegerToFloat", inputs, [product], domain=_CONTRIBUTED),
        helper.make_node("Mul", [product, row], [node.output[0]]),
    ]
    return tensors, nodes


def _keep_used(graph: onnx.GraphProto, added: list[onnx.TensorProto]) -> None:
    """Leave out what nothing reads any more: the weights in float32."""
    read = {name for node in graph.node for name in node.input}
    copied = [node for node in graph.node if node.op_type != "Identity" or node.output[0] in read]
    read = {name for node in copied for name in node.input} | {
        output.name for output in graph.output
    }
    kept = [tensor for tensor in (*graph.initializer, *added) if tensor.name in read]
    del graph.node[:]
    graph.node.extend(copied)
    del graph.initializer[:]
    graph.initializer.extend(kept)
