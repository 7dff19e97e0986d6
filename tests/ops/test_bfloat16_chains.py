"""bfloat16: each node computes in float and rounds to even; a chain stays on the device."""

import numpy as np
from helpers import data
from helpers.compare import assert_exact, assert_top_k
from helpers.models import BFLOAT16, graph_model
from onnx import helper


def node(op_type, inputs, outputs, **attributes):
    return helper.make_node(op_type, inputs.split(), outputs.split(), **attributes)


def test_arithmetic_then_top_k(strict_session):
    nodes = [
        node("Add", "x b", "sum"),
        node("Mul", "sum sum", "square"),
        node("Sub", "square x", "rest"),
        node("TopK", "rest k", "values indices", axis=1),
    ]
    b = data.random("bfloat16", (33,), seed=1)
    constants = {"b": b, "k": np.array([9])}
    inputs = {"x": ("bfloat16", ["n", 33])}
    session = strict_session(graph_model(nodes, inputs, ["rest", "values", "indices"], constants))
    for n in (2, 5, 1):
        x = data.random("bfloat16", (n, 33), seed=n)
        total = x + b
        expected = total * total - x
        rest, *top = session.run({"x": x})
        assert_exact(rest, expected)
        assert_top_k(top, expected, 9)


def test_widened_by_cast_and_narrowed_again(run_strict):
    nodes = [
        node("Cast", "x", "narrow", to=helper.np_dtype_to_tensor_dtype(BFLOAT16)),
        node("Gather", "narrow rows", "some"),
        node("ReduceMax", "some axes", "most"),
        node("Cast", "most", "y", to=1),
    ]
    constants = {"rows": np.array([2, -1]), "axes": np.array([1])}
    x = data.random("float32", (6, 65), seed=2)
    (y,) = run_strict(graph_model(nodes, {"x": ("float32", ["n", 65])}, ["y"], constants), {"x": x})
    expected = x[[2, -1]].astype(BFLOAT16).astype(np.float32).max(axis=1, keepdims=True)
    assert_exact(y, expected)


def test_ties_round_to_even(run_strict):
    nodes = [node("Add", "a b", "y")]
    a = np.array([1, 1, 256, 256], BFLOAT16)
    b = np.array([2.0**-8, 3 * 2.0**-8, 1, 3], BFLOAT16)
    inputs = {"a": ("bfloat16", [4]), "b": ("bfloat16", [4])}
    (y,) = run_strict(graph_model(nodes, inputs, ["y"]), {"a": a, "b": b})
    assert_exact(y, np.array([1, 1 + 2.0**-6, 256, 260], BFLOAT16))
