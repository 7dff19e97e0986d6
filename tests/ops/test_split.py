"""Split."""

import numpy as np
import pytest
from helpers import data
from helpers.compare import bits
from helpers.models import PLAIN_TYPES, graph_model, node_model
from onnx import helper


def split_model(dtype, outputs, parts=None, shape=None, opset=18, fed=False, **attributes):
    inputs = {"x": (dtype, shape)}
    names = [f"y{i}" for i in range(outputs)]
    if fed:
        inputs["split"] = ("int64", ["n"])
        return node_model("Split", inputs, names, opset=opset, **attributes)
    constants = None if parts is None else {"split": np.array(parts, np.int64)}
    return node_model("Split", inputs, names, constants, opset, **attributes)


def assert_parts(actual, x, ends, axis):
    expected = np.split(x, ends[:-1], axis)
    assert [bits(y) for y in actual] == [bits(y) for y in expected]


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("dtype", PLAIN_TYPES)
def test_every_type(run_strict, dtype, axis):
    shape = [5, 6, 7]
    shape[axis] = 8
    x = data.any_bits(dtype, shape, seed=1)
    model = split_model(dtype, 3, [1, 0, 7], list("abc"), axis=axis)
    assert_parts(run_strict(model, {"x": x}), x, [1, 1, 8], axis)


@pytest.mark.parametrize("attributes", [{}, {"split": [2, 4]}])
@pytest.mark.parametrize("opset", [2, 11])
def test_parts_as_an_attribute(run_strict, opset, attributes):
    x = data.any_bits("float32", (3, 6), seed=2)
    model = split_model("float32", 2, opset=opset, axis=1, **attributes)
    assert_parts(run_strict(model, {"x": x}), x, [2 if attributes else 3, 6], 1)


@pytest.mark.parametrize("fed", [True, False])
@pytest.mark.parametrize("opset", [13, 18])
def test_parts_as_an_input(run_strict, opset, fed):
    x = data.any_bits("float32", (3, 6), seed=3)
    model = split_model("float32", 2, [2, 4], opset=opset, fed=fed, axis=-1)
    feeds = {"split": np.array([2, 4])} if fed else {}
    assert_parts(run_strict(model, {"x": x, **feeds}), x, [2, 6], 1)


@pytest.mark.parametrize("opset", [13, 18])
def test_equal_parts(run_strict, opset):
    x = data.any_bits("float32", (9, 2), seed=4)
    attributes = {"num_outputs": 3} if opset == 18 else {}
    model = split_model("float32", 3, opset=opset, **attributes)
    assert_parts(run_strict(model, {"x": x}), x, [3, 6, 9], 0)


@pytest.mark.parametrize(("extent", "count"), [(7, 3), (7, 4), (1, 1), (100, 7), (10, 1)])
def test_the_last_part_may_be_shorter(run_strict, extent, count):
    x = data.any_bits("int16", (2, extent), seed=5)
    model = split_model("int16", count, axis=1, num_outputs=count)
    each = -(-extent // count)
    ends = [min(each * (i + 1), extent) for i in range(count)]
    assert_parts(run_strict(model, {"x": x}), x, ends, 1)


def test_shapes_of_one_session(strict_session):
    session = strict_session(split_model("float16", 2, None, ["n", "m"], axis=0, num_outputs=2))
    for n, m in [(4, 3), (5, 1), (2, 0), (64, 100), (4, 3)]:
        x = data.any_bits("float16", (n, m), seed=6)
        assert_parts(session.run({"x": x}), x, [-(-n // 2), n], 0)


def test_an_output_that_nobody_reads(run_strict):
    nodes = [
        helper.make_node("Split", ["x"], ["a", "", "b"], num_outputs=3),
        helper.make_node("Neg", ["b"], ["c"]),
    ]
    x = data.any_bits("int32", (6, 5), seed=7)
    model = graph_model(nodes, {"x": ("int32", ["n", 5])}, ["a", "c"], opset=18)
    a, c = run_strict(model, {"x": x})
    assert bits(a) == bits(x[:2])
    assert bits(c) == bits(-x[4:])


def test_of_a_shape_needs_no_readback(strict_session):
    nodes = [
        helper.make_node("Shape", ["x"], ["s"]),
        helper.make_node("Split", ["s"], ["a", "b"], num_outputs=2),
        helper.make_node("Concat", ["b", "a"], ["back"], axis=0),
        helper.make_node("Reshape", ["x", "back"], ["y"]),
    ]
    session = strict_session(graph_model(nodes, {"x": ("float32", list("ab"))}, ["y"], opset=18))
    x = data.any_bits("float32", (2, 3), seed=8)
    assert bits(session.run({"x": x})[0]) == bits(x.reshape(3, 2))
    assert session.stats.readbacks == 0


@pytest.mark.parametrize(
    ("parts", "words"), [([1, 2], "3 in all"), ([-1, 5], "extent -1"), ([4], "1 elements for 2")]
)
def test_parts_that_do_not_fit(refused, parts, words):
    feeds = {"x": np.ones((4, 2), np.float32), "split": np.array(parts)}
    text = refused(split_model("float32", 2, fed=True), feeds)
    assert "'node'" in text
    assert words in text
