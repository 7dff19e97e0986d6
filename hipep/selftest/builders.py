"""A builder of cases for each operator; what has none is tried by its schema."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from hipep.differences import Array
from hipep.selftest import references
from hipep.selftest.case import SelfCase, values
from hipep.small_models import graph_model, import_onnx, node_model

# Rows shorter than a warp, of several blocks, and of no elements.
SHAPES = ((3, 5), (2, 300), (1, 5000), (0, 4))
Builder = Callable[[str, int, str], Iterator[SelfCase]]


def unary(op_type: str, opset: int, dtype: str) -> Iterator[SelfCase]:
    """Elementwise operators of one input."""
    function = references.UNARY.get(op_type)
    model = node_model(op_type, {"x": (dtype, [None, None])}, {"y": dtype}, opset=opset)
    feeds = [{"x": values(dtype, shape, 1, special=True)} for shape in SHAPES]
    yield SelfCase(op_type, opset, dtype, "", model, feeds, function and (lambda x: [function(x)]))


def binary(op_type: str, opset: int, dtype: str) -> Iterator[SelfCase]:
    """Elementwise operators of two inputs, one of which is broadcast."""
    function = references.BINARY[op_type]
    inputs = {"a": (dtype, [None, None]), "b": (dtype, [None])}
    model = node_model(op_type, inputs, {"y": dtype}, opset=opset)
    feeds = [
        {"a": values(dtype, shape, 1, special=True), "b": values(dtype, shape[1:], 2, low=1)}
        for shape in SHAPES
    ]

    def reference(a: Array, b: Array) -> Sequence[Any]:
        if op_type == "Div" and not references.is_float(a):
            quotient = np.trunc(a.astype(np.float64) / b)
            return [quotient.astype(a.dtype)]
        return [function(a, b)]

    yield SelfCase(op_type, opset, dtype, "", model, feeds, reference)


def reduction(op_type: str, opset: int, dtype: str) -> Iterator[SelfCase]:
    """Reductions of the last axis."""
    attributes: dict[str, Any] = {}
    constants = {"axes": np.array([-1], np.int64)}
    if opset < (13 if op_type == "ReduceSum" else 18):
        # Negative axes came with the eleventh definitions.
        attributes, constants = {"axes": [1]}, {}
    inputs = {"x": (dtype, [None, None])}
    model = node_model(
        op_type, inputs, {"y": dtype}, constants=constants, opset=opset, **attributes
    )
    special = op_type != "ReduceSum"
    feeds = [{"x": values(dtype, shape, 1, special=special)} for shape in SHAPES]
    yield SelfCase(
        op_type, opset, dtype, "", model, feeds, lambda x: [references.reduction(op_type, x)]
    )


def arg_extreme(op_type: str, opset: int, dtype: str) -> Iterator[SelfCase]:
    """ArgMax and ArgMin of the last axis."""
    model = node_model(op_type, {"x": (dtype, [None, None])}, {"y": "int64"}, opset=opset, axis=1)
    feeds = [{"x": values(dtype, shape, 1, special=True)} for shape in SHAPES]
    yield SelfCase(
        op_type, opset, dtype, "", model, feeds, lambda x: [references.arg_extreme(op_type, x)]
    )


def view(op_type: str, opset: int, dtype: str) -> Iterator[SelfCase]:
    """Operators that only change the shape."""
    axes = np.array([1 if op_type == "Squeeze" else 0], np.int64)
    shapes = [(n, 1, m) for n, m in SHAPES] if op_type == "Squeeze" else list(SHAPES)
    attributes: dict[str, Any] = {}
    constants: dict[str, Array] = {}
    if op_type == "Reshape":
        constants = {"shape": np.array([-1], np.int64)}
    elif op_type != "Flatten" and opset < 13:
        attributes = {"axes": axes.tolist()}
    elif op_type != "Flatten":
        constants = {"axes": axes}
    rank = len(shapes[0])
    model = node_model(
        op_type,
        {"x": (dtype, [None] * rank)},
        {"y": dtype},
        constants=constants,
        opset=opset,
        **attributes,
    )
    results: dict[str, Callable[[Array], Array]] = {
        "Flatten": lambda x: x,
        "Reshape": lambda x: x.reshape(-1),
        "Squeeze": lambda x: x[:, 0],
        "Unsqueeze": lambda x: x[None],
    }
    feeds = [{"x": values(dtype, shape, 1)} for shape in shapes]
    yield SelfCase(op_type, opset, dtype, "", model, feeds, lambda x: [results[op_type](x)])


def shape_or_size(op_type: str, opset: int, dtype: str) -> Iterator[SelfCase]:
    """Shape and Size."""
    model = node_model(op_type, {"x": (dtype, [None, None])}, {"y": "int64"}, opset=opset)
    feeds = [{"x": values(dtype, shape, 1)} for shape in SHAPES]

    def reference(x: Array) -> Sequence[Any]:
        return [np.array(x.shape if op_type == "Shape" else x.size, np.int64)]

    yield SelfCase(op_type, opset, dtype, "", model, feeds, reference)


def gather(op_type: str, opset: int, dtype: str) -> Iterator[SelfCase]:
    """Gather along both axes; the indices are fed."""
    inputs = {"x": (dtype, [None, None]), "i": ("int64", [None])}
    for axis in (0, 1):
        model = node_model(op_type, inputs, {"y": dtype}, opset=opset, axis=axis)
        feeds = [
            {"x": values(dtype, shape, 1), "i": np.array([0, shape[axis] - 1, 0], np.int64)}
            for shape in SHAPES
            if shape[axis]
        ]
        yield SelfCase(
            op_type,
            opset,
            dtype,
            f"axis {axis}",
            model,
            feeds,
            lambda x, i, axis=axis: [np.take(x, i, axis)],
        )


def cast(op_type: str, opset: int, dtype: str) -> Iterator[SelfCase]:
    """Cast to a float and to an integer type."""
    for to in ("float32", "float16", "int64", "bool"):
        element_type = import_onnx().helper.np_dtype_to_tensor_dtype(np.dtype(to))
        inputs = {"x": (dtype, [None, None])}
        model = node_model(op_type, inputs, {"y": to}, opset=opset, to=element_type)
        feeds = [{"x": values(dtype, shape, 1, low=0)} for shape in SHAPES]
        yield SelfCase(
            op_type, opset, dtype, f"to {to}", model, feeds, lambda x, to=to: [x.astype(to)]
        )


def top_k(op_type: str, opset: int, dtype: str) -> Iterator[SelfCase]:
    """TopK with K from each source, few and many, along both axes."""
    inputs: dict[str, tuple[str, Sequence[Any] | None]] = {"x": (dtype, [None, None])}
    outputs = {"values": dtype, "indices": "int64"}
    for k, axis, shapes in (
        (1, -1, [(3, 5), (2, 300), (1, 5000), (1, 100_000)]),
        (5, -1, [(3, 5), (2, 300), (1, 5000), (40, 70)]),
        (50, -1, [(2, 300), (1, 5000), (1, 100_000)]),
        (2000, -1, [(1, 5000)]),
        (2, 0, [(3, 5), (300, 7)]),
    ):
        constants: dict[str, Array] = {"k": np.array([k], np.int64)}
        attributes = {"axis": axis}
        if opset < 10:
            constants, attributes = {}, {"axis": axis, "k": k}
        model = node_model(op_type, inputs, outputs, constants=constants, opset=opset, **attributes)
        feeds = [{"x": values(dtype, shape, 1, special=True)} for shape in shapes]
        yield SelfCase(
            op_type,
            opset,
            dtype,
            f"K={k} axis={axis}",
            model,
            feeds,
            lambda x, k=k, axis=axis: references.top_k(x, k, axis),
        )
    if opset >= 10:
        yield from _top_k_sources(op_type, opset, dtype)


def _top_k_sources(op_type: str, opset: int, dtype: str) -> Iterator[SelfCase]:
    """K from a feed, and made on the device out of values that the host does not know."""
    make_node = import_onnx().helper.make_node
    outputs = {"values": dtype, "indices": "int64"}
    x: tuple[str, Sequence[Any]] = (dtype, [None, None])
    feeds = {"x": values(dtype, (2, 300), 1, special=True)}
    fed = node_model(op_type, {"x": x, "k": ("int64", [1])}, outputs, opset=opset)
    k = np.array([5], np.int64)
    yield SelfCase(
        op_type,
        opset,
        dtype,
        "K fed",
        fed,
        [feeds | {"k": k}],
        lambda x, k: references.top_k(x, int(k[0]), -1),
    )
    # More values than the host keeps of a feed, so that the maximum is read back.
    nodes = [
        make_node("ReduceMax", ["c"], ["k"], name="count", keepdims=1),
        make_node(op_type, ["x", "k"], list(outputs), name=op_type),
    ]
    counted = graph_model(nodes, {"x": x, "c": ("int64", [100])}, outputs, opset=opset)
    counts = np.arange(100, dtype=np.int64) % 6
    yield SelfCase(
        op_type,
        opset,
        dtype,
        "K computed",
        counted,
        [feeds | {"c": counts}],
        lambda x, c: references.top_k(x, 5, -1),
    )


BUILDERS: dict[str, Builder] = {
    **dict.fromkeys(references.UNARY, unary),
    **dict.fromkeys(references.BINARY, binary),
    **dict.fromkeys(("ReduceMax", "ReduceMin", "ReduceSum"), reduction),
    **dict.fromkeys(("ArgMax", "ArgMin"), arg_extreme),
    **dict.fromkeys(("Flatten", "Reshape", "Squeeze", "Unsqueeze"), view),
    **dict.fromkeys(("Shape", "Size"), shape_or_size),
    "Cast": cast,
    "Gather": gather,
    "TopK": top_k,
}
