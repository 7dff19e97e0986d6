"""InstanceNormalization."""

import numpy as np
import pytest
from helpers import data
from helpers.compare import assert_close
from helpers.models import FLOATS
from helpers.normalizations import group_norm, model_of

OP = "InstanceNormalization"
SHAPES = [(2, 3, 4, 5), (2, 5, 16), (3, 2, 2, 3, 4), (1, 3, 70, 300), (2, 3, 9001), (2, 3, 1)]


def arrays_of(dtype, shape):
    return {
        "x": data.random(dtype, shape, 1, -4, 4),
        "scale": data.random(dtype, (shape[1],), 2, 0.5, 2),
        "bias": data.random(dtype, (shape[1],), 3, -2, 2),
    }


def check(run_strict, arrays, opset=24, epsilon=1e-5):
    model = model_of(OP, arrays, opset=opset, epsilon=epsilon)
    expected = group_norm(
        arrays["x"], arrays["x"].shape[1], arrays["scale"], arrays["bias"], epsilon
    )
    assert_close(run_strict(model, arrays)[0], expected, scale=4)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", FLOATS)
def test_every_type(run_strict, dtype, shape):
    check(run_strict, arrays_of(dtype, shape), epsilon=1e-2)


@pytest.mark.parametrize("opset", [6, 21, 22, 24])
def test_every_definition(run_strict, opset):
    check(run_strict, arrays_of("float32", (2, 3, 4, 5)), opset)


@pytest.mark.parametrize("shape", [(0, 3, 4), (2, 0, 4), (2, 3, 0)])
def test_nothing(run_strict, shape):
    arrays = arrays_of("float32", shape)
    assert run_strict(model_of(OP, arrays), arrays)[0].shape == shape


def test_nan_and_infinities_stay_in_their_channel(run_strict):
    arrays = arrays_of("float32", (2, 3, 8))
    arrays["x"][0, 1, 2] = np.nan
    arrays["x"][1, 2, 5] = np.inf
    check(run_strict, arrays)


def test_a_scale_of_another_length(refused):
    arrays = arrays_of("float32", (2, 3, 8))
    model = model_of(OP, arrays, shapes={})
    arrays["scale"] = np.ones(4, np.float32)
    text = refused(model, arrays)
    assert "'node'" in text
    assert "scale has 4 elements; 3 are needed" in text
