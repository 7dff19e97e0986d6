"""Div."""

import numpy as np
import pytest
from helpers import references
from helpers.compare import assert_exact
from helpers.elementwise import (
    check_binary,
    check_broadcast,
    check_constant_operand,
    check_incompatible,
    check_shape_arithmetic,
)
from helpers.models import INTEGERS, NUMBERS, node_model

SINCE_OPSET_7 = ["float16", "float32", "float64", "int32", "int64", "uint32", "uint64"]


@pytest.mark.parametrize("dtype", NUMBERS)
def test_every_type(strict_session, dtype):
    check_binary(strict_session, "Div", references.div, dtype)


@pytest.mark.parametrize("opset", [7, 13, 14])
@pytest.mark.parametrize("dtype", SINCE_OPSET_7)
def test_every_definition(strict_session, dtype, opset):
    check_binary(strict_session, "Div", references.div, dtype, opset)


@pytest.mark.parametrize("dtype", ["float32", "float16", "int64", "uint8"])
def test_broadcasting(strict_session, dtype):
    check_broadcast(strict_session, "Div", references.div, dtype)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int32"])
def test_constant_operand(strict_session, dtype):
    check_constant_operand(strict_session, "Div", references.div, dtype)


def test_shapes_that_do_not_fit(refused):
    check_incompatible(refused, "Div")


def test_on_extents(strict_session):
    check_shape_arithmetic(strict_session, "Div", lambda n, c: n // c)


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64"])
def test_integers_truncate_toward_zero(run_strict, dtype):
    a = np.array([7, -7, 7, -7, -1, 1, 0], dtype)
    b = np.array([2, 2, -2, -2, 3, -3, 5], dtype)
    model = node_model("Div", {"a": (dtype, [7]), "b": (dtype, [7])})
    np.testing.assert_array_equal(run_strict(model, {"a": a, "b": b})[0], [3, -3, -3, 3, 0, 0, 0])


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_divided_by_zero_and_the_least_by_minus_one(run_strict, dtype):
    limits = np.iinfo(dtype)
    a, b = np.array([limits.min, limits.max, limits.min], dtype), np.array([0, 0, 1], dtype)
    expected = [0, 0, limits.min]
    if limits.min < 0:
        b[2] = -1
    model = node_model("Div", {"a": (dtype, [3]), "b": (dtype, [3])})
    np.testing.assert_array_equal(run_strict(model, {"a": a, "b": b})[0], expected)


def test_floats_divided_by_zero(run_strict):
    a, b = np.float32([1, -1, 0, 1]), np.float32([0, 0, 0, -0.0])
    model = node_model("Div", {"a": ("float32", [4]), "b": ("float32", [4])})
    assert_exact(
        run_strict(model, {"a": a, "b": b})[0], np.float32([np.inf, -np.inf, np.nan, -np.inf])
    )
