"""ReduceMean."""

import numpy as np
import pytest
from helpers import reduce_cases as cases
from helpers.compare import assert_exact

OP = "ReduceMean"


@pytest.mark.parametrize("axes", cases.AXES)
@pytest.mark.parametrize("dtype", cases.TYPES)
def test_every_type(run_strict, dtype, axes):
    cases.check_type(run_strict, OP, dtype, axes, low=-9, high=9)


@pytest.mark.parametrize("opset", cases.DEFINITIONS)
@pytest.mark.parametrize("keepdims", [0, 1])
@pytest.mark.parametrize("axes", [None, (0, 2)])
def test_every_definition(run_strict, opset, keepdims, axes):
    cases.check_definition(run_strict, OP, opset, keepdims, axes)


@pytest.mark.parametrize("axes", [None, ()])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int32"])
def test_no_axes_and_noop(run_strict, dtype, axes):
    cases.check_noop(run_strict, OP, dtype, axes)


@pytest.mark.parametrize("n", [1, 2, 31, 33, 257, 1025, 4099, 70001])
@pytest.mark.parametrize("axis", [0, 1])
def test_lengths(run_strict, n, axis):
    cases.check_length(run_strict, OP, n, axis)


def test_axes_that_are_fed(strict_session):
    cases.check_fed_axes(strict_session, OP)


@pytest.mark.parametrize("dtype", cases.FLOATS)
@pytest.mark.parametrize("shape", [(3, 0), (0, 3), (0, 0), (3, 0, 2)])
def test_nothing_reduced(run_strict, dtype, shape):
    cases.check_nothing(run_strict, OP, dtype, shape)


@pytest.mark.parametrize("dtype", cases.FLOATS)
def test_nan_and_infinities(run_strict, dtype):
    cases.check_specials(run_strict, OP, dtype)


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint32", "uint64"])
def test_the_mean_of_integers_does_not_overflow(run_strict, dtype):
    most = np.iinfo(dtype).max // (1 if dtype.endswith("32") else 8)
    x = np.array([[most, most, most - 3], [most - 1, most, most]], dtype)
    actual = run_strict(cases.reduce_model(OP, dtype, [2, 3], (1,), keepdims=0), {"x": x})[0]
    assert_exact(actual, np.array([most - 1, most - 1], dtype))


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_the_mean_of_integers_truncates_toward_zero(run_strict, dtype):
    x = np.array([[-1, -2], [1, 2], [-7, 0]], dtype)
    actual = run_strict(cases.reduce_model(OP, dtype, [3, 2], (1,), keepdims=0), {"x": x})[0]
    assert_exact(actual, np.array([-1, 1, -3], dtype))
