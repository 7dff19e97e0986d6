"""MeanVarianceNormalization."""

import numpy as np
import pytest
from helpers import data
from helpers.compare import assert_close, assert_exact
from helpers.models import FLOATS, node_model
from helpers.normalizations import mean_variance

OP = "MeanVarianceNormalization"
AXES = [(0, 2, 3), (1,), (3,), (-1, -2), (0, 1, 2, 3), (1, 3)]


def variance_model(dtype, shape, opset=24, **attributes):
    return node_model(OP, {"x": (dtype, shape)}, opset=opset, **attributes)


@pytest.mark.parametrize("axes", AXES)
@pytest.mark.parametrize("dtype", FLOATS)
def test_every_type(run_strict, dtype, axes):
    x = data.random(dtype, (5, 3, 4, 33), 1, -4, 9)
    actual = run_strict(variance_model(dtype, list("abcd"), axes=axes), {"x": x})[0]
    assert_close(actual, mean_variance(x, axes))


@pytest.mark.parametrize("opset", [9, 12, 13, 24])
def test_the_default_axes_of_every_definition(run_strict, opset):
    x = data.random("float32", (2, 3, 4, 5), 1, -4, 9)
    actual = run_strict(variance_model("float32", [2, 3, 4, 5], opset), {"x": x})[0]
    assert_close(actual, mean_variance(x, (0, 2, 3)))


def test_a_constant_channel_is_zero(run_strict):
    x = np.full((2, 3, 4, 5), 0.25, np.float32)
    assert_exact(run_strict(variance_model("float32", list("abcd")), {"x": x})[0], x * 0)


def test_nan_stays_in_its_channel(run_strict):
    x = data.random("float32", (2, 3, 4, 5), 1, -4, 9)
    x[1, 1, 2, 3] = np.nan
    actual = run_strict(variance_model("float32", list("abcd")), {"x": x})[0]
    assert_close(actual, mean_variance(x, (0, 2, 3)))


@pytest.mark.parametrize("shape", [(0, 3, 4, 5), (2, 0, 4, 5), (2, 3, 4, 0)])
def test_nothing(run_strict, shape):
    x = np.zeros(shape, np.float32)
    assert_exact(run_strict(variance_model("float32", list("abcd")), {"x": x})[0], x)


def test_axis_out_of_range(refused):
    text = refused(variance_model("float32", None), {"x": np.zeros((2, 2), np.float32)})
    assert "'node'" in text
    assert "axis 2 is out of range for rank 2" in text
