"""ReduceLogSum."""

import numpy as np
import pytest
from helpers import reduce_cases as cases
from helpers.compare import assert_exact

OP = "ReduceLogSum"


@pytest.mark.parametrize("axes", cases.AXES)
@pytest.mark.parametrize("dtype", cases.TYPES)
def test_every_type(run_strict, dtype, axes):
    cases.check_type(run_strict, OP, dtype, axes, low=1, high=9)


@pytest.mark.parametrize("opset", [*cases.DEFINITIONS, 28])
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


def test_a_sum_below_zero_has_no_logarithm(run_strict):
    x = np.array([[1, -2], [1, -1], [2, -1]], np.float32)
    actual = run_strict(cases.reduce_model(OP, "float32", [3, 2], (1,), keepdims=0), {"x": x})[0]
    assert_exact(actual, np.array([np.nan, -np.inf, 0], np.float32))
