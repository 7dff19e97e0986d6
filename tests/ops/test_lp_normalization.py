"""LpNormalization."""

import numpy as np
import pytest
from helpers import data
from helpers.compare import assert_close, assert_exact
from helpers.models import FLOATS, node_model
from helpers.normalizations import lp_norm

SHAPES = [((5, 3, 33), -1), ((5, 3, 33), 0), ((5, 3, 33), 1), ((2, 300, 5), 1), ((3, 128), 1)]


def lp_model(dtype, shape, opset=24, **attributes):
    return node_model("LpNormalization", {"x": (dtype, shape)}, opset=opset, **attributes)


@pytest.mark.parametrize("p", [1, 2])
@pytest.mark.parametrize(("shape", "axis"), SHAPES)
@pytest.mark.parametrize("dtype", FLOATS)
def test_every_type(run_strict, dtype, shape, axis, p):
    x = data.random(dtype, shape, 1, -4, 4)
    actual = run_strict(lp_model(dtype, list("abc")[: x.ndim], axis=axis, p=p), {"x": x})[0]
    assert_close(actual, lp_norm(x, axis, p))


@pytest.mark.parametrize("opset", [1, 21, 22, 24])
def test_defaults_of_every_definition(run_strict, opset):
    x = data.random("float32", (3, 4, 5), 2, -4, 4)
    assert_close(run_strict(lp_model("float32", [3, 4, 5], opset), {"x": x})[0], lp_norm(x, -1, 2))


@pytest.mark.parametrize("p", [1, 2])
@pytest.mark.parametrize("n", [1, 31, 257, 4100, 8200, 70001])
@pytest.mark.parametrize("axis", [0, 1])
def test_lengths(run_strict, n, axis, p):
    x = data.random("float32", (3, n) if axis else (n, 3), n, -3, 3)
    actual = run_strict(lp_model("float32", ["n", "m"], axis=axis, p=p), {"x": x})[0]
    assert_close(actual, lp_norm(x, axis, p), scale=0.01)


@pytest.mark.parametrize("p", [1, 2])
def test_zeros_nan_and_infinities(run_strict, p):
    x = np.array([[0, 0, 0], [1, np.nan, 2], [np.inf, 1, 2]], np.float32)
    actual = run_strict(lp_model("float32", ["n", "m"], p=p), {"x": x})[0]
    assert_exact(actual, lp_norm(x, -1, p))


@pytest.mark.parametrize("shape", [(3, 0, 2), (0, 3, 2), (3, 2, 0)])
def test_nothing(run_strict, shape):
    x = np.zeros(shape, np.float32)
    assert_exact(run_strict(lp_model("float32", list("abc"), axis=1), {"x": x})[0], x)


def test_other_norms_are_declined(refused):
    assert "the norms of 1 and 2" in refused(lp_model("float32", [2, 2], p=3))


def test_axis_out_of_range(refused):
    text = refused(lp_model("float32", None, axis=2), {"x": np.zeros((2, 2), np.float32)})
    assert "'node'" in text
    assert "axis 2 is out of range for rank 2" in text
