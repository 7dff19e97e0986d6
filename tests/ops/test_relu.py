"""Relu."""

import numpy as np
import pytest
from helpers import references
from helpers.compare import assert_exact
from helpers.elementwise import check_unary
from helpers.models import FLOATS, SIGNED, dtype_of, node_model


@pytest.mark.parametrize("dtype", FLOATS + SIGNED)
def test_every_type(strict_session, dtype):
    check_unary(strict_session, "Relu", references.relu, dtype, signed_zeros=False)


@pytest.mark.parametrize("opset", [6, 13, 14])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_every_definition(strict_session, dtype, opset):
    check_unary(strict_session, "Relu", references.relu, dtype, opset, signed_zeros=False)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_nan_stays_and_infinities_too(run_strict, dtype):
    x = np.array([np.nan, -np.nan, np.inf, -np.inf, -1], dtype_of(dtype))
    (y,) = run_strict(node_model("Relu", {"x": (dtype, [5])}), {"x": x})
    assert_exact(y, np.array([np.nan, np.nan, np.inf, 0, 0], dtype_of(dtype)))
