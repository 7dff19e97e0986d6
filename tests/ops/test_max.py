"""Max."""

import numpy as np
import pytest
from helpers import data, references
from helpers.compare import assert_exact
from helpers.elementwise import (
    check_binary,
    check_broadcast,
    check_constant_operand,
    check_incompatible,
    check_shape_arithmetic,
)
from helpers.models import FLOATS, NUMBERS, dtype_of, node_model


@pytest.mark.parametrize("dtype", NUMBERS)
def test_every_type(strict_session, dtype):
    check_binary(strict_session, "Max", references.maximum, dtype, signed_zeros=False)


@pytest.mark.parametrize("opset", [8, 11, 12, 13])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_every_definition(strict_session, dtype, opset):
    check_binary(strict_session, "Max", references.maximum, dtype, opset, signed_zeros=False)


@pytest.mark.parametrize("dtype", ["float32", "float16", "int64", "uint8"])
def test_broadcasting(strict_session, dtype):
    check_broadcast(strict_session, "Max", references.maximum, dtype)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int32"])
def test_constant_operand(strict_session, dtype):
    check_constant_operand(strict_session, "Max", references.maximum, dtype)


@pytest.mark.parametrize("dtype", NUMBERS)
def test_one_operand(run_strict, dtype):
    x = data.any_bits(dtype, (3, 35), seed=1)
    assert_exact(run_strict(node_model("Max", {"a": (dtype, ["n", "m"])}), {"a": x})[0], x)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int8"])
def test_many_operands_that_broadcast_in_turn(run_strict, dtype):
    shapes = [(5, 1), (1, 7), (), (3, 1, 1), (3, 5, 7), (1,)]
    arrays = {f"x{i}": data.random(dtype, shape, seed=i) for i, shape in enumerate(shapes)}
    model = node_model("Max", {name: (dtype, None) for name in arrays})
    assert_exact(run_strict(model, arrays)[0], references.maximum(*arrays.values()))


@pytest.mark.parametrize("dtype", FLOATS)
def test_nan_of_either_operand_wins(run_strict, dtype):
    nan = np.nan
    model = node_model("Max", {"a": (dtype, None), "b": (dtype, None)})
    a, b = np.array([1, nan, 3, nan]), np.array([nan, 0, nan, nan])
    a, b = a.astype(dtype_of(dtype)), b.astype(dtype_of(dtype))
    assert np.isnan(run_strict(model, {"a": a, "b": b})[0].astype(np.float32)).all()
    a, b = np.array([[nan], [0.5], [0.5]]), np.array([0.75])
    a, b = a.astype(dtype_of(dtype)), b.astype(dtype_of(dtype))
    expected = np.array([[nan], [0.75], [0.75]]).astype(dtype_of(dtype))
    assert_exact(run_strict(model, {"a": a, "b": b})[0], expected)


def test_shapes_that_do_not_fit(refused):
    check_incompatible(refused, "Max")


def test_on_extents(strict_session):
    check_shape_arithmetic(strict_session, "Max", max)
