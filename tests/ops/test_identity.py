"""Identity."""

import pytest
from helpers import data
from helpers.compare import bits
from helpers.models import PLAIN_TYPES, graph_model, node_model
from onnx import helper

SHAPES = [(), (0,), (1,), (33,), (2, 0, 3), (2, 1, 2, 1, 3, 1, 2, 5), (40001,)]


@pytest.mark.parametrize("dtype", PLAIN_TYPES)
def test_every_type(strict_session, dtype):
    session = strict_session(node_model("Identity", {"x": (dtype, None)}))
    for shape in SHAPES:
        x = data.any_bits(dtype, shape, seed=1)
        assert bits(session.run({"x": x})[0]) == bits(x)


@pytest.mark.parametrize("opset", [1, 13, 14, 16, 19, 21, 23, 24, 25])
def test_every_definition(run_strict, opset):
    x = data.any_bits("float32", (5, 7), seed=2)
    model = node_model("Identity", {"x": ("float32", ["n", 7])}, opset=opset)
    assert bits(run_strict(model, {"x": x})[0]) == bits(x)


def test_between_other_nodes_it_costs_no_launch(strict_session):
    nodes = [
        helper.make_node("Neg", ["x"], ["a"]),
        helper.make_node("Identity", ["a"], ["b"]),
        helper.make_node("Neg", ["b"], ["y"]),
    ]
    session = strict_session(graph_model(nodes, {"x": ("int32", ["n"])}, ["y"]))
    x = data.any_bits("int32", (1031,), seed=3)
    assert bits(session.run({"x": x})[0]) == bits(x)
    assert session.stats.launches == 2


def test_one_value_as_two_outputs(run_strict):
    nodes = [
        helper.make_node("Neg", ["x"], ["y"]),
        helper.make_node("Identity", ["y"], ["z"]),
        helper.make_node("Identity", ["x"], ["w"]),
    ]
    x = data.random("float32", (3, 5), seed=4)
    outputs = run_strict(
        graph_model(nodes, {"x": ("float32", ["n", 5])}, ["y", "z", "w"]), {"x": x}
    )
    assert [bits(array) for array in outputs] == [bits(-x), bits(-x), bits(x)]
