"""Checks that elementwise operators share."""

import numpy as np
from helpers import data
from helpers.compare import assert_exact
from helpers.models import dtype_of, graph_model, node_model
from onnx import helper

# Shapes of two operands: equal, scalars, rows and columns, middle extents, ranks up to 8, empty.
BROADCASTS = [
    ((5, 7), (5, 7)),
    ((), ()),
    ((3, 5), ()),
    ((), (2, 3)),
    ((257,), (257,)),
    ((4, 1), (1, 33)),
    ((33,), (5, 1, 33)),
    ((2, 1, 4), (3, 1)),
    ((2, 3, 1, 5), (2, 1, 7, 5)),
    ((1, 1, 1), (1,)),
    ((2, 1, 3, 1, 2, 1, 3, 1), (1, 3, 1, 2, 1, 2, 1, 3)),
    ((2, 2, 2, 2, 2, 2, 2, 3), (3,)),
    ((0, 3), (3,)),
    ((0,), (1,)),
    ((2, 0), (1, 1)),
    ((1025, 1), (3,)),
]
SIZES = [(), (0,), (1,), (7,), (33,), (3, 257), (2, 0, 3), (2, 1, 2, 1, 3, 1, 2, 5), (40001,)]


def check_unary(strict_session, op_type, reference, dtype, opset=24, signed_zeros=True):
    """One session on many shapes, and on the special values of the type."""
    session = strict_session(node_model(op_type, {"x": (dtype, None)}, opset=opset))
    for shape in SIZES:
        x = data.any_bits(dtype, shape, seed=1)
        with np.errstate(all="ignore"):
            expected = reference(x)
        assert_exact(session.run({"x": x})[0], expected, signed_zeros)
    x = data.extremes(dtype)
    with np.errstate(all="ignore"):
        assert_exact(session.run({"x": x})[0], reference(x), signed_zeros)


def check_binary(strict_session, op_type, reference, dtype, opset=24, signed_zeros=True):
    """All bits, and every pair of special values."""
    session = strict_session(
        node_model(op_type, {"a": (dtype, ["n"]), "b": (dtype, ["m"])}, opset=opset)
    )
    special = data.extremes(dtype)
    pairs = [np.repeat(special, special.size), np.tile(special, special.size)]
    for a, b in (pairs, [data.any_bits(dtype, (1031,), seed) for seed in (1, 2)]):
        with np.errstate(all="ignore"):
            expected = reference(a, b)
        assert_exact(session.run({"a": a, "b": b})[0], expected, signed_zeros)


def check_broadcast(strict_session, op_type, reference, dtype):
    """One session of unknown ranks on every pair of shapes, in both orders."""
    session = strict_session(node_model(op_type, {"a": (dtype, None), "b": (dtype, None)}))
    for shapes in BROADCASTS:
        for first, second in (shapes, shapes[::-1]):
            a = data.random(dtype, first, seed=3, low=-9, high=9)
            b = data.random(dtype, second, seed=4, low=1, high=9)
            with np.errstate(all="ignore"):
                expected = np.asarray(reference(a, b), dtype_of(dtype))
            assert_exact(session.run({"a": a, "b": b})[0], expected)


def check_incompatible(refused, op_type):
    """Shapes that cannot be broadcast are named, with the node."""
    model = node_model(op_type, {"a": ("float32", None), "b": ("float32", None)})
    text = refused(model, {"a": np.ones((2, 3), np.float32), "b": np.ones((2, 4), np.float32)})
    assert "'node'" in text
    assert "extents 3 and 4 on axis 1 cannot be broadcast" in text


def check_constant_operand(strict_session, op_type, reference, dtype):
    """A constant on either side."""
    a, b = data.random(dtype, (4, 33), seed=5), data.random(dtype, (33,), seed=6, low=1, high=9)
    for inputs, expected in ((["x", "c"], reference(a, b)), (["c", "x"], reference(b, a))):
        node = helper.make_node(op_type, inputs, ["y"], name="node")
        model = graph_model([node], {"x": (dtype, ["n", 33])}, ["y"], {"c": b})
        assert_exact(strict_session(model).run({"x": a})[0], expected)


def check_shape_arithmetic(strict_session, op_type, function):
    """On extents the operator is evaluated on the host: K of TopK made with it."""
    nodes = [
        helper.make_node("Shape", ["x"], ["shape"]),
        helper.make_node(op_type, ["shape", "c"], ["k"]),
        helper.make_node("TopK", ["x", "k"], ["values", "indices"]),
    ]
    model = graph_model(nodes, {"x": ("float32", ["n"])}, ["values"], {"c": np.array([3])})
    session = strict_session(model)
    for n in (7, 31, 1, 7):
        x = data.random("float32", (n,), seed=n)
        k = function(n, 3)
        if 0 <= k <= n:
            assert session.run({"x": x})[0].shape == (k,)
            assert session.stats.readbacks == 0
