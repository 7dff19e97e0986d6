"""Reshape."""

import numpy as np
import pytest
from helpers import data
from helpers.compare import bits
from helpers.models import PLAIN_TYPES, graph_model, node_model
from onnx import helper


def reshape_model(dtype, shape, wanted=None, opset=24, **attributes):
    """The new shape is a constant, or an input of the graph if it is None."""
    if wanted is None:
        inputs = {"x": (dtype, shape), "shape": ("int64", ["r"])}
        return node_model("Reshape", inputs, opset=opset, **attributes)
    constants = {"shape": np.array(wanted, np.int64)}
    return node_model("Reshape", {"x": (dtype, shape)}, ("y",), constants, opset, **attributes)


@pytest.mark.parametrize("dtype", PLAIN_TYPES)
def test_every_type(run_strict, dtype):
    x = data.any_bits(dtype, (6, 35), seed=1)
    (y,) = run_strict(reshape_model(dtype, ["n", 35], [2, 3, -1]), {"x": x})
    assert bits(y) == bits(x.reshape(2, 3, 35))


@pytest.mark.parametrize("opset", [5, 13, 14, 19, 21, 23, 24, 25])
def test_every_definition(run_strict, opset):
    x = data.any_bits("float32", (6, 35), seed=2)
    (y,) = run_strict(reshape_model("float32", [6, 35], [35, 6], opset), {"x": x})
    assert bits(y) == bits(x.reshape(35, 6))


CASES = [
    ((2, 3, 4), [4, 6], 0, (4, 6)),
    ((2, 3, 4), [0, -1], 0, (2, 12)),
    ((2, 3, 4), [0, 0, 2, -1], 0, (2, 3, 2, 2)),
    ((2, 3, 4), [-1], 0, (24,)),
    ((1,), [], 0, ()),
    ((), [1, 1], 0, (1, 1)),
    ((), [-1], 0, (1,)),
    ((0, 3), [3, 0], 1, (3, 0)),
    ((0, 3), [0, 5], 1, (0, 5)),
    ((0, 3), [0, -1], 0, None),
    ((0, 3), [5, 0, 2], 1, (5, 0, 2)),
    ((2, 0, 4), [-1, 0, 2], 0, None),
    ((2, 3, 4), [2, 1, 3, 1, 2, 1, 2, 1], 0, (2, 1, 3, 1, 2, 1, 2, 1)),
    ((2, 1, 3, 1, 2, 1, 2, 1), [24], 0, (24,)),
]


@pytest.mark.parametrize("fed", [True, False])
@pytest.mark.parametrize(("shape", "wanted", "allowzero", "result"), CASES)
def test_shapes(run_strict, refused, shape, wanted, allowzero, result, fed):
    x = data.random("float32", shape, seed=3)
    feeds = {"x": x, "shape": np.array(wanted, np.int64)} if fed else {"x": x}
    model = reshape_model("float32", None, None if fed else wanted, allowzero=allowzero)
    if result is None:
        assert "do not divide" in refused(model, feeds)
    else:
        assert bits(run_strict(model, feeds)[0]) == bits(x.reshape(result))


@pytest.mark.parametrize("wanted", [[5, 5], [-1, -1], [-1, 5], [-2, 12], [0, 0, 0, 2], [1] * 9])
def test_a_shape_that_does_not_fit_names_the_node(refused, wanted):
    feeds = {"x": np.zeros((2, 12), np.float32), "shape": np.array(wanted)}
    text = refused(reshape_model("float32", None), feeds)
    assert "'node'" in text
    assert any(word in text for word in ("elements", "extent", "8 extents"))


def test_several_dynamic_extents_from_shape_operators(strict_session):
    """Batch 2: with one sequence a wrong order of the extents goes unnoticed."""
    nodes = [
        helper.make_node("Shape", ["like"], ["s"]),
        helper.make_node("Gather", ["s", "first"], ["parts"]),
        helper.make_node("Mul", ["parts", "factors"], ["wanted"]),
        helper.make_node("Reshape", ["x", "wanted"], ["r"]),
        helper.make_node("Neg", ["r"], ["y"]),
        helper.make_node("Shape", ["y"], ["shape"]),
    ]
    inputs = {"x": ("float32", ["all"]), "like": ("int64", ["bs", "ss", 2])}
    constants = {"first": np.array([0, 1, 2]), "factors": np.array([1, 1, 4])}
    session = strict_session(graph_model(nodes, inputs, ["y", "shape"], constants))
    for batch, length in [(2, 3), (3, 2), (1, 7), (5, 1), (2, 3), (0, 4)]:
        x = data.random("float32", (batch * length * 8,), seed=length)
        y, shape = session.run({"x": x, "like": np.zeros((batch, length, 2), np.int64)})
        assert bits(y) == bits(-x.reshape(batch, length, 8))
        np.testing.assert_array_equal(shape, [batch, length, 8])
        assert session.stats.readbacks == 0


def test_between_other_nodes_it_costs_no_launch(strict_session):
    nodes = [
        helper.make_node("Neg", ["x"], ["a"]),
        helper.make_node("Reshape", ["a", "s"], ["b"]),
        helper.make_node("Neg", ["b"], ["y"]),
    ]
    model = graph_model(nodes, {"x": ("float32", ["n", 6])}, ["y"], {"s": np.array([3, -1])})
    session = strict_session(model)
    x = data.random("float32", (5, 6), seed=4)
    assert bits(session.run({"x": x})[0]) == bits(x.reshape(3, 10))
    assert session.stats.launches == 2
