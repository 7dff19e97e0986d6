"""Concat."""

import numpy as np
import pytest
from helpers import data
from helpers.compare import bits
from helpers.models import PLAIN_TYPES, graph_model, node_model
from onnx import helper


def concat_model(dtype, count, axis, shape=None, opset=13):
    inputs = {f"x{i}": (dtype, shape) for i in range(count)}
    return node_model("Concat", inputs, opset=opset, axis=axis)


def check(run_strict, arrays, axis, opset=13):
    model = concat_model(arrays[0].dtype.name, len(arrays), axis, opset=opset)
    feeds = {f"x{i}": array for i, array in enumerate(arrays)}
    assert bits(run_strict(model, feeds)[0]) == bits(np.concatenate(arrays, axis))


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -3])
@pytest.mark.parametrize("dtype", PLAIN_TYPES)
def test_every_type(run_strict, dtype, axis):
    shapes = [[3, 4, 5], [3, 4, 5], [3, 4, 5]]
    for i, extent in enumerate((2, 16, 1)):
        shapes[i][axis] = extent
    check(run_strict, [data.any_bits(dtype, shape, seed=i) for i, shape in enumerate(shapes)], axis)


@pytest.mark.parametrize("opset", [4, 11, 13])
def test_every_definition(run_strict, opset):
    check(run_strict, [data.any_bits("float32", (2, n), seed=n) for n in (3, 4)], 1, opset)


@pytest.mark.parametrize(
    ("shapes", "axis"),
    [
        ([(3,)], 0),
        ([(0,), (3,), (0,)], 0),
        ([(0, 2), (0, 2)], 0),
        ([(2, 0), (2, 0)], 0),
        ([(1, 2, 1, 2, 1, 2, 1, 2), (1, 2, 1, 3, 1, 2, 1, 2)], 3),
        ([(2, n) for n in range(1, 40)], 1),
        ([(4, 33, 64), (4, 1, 64)], 1),
    ],
)
def test_shapes(run_strict, shapes, axis):
    check(run_strict, [data.any_bits("float16", s, seed=i) for i, s in enumerate(shapes)], axis)


def test_one_input_twice_and_a_constant(run_strict):
    node = helper.make_node("Concat", ["x", "c", "x"], ["y"], axis=0)
    c = data.any_bits("int8", (2, 5), seed=1)
    model = graph_model([node], {"x": ("int8", ["n", 5])}, ["y"], {"c": c})
    x = data.any_bits("int8", (3, 5), seed=2)
    assert bits(run_strict(model, {"x": x})[0]) == bits(np.concatenate([x, c, x]))


def test_a_shape_put_together_needs_no_readback(strict_session):
    nodes = [
        helper.make_node("Shape", ["x"], ["n"], start=0, end=1),
        helper.make_node("Concat", ["n", "rest"], ["shape"], axis=0),
        helper.make_node("Reshape", ["x", "shape"], ["y"]),
    ]
    constants = {"rest": np.array([2, -1])}
    model = graph_model(nodes, {"x": ("float32", ["n", 6])}, ["y"], constants)
    session = strict_session(model)
    for n in (4, 1, 9):
        x = data.any_bits("float32", (n, 6), seed=n)
        assert bits(session.run({"x": x})[0]) == bits(x.reshape(n, 2, 3))
        assert session.stats.readbacks == 0


def test_shapes_that_do_not_fit(refused):
    feeds = {"x0": np.ones((2, 3), np.float32), "x1": np.ones((3, 3), np.float32)}
    text = refused(concat_model("float32", 2, 1), feeds)
    assert "'node'" in text
    assert "axis 0" in text
