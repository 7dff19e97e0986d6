"""LogSoftmax."""

import numpy as np
import pytest
from helpers import data
from helpers import softmax_cases as cases
from helpers.models import FLOATS

OP = "LogSoftmax"


@pytest.mark.parametrize(("shape", "axis"), cases.SHAPES)
@pytest.mark.parametrize("dtype", FLOATS)
def test_every_type(run_strict, dtype, shape, axis):
    cases.check(run_strict, OP, data.random(dtype, shape, 1, -8, 8), axis)


@pytest.mark.parametrize("opset", [1, 11, 12])
@pytest.mark.parametrize(("shape", "axis"), cases.FLATTENED)
def test_before_opset_13_the_input_is_a_matrix(run_strict, opset, shape, axis):
    if opset < 11 and axis is not None and axis < 0:
        axis += len(shape)
    cases.check_flattened(run_strict, OP, shape, axis, opset)


@pytest.mark.parametrize("opset", [13, 24])
def test_the_default_axis_is_the_last(run_strict, opset):
    cases.check(run_strict, OP, data.random("float32", (3, 4, 5), 2, -4, 4), None, opset)


# Around what a group of threads holds, and rows that are split.
@pytest.mark.parametrize("n", [1, 2, 31, 32, 255, 257, 1024, 2051, 4100, 8192, 8200, 70001])
@pytest.mark.parametrize("dtype", FLOATS)
def test_lengths(run_strict, dtype, n):
    cases.check(run_strict, OP, data.random(dtype, (3, n), n, -3, 3), 1)


@pytest.mark.parametrize("n", [1, 7, 64, 300, 4100])
@pytest.mark.parametrize("inner", [2, 16, 300])
def test_columns(run_strict, n, inner):
    cases.check(run_strict, OP, data.random("float32", (2, n, inner), n, -3, 3), 1)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("dtype", FLOATS)
def test_nan_and_infinities(run_strict, dtype, axis):
    x = cases.specials(dtype)
    cases.check(run_strict, OP, x if axis else np.ascontiguousarray(x.T), axis)


@pytest.mark.parametrize("shape", [(3, 0, 2), (0, 3, 2), (3, 2, 0), (0, 0, 0)])
def test_nothing(run_strict, shape):
    cases.check_empty(run_strict, OP, shape)


def test_one_session_many_shapes_of_unknown_rank(strict_session):
    cases.check_shapes_of_one_session(strict_session, OP)


def test_axis_out_of_range(refused):
    model = cases.softmax_model(OP, "float32", None, 2)
    text = refused(model, {"x": np.zeros((2, 2), np.float32)})
    assert "'node'" in text
    assert "axis 2 is out of range for rank 2" in text


@pytest.mark.parametrize("n", [300, 20000])
def test_a_part_of_a_row_may_be_masked(run_strict, n):
    x = data.random("float32", (2, n), 3, -3, 3)
    x[0, : n // 2] = -np.inf
    x[1, 5:] = -np.inf
    cases.check(run_strict, OP, x, 1)


def test_large_values_do_not_overflow(run_strict):
    x = data.random("float32", (4, 100), 3, 1e4, 1e5)
    cases.check(run_strict, OP, x, 1)
