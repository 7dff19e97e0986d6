"""BatchNormalization with given statistics."""

import numpy as np
import pytest
from helpers import data
from helpers.compare import assert_close
from helpers.models import FLOATS
from helpers.normalizations import batch_norm, model_of

OP = "BatchNormalization"
SHAPES = [(2, 3, 4, 5), (2, 3), (4, 16), (2, 5, 16), (3, 2, 2, 3, 4), (1, 70, 300), (7,)]


def arrays_of(dtype, shape, scales=None, statistics=None):
    channels = (shape[1] if len(shape) > 1 else 1,)
    scales, statistics = scales or dtype, statistics or dtype
    return {
        "x": data.random(dtype, shape, 1, -4, 4),
        "scale": data.random(scales, channels, 2, 0.5, 2),
        "bias": data.random(scales, channels, 3, -2, 2),
        "mean": data.random(statistics, channels, 4, -2, 2),
        "variance": data.random(statistics, channels, 5, 0.1, 4),
    }


def check(run_strict, arrays, opset=24, epsilon=1e-5, **attributes):
    model = model_of(OP, arrays, opset=opset, epsilon=epsilon, **attributes)
    expected = batch_norm(*arrays.values(), epsilon=epsilon)
    assert_close(run_strict(model, arrays)[0], expected, scale=10)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", FLOATS)
def test_every_type(run_strict, dtype, shape):
    check(run_strict, arrays_of(dtype, shape), epsilon=1e-2)


@pytest.mark.parametrize("scales", FLOATS)
@pytest.mark.parametrize("statistics", FLOATS)
def test_parameters_of_other_types(run_strict, scales, statistics):
    for dtype in ("float16", "float32", "float64"):
        check(run_strict, arrays_of(dtype, (2, 3, 8), scales, statistics), opset=15)


@pytest.mark.parametrize("opset", [7, 8, 9, 13, 14, 15, 24])
def test_every_definition(run_strict, opset):
    check(run_strict, arrays_of("float32", (2, 3, 4, 5)), opset, momentum=0.5)


@pytest.mark.parametrize("shape", [(0, 3, 4), (2, 3, 0), (2, 0, 4)])
def test_nothing(run_strict, shape):
    check(run_strict, arrays_of("float32", shape))


def test_nan_and_infinities(run_strict):
    arrays = arrays_of("float32", (1, 4, 3))
    arrays["x"][0, :2] = np.array([[1, np.nan, 2], [np.inf, -np.inf, 2]], np.float32)
    arrays["variance"][2] = -1
    arrays["mean"][3] = np.nan
    check(run_strict, arrays)


@pytest.mark.parametrize(
    ("opset", "attributes", "outputs"),
    [(15, {"training_mode": 1}, ("y", "m", "v")), (9, {}, ("y", "m", "v", "sm", "sv"))],
)
def test_training_is_declined(refused, opset, attributes, outputs):
    model = model_of(OP, arrays_of("float32", (2, 3, 4)), outputs, opset, **attributes)
    assert "training mode" in refused(model)


def test_parameters_of_another_length(refused):
    arrays = arrays_of("float32", (2, 3, 4))
    model = model_of(OP, arrays, shapes={})
    arrays["variance"] = np.ones(4, np.float32)
    text = refused(model, arrays)
    assert "'node'" in text
    assert "the variance has 4 elements; 3 are needed" in text
