"""Expand."""

import numpy as np
import pytest
from helpers import data
from helpers.compare import bits
from helpers.models import PLAIN_TYPES, graph_model, node_model
from onnx import helper


def expand_model(dtype, shape=None, wanted=None, opset=13):
    inputs = {"x": (dtype, shape)}
    if wanted is None:
        return node_model("Expand", {**inputs, "shape": ("int64", ["r"])}, opset=opset)
    return node_model(
        "Expand", inputs, constants={"shape": np.array(wanted, np.int64)}, opset=opset
    )


@pytest.mark.parametrize("dtype", PLAIN_TYPES)
def test_every_type(run_strict, dtype):
    x = data.any_bits(dtype, (3, 1, 5), seed=1)
    (y,) = run_strict(expand_model(dtype, ["a", 1, "c"], [2, 3, 17, 1]), {"x": x})
    assert bits(y) == bits(np.broadcast_to(x, (2, 3, 17, 5)))


@pytest.mark.parametrize("opset", [8, 13])
@pytest.mark.parametrize("fed", [True, False])
@pytest.mark.parametrize(
    ("shape", "wanted"),
    [
        ((), (3, 4)),
        ((), ()),
        ((1,), (1000,)),
        ((5,), (1,)),
        ((3, 1), (3, 33)),
        ((1, 33), (17, 1)),
        ((2, 1, 3), (2, 0, 3)),
        ((0, 1), (0, 4)),
        ((3, 4), ()),
        ((1, 2, 1, 2, 1, 2, 1, 2), (3, 1, 3, 1, 3, 1, 3, 1)),
    ],
)
def test_shapes(run_strict, opset, fed, shape, wanted):
    x = data.any_bits("float16", shape, seed=2)
    feeds = {"x": x, "shape": np.array(wanted, np.int64)} if fed else {"x": x}
    model = expand_model("float16", None, None if fed else wanted, opset)
    expected = np.broadcast_to(x, np.broadcast_shapes(shape, wanted))
    assert bits(run_strict(model, feeds)[0]) == bits(expected)


def test_from_shape_operators(strict_session):
    nodes = [
        helper.make_node("Shape", ["like"], ["s"]),
        helper.make_node("Expand", ["x", "s"], ["y"]),
    ]
    inputs = {"x": ("float32", [1, "m"]), "like": ("bool", ["n", "m"])}
    session = strict_session(graph_model(nodes, inputs, ["y"]))
    for n, m in [(2, 3), (1, 7), (0, 2), (2, 3)]:
        x = data.any_bits("float32", (1, m), seed=m)
        (y,) = session.run({"x": x, "like": np.zeros((n, m), bool)})
        assert bits(y) == bits(np.broadcast_to(x, (n, m)))
        assert session.stats.readbacks == 0


def test_evaluated_on_the_host(strict_session):
    nodes = [
        helper.make_node("Size", ["x"], ["n"]),
        helper.make_node("Expand", ["n", "two"], ["s"]),
        helper.make_node("Expand", ["one", "s"], ["y"]),
    ]
    constants = {"two": np.array([2]), "one": np.float32(1)}
    session = strict_session(graph_model(nodes, {"x": ("float32", ["n"])}, ["y"], constants))
    assert session.run({"x": np.zeros(3, np.float32)})[0].shape == (3, 3)
    assert session.stats.readbacks == 0


@pytest.mark.parametrize("wanted", [[4], [-1, 3], [1] * 9])
def test_a_shape_that_does_not_fit(refused, wanted):
    feeds = {"x": np.ones((2, 3), np.float32), "shape": np.array(wanted)}
    assert "'node'" in refused(expand_model("float32"), feeds)
