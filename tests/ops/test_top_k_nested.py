"""TopK in the body of a Loop and of an If that stay with onnxruntime."""

import numpy as np
import pytest
from helpers.models import graph_model, value_info
from helpers.strict import device_id
from onnx import helper

import hipep


def loop_model():
    """a += x each time; the two largest of a are collected."""
    body = helper.make_graph(
        [
            helper.make_node("Identity", ["go"], ["go_on"]),
            helper.make_node("Add", ["a", "x"], ["next"]),
            helper.make_node("TopK", ["next", "two"], ["values", "indices"], name="node"),
        ],
        "body",
        [
            value_info("i", "int64", []),
            value_info("go", "bool", []),
            value_info("a", "float32", [3]),
        ],
        [
            value_info("go_on", "bool", []),
            value_info("next", "float32", [3]),
            value_info("values", "float32", [2]),
        ],
    )
    loop = helper.make_node("Loop", ["m", "", "start"], ["end", "collected"], body=body)
    inputs = {"m": ("int64", []), "start": ("float32", [3]), "x": ("float32", [3])}
    return graph_model([loop], inputs, ["end", "collected"], {"two": np.array([2])})


@pytest.mark.parametrize("times", [0, 1, 3])
def test_loop(times):
    feeds = {
        "m": np.array(times),
        "start": np.zeros(3, np.float32),
        "x": np.array([1, 3, 2], np.float32),
    }
    with hipep.InferenceSession(loop_model(), device=device_id()) as session:
        for _ in range(2):
            end, collected = session.run(None, feeds)
            np.testing.assert_array_equal(end, feeds["x"] * times)
            expected = [[3, 2], [6, 4], [9, 6]][:times]
            np.testing.assert_array_equal(collected, np.reshape(expected, (times, 2)))


def test_if_with_a_value_from_outside():
    def branch(name, largest):
        node = helper.make_node("TopK", ["y", "two"], ["values", "indices"], largest=largest)
        return helper.make_graph([node], name, [], [value_info("values", "float32", ["n"])])

    nodes = [
        helper.make_node("Neg", ["x"], ["y"]),
        helper.make_node(
            "If", ["c"], ["z"], then_branch=branch("most", 1), else_branch=branch("least", 0)
        ),
    ]
    inputs = {"x": ("float32", ["n"]), "c": ("bool", [])}
    model = graph_model(nodes, inputs, ["z"], {"two": np.array([2])})
    x = np.array([5, 1, 4], np.float32)
    with hipep.InferenceSession(model, device=device_id()) as session:
        for condition, expected in ((True, [-1, -4]), (False, [-5, -4]), (True, [-1, -4])):
            (z,) = session.run(None, {"x": x, "c": np.array(condition)})
            np.testing.assert_array_equal(z, expected)
