"""Sub."""

import pytest
from helpers import references
from helpers.elementwise import (
    check_binary,
    check_broadcast,
    check_constant_operand,
    check_incompatible,
    check_shape_arithmetic,
)
from helpers.models import NUMBERS

SINCE_OPSET_7 = ["float16", "float32", "float64", "int32", "int64", "uint32", "uint64"]


@pytest.mark.parametrize("dtype", NUMBERS)
def test_every_type(strict_session, dtype):
    check_binary(strict_session, "Sub", references.sub, dtype)


@pytest.mark.parametrize("opset", [7, 13, 14])
@pytest.mark.parametrize("dtype", SINCE_OPSET_7)
def test_every_definition(strict_session, dtype, opset):
    check_binary(strict_session, "Sub", references.sub, dtype, opset)


@pytest.mark.parametrize("dtype", ["float32", "float16", "int64", "uint8"])
def test_broadcasting(strict_session, dtype):
    check_broadcast(strict_session, "Sub", references.sub, dtype)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int32"])
def test_constant_operand(strict_session, dtype):
    check_constant_operand(strict_session, "Sub", references.sub, dtype)


def test_shapes_that_do_not_fit(refused):
    check_incompatible(refused, "Sub")


def test_on_extents(strict_session):
    check_shape_arithmetic(strict_session, "Sub", lambda n, c: n - c)
