"""RMSNormalization."""

import numpy as np
import pytest
from helpers import data
from helpers.compare import TOLERANCE, assert_close
from helpers.models import FLOATS
from helpers.normalizations import layer_norm, model_of

OP = "RMSNormalization"


def check(run_strict, x, scale, axis=-1, epsilon=1e-5, **attributes):
    arrays = {"x": x, "scale": scale}
    model = model_of(OP, arrays, axis=axis, epsilon=epsilon, **attributes)
    expected = layer_norm(x, axis, scale, None, epsilon, centered=False)[0]
    assert_close(run_strict(model, arrays)[0], expected)


@pytest.mark.parametrize(("shape", "axis"), [((5, 3, 40), -1), ((5, 3, 33), 1), ((4, 6), 0)])
@pytest.mark.parametrize("dtype", FLOATS)
def test_every_type(run_strict, dtype, shape, axis):
    x = data.random(dtype, shape, 1, -4, 4)
    check(run_strict, x, data.random(dtype, shape[axis:], 2, 0.5, 2), axis, epsilon=1e-3)


@pytest.mark.parametrize("scale", FLOATS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_the_output_has_the_type_of_the_scale(run_strict, dtype, scale):
    x = data.random(dtype, (6, 40), 1, -4, 4)
    scale = data.random(scale, (40,), 2, 0.5, 2)
    arrays = {"x": x, "scale": scale}
    actual = run_strict(model_of(OP, arrays), arrays)[0]
    expected = layer_norm(x, -1, scale, centered=False)[0]
    assert actual.dtype == scale.dtype
    least_precise = max((x.dtype, scale.dtype), key=lambda dtype: TOLERANCE[dtype.name])
    assert_close(actual.astype(least_precise), expected.astype(least_precise))


@pytest.mark.parametrize("n", [1, 31, 64, 257, 1024, 2051, 4100, 8192, 8200, 70001])
def test_lengths(run_strict, n):
    check(run_strict, data.random("float32", (3, n), n, -4, 4), data.random("float32", (n,), 2))


@pytest.mark.parametrize("shape", [(1,), (), (4, 1), (3, 1, 1)])
def test_the_scale_is_broadcast(run_strict, shape):
    x = data.random("float32", (3, 4, 8), 1, -4, 4)
    check(run_strict, x, data.random("float32", shape, 2, 0.5, 2), 1)


def test_nan_and_infinities(run_strict):
    x = np.array([[1, np.nan, 2], [np.inf, 1, 2], [0, 0, 0]], np.float32)
    check(run_strict, x, np.ones(3, np.float32))


@pytest.mark.parametrize("shape", [(0, 4), (3, 0)])
def test_nothing(run_strict, shape):
    check(run_strict, np.zeros(shape, np.float32), np.ones(shape[1:], np.float32))
