"""Neg."""

import numpy as np
import pytest
from helpers import references
from helpers.compare import assert_exact
from helpers.elementwise import check_unary
from helpers.models import FLOATS, SIGNED, node_model


@pytest.mark.parametrize("dtype", FLOATS + SIGNED)
def test_every_type(strict_session, dtype):
    check_unary(strict_session, "Neg", references.neg, dtype)


@pytest.mark.parametrize("opset", [6, 13])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_every_definition(strict_session, dtype, opset):
    check_unary(strict_session, "Neg", references.neg, dtype, opset)


def test_zero_changes_its_sign(run_strict):
    (y,) = run_strict(node_model("Neg", {"x": ("float32", [2])}), {"x": np.float32([0.0, -0.0])})
    assert_exact(y, np.float32([-0.0, 0.0]))


@pytest.mark.parametrize("dtype", SIGNED)
def test_the_least_integer_wraps(run_strict, dtype):
    least = np.iinfo(dtype).min
    (y,) = run_strict(node_model("Neg", {"x": (dtype, [1])}), {"x": np.array([least], dtype)})
    assert y[0] == least
