"""Transpose."""

import itertools

import numpy as np
import pytest
from helpers import data
from helpers.compare import bits
from helpers.models import PLAIN_TYPES, graph_model, node_model
from onnx import helper


def transpose_model(dtype, shape=None, opset=24, **attributes):
    return node_model("Transpose", {"x": (dtype, shape)}, opset=opset, **attributes)


@pytest.mark.parametrize("perm", [(1, 0, 2), (2, 1, 0), (0, 2, 1), (2, 0, 1)])
@pytest.mark.parametrize("dtype", PLAIN_TYPES)
def test_every_type(run_strict, dtype, perm):
    x = data.any_bits(dtype, (17, 40, 36), seed=1)
    (y,) = run_strict(transpose_model(dtype, list("abc"), perm=perm), {"x": x})
    assert bits(y) == bits(x.transpose(perm))


@pytest.mark.parametrize("opset", [1, 13, 21, 23, 24, 25])
def test_every_definition(run_strict, opset):
    x = data.any_bits("float32", (6, 35), seed=2)
    (y,) = run_strict(transpose_model("float32", [6, 35], opset, perm=[1, 0]), {"x": x})
    assert bits(y) == bits(x.T)


@pytest.mark.parametrize("perm", list(itertools.permutations(range(4))))
def test_every_permutation_of_four_axes(run_strict, perm):
    x = data.any_bits("int16", (3, 18, 5, 34), seed=3)
    (y,) = run_strict(transpose_model("int16", perm=perm), {"x": x})
    assert bits(y) == bits(x.transpose(perm))


@pytest.mark.parametrize(
    "shape",
    [
        (),
        (1,),
        (7,),
        (0,),
        (3, 0, 2),
        (1, 9, 1),
        (2, 1, 3, 1, 2, 3, 2, 2),
        (129, 131),
        (128, 256),
        (16, 16),
        (15, 200),
        (1, 1000),
        (2, 33, 66),
    ],
)
@pytest.mark.parametrize("dtype", ["int8", "float16", "float32", "float64"])
def test_axes_are_reversed_by_default(run_strict, dtype, shape):
    x = data.any_bits(dtype, shape, seed=4)
    (y,) = run_strict(transpose_model(dtype), {"x": x})
    assert bits(y) == bits(x.transpose())


@pytest.mark.parametrize("inner", [1, 2, 3, 4, 8, 12, 16, 20])
@pytest.mark.parametrize("dtype", ["bool", "bfloat16"])
def test_innermost_axis_stays(run_strict, dtype, inner):
    x = data.any_bits(dtype, (20, 18, inner), seed=5)
    (y,) = run_strict(transpose_model(dtype, perm=[1, 0, 2]), {"x": x})
    assert bits(y) == bits(x.transpose(1, 0, 2))


def test_axes_of_rank_8(run_strict):
    x = data.any_bits("int32", (2, 3, 2, 3, 2, 3, 2, 3), seed=6)
    perm = [7, 2, 5, 0, 3, 6, 1, 4]
    (y,) = run_strict(transpose_model("int32", perm=perm), {"x": x})
    assert bits(y) == bits(x.transpose(perm))


def test_one_session_many_shapes(strict_session):
    session = strict_session(transpose_model("float32", ["n", "m", 3], perm=[1, 2, 0]))
    for n, m in [(2, 3), (65, 70), (0, 4), (1, 1), (2, 3)]:
        x = data.any_bits("float32", (n, m, 3), seed=7)
        assert bits(session.run({"x": x})[0]) == bits(x.transpose(1, 2, 0))


@pytest.mark.parametrize("perm", [[0, 0], [0, 2], [0]])
def test_what_is_no_permutation_is_refused(refused, perm):
    assert "perm" in refused(transpose_model("float32", perm=perm), {"x": np.ones((2, 2), "f")})


def test_between_shape_operators_nothing_runs(strict_session):
    nodes = [
        helper.make_node("Shape", ["x"], ["s"]),
        helper.make_node("Transpose", ["s"], ["t"]),
        helper.make_node("Reshape", ["y", "t"], ["z"]),
    ]
    inputs = {"x": ("float32", ["n", "m"]), "y": ("float32", ["k"])}
    session = strict_session(graph_model(nodes, inputs, ["z"]))
    x = np.zeros((3, 4), np.float32)
    y = data.any_bits("float32", (12,), seed=8)
    assert bits(session.run({"x": x, "y": y})[0]) == bits(y.reshape(3, 4))
    assert session.stats.readbacks == 0
