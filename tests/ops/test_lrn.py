"""LRN: normalisation over a window of channels."""

import numpy as np
import pytest
from helpers import data
from helpers.compare import assert_close
from helpers.models import FLOATS, node_model
from helpers.normalizations import local_response


def check(run_strict, x, opset=24, **attributes):
    model = node_model("LRN", {"x": (x.dtype, [None] * x.ndim)}, opset=opset, **attributes)
    assert_close(run_strict(model, {"x": x})[0], local_response(x, **attributes))


@pytest.mark.parametrize("size", [1, 2, 3, 5, 9])
@pytest.mark.parametrize("shape", [(2, 7, 3, 5), (1, 3, 300), (2, 16, 4, 4)])
@pytest.mark.parametrize("dtype", FLOATS)
def test_every_type(run_strict, dtype, shape, size):
    check(run_strict, data.random(dtype, shape, 1, -9, 9), size=size)


@pytest.mark.parametrize("beta", [0.5, 0.75, 1.0, 2.5])
@pytest.mark.parametrize("alpha", [1e-4, 2.0])
def test_attributes(run_strict, alpha, beta):
    x = data.random("float32", (2, 5, 3, 4), 2, -9, 9)
    check(run_strict, x, size=3, alpha=alpha, beta=beta, bias=0.5)


@pytest.mark.parametrize("opset", [1, 12, 13, 24])
def test_every_definition(run_strict, opset):
    check(run_strict, data.random("float32", (2, 5, 3, 4), 3, -9, 9), opset, size=3)


def test_nan_and_infinities(run_strict):
    x = data.random("float32", (1, 6, 3), 4, -9, 9)
    x[0, 1, 0], x[0, 4, 1] = np.nan, np.inf
    check(run_strict, x, size=3)


@pytest.mark.parametrize("shape", [(0, 3, 4), (2, 0, 4), (2, 3, 0)])
def test_nothing(run_strict, shape):
    check(run_strict, np.zeros(shape, np.float32), size=3)
