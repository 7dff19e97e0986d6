"""ArgMax."""

import numpy as np
import pytest
from helpers import data
from helpers.compare import assert_exact
from helpers.models import FLOATS, NUMBERS, dtype_of, node_model
from helpers.references import arg_extreme

FIND_MAX = True


def arg_model(dtype, shape, opset=24, **attributes):
    return node_model("ArgMax", {"x": (dtype, shape)}, opset=opset, **attributes)


@pytest.mark.parametrize("select_last", [0, 1])
@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("dtype", NUMBERS)
def test_every_type(run_strict, dtype, axis, select_last):
    for x in (data.any_bits(dtype, (37, 5, 65), 1), data.random(dtype, (4, 3, 257), 2, -3, 3)):
        model = arg_model(dtype, list("abc"), axis=axis, select_last_index=select_last)
        expected = arg_extreme(x, axis, FIND_MAX, select_last=select_last)
        assert_exact(run_strict(model, {"x": x})[0], expected)


@pytest.mark.parametrize("opset", [1, 10, 11, 12, 13, 24])
@pytest.mark.parametrize("keepdims", [0, 1])
def test_every_definition(run_strict, opset, keepdims):
    x = data.random("float32", (3, 33, 2), seed=3, low=-4, high=4).round()
    model = arg_model("float32", [3, 33, 2], opset, axis=1, keepdims=keepdims)
    assert_exact(run_strict(model, {"x": x})[0], arg_extreme(x, 1, FIND_MAX, keepdims))


def test_the_default_axis_is_the_first(run_strict):
    x = data.random("float32", (5, 9), seed=4)
    assert_exact(run_strict(arg_model("float32", [5, 9]), {"x": x})[0], arg_extreme(x, 0, FIND_MAX))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("select_last", [0, 1])
def test_nan_wins_and_zeros_tie(run_strict, dtype, select_last):
    nan, inf = np.nan, np.inf
    rows = [[1, nan, inf, nan, -inf], [0.0, -0.0, 0.0, -0.0, 0.0], [nan] * 5, [inf, -inf] * 2 + [0]]
    x = np.array(rows).astype(dtype_of(dtype))
    x[2, 3] = -x[2, 3]
    model = arg_model(dtype, ["n", 5], axis=1, select_last_index=select_last)
    assert_exact(run_strict(model, {"x": x})[0], arg_extreme(x, 1, FIND_MAX, 1, select_last))


@pytest.mark.parametrize("n", [1, 2, 31, 33, 255, 257, 1023, 1025, 4099, 70001])
def test_lengths(run_strict, n):
    x = data.random("float32", (3, n), seed=n, low=-20, high=20).round()
    model = arg_model("float32", ["n", "m"], axis=-1)
    assert_exact(run_strict(model, {"x": x})[0], arg_extreme(x, 1, FIND_MAX))


def test_one_session_many_shapes_of_unknown_rank(strict_session):
    session = strict_session(arg_model("int32", None, axis=-2, keepdims=0))
    for shape in [(4, 3), (2, 3, 2), (2, 1, 2, 1, 3, 2, 5, 2), (0, 3, 2), (3, 2, 0), (4, 3)]:
        x = data.random("int32", shape, seed=5, low=0, high=3)
        assert_exact(session.run({"x": x})[0], arg_extreme(x, -2, FIND_MAX, 0))


def test_an_axis_of_no_elements_is_refused(refused):
    text = refused(arg_model("float32", ["n", "m"], axis=1), {"x": np.zeros((2, 0), np.float32)})
    assert "'node'" in text
    assert "the extent of axis 1 is 0" in text


def test_axis_out_of_range(refused):
    x = np.zeros((2, 2), np.float32)
    text = refused(arg_model("float32", None, axis=2), {"x": x})
    assert "'node'" in text
    assert "axis 2 is out of range for rank 2" in text
    refused(arg_model("float32", [2, 2], axis=-3))
