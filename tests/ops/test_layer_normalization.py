"""LayerNormalization."""

import numpy as np
import pytest
from helpers import data
from helpers.compare import assert_close, assert_exact
from helpers.models import BFLOAT16, FLOATS, HALVES, dtype_of
from helpers.normalizations import layer_norm, model_of

OP = "LayerNormalization"
ALL = ("y", "mean", "inverse")


def arrays_of(dtype, shape, axis, bias=True, seed=1):
    row = shape[axis:]
    arrays = {"x": data.random(dtype, shape, seed, -4, 4)}
    arrays["scale"] = data.random(dtype, row, seed + 1, 0.5, 2)
    if bias:
        arrays["bias"] = data.random(dtype, row, seed + 2, -2, 2)
    return arrays


def check(run_strict, arrays, axis=-1, outputs=ALL, opset=24, epsilon=1e-5, **attributes):
    model = model_of(OP, arrays, outputs, opset, axis=axis, epsilon=epsilon, **attributes)
    actual = run_strict(model, arrays)
    expected = layer_norm(arrays["x"], axis, arrays["scale"], arrays.get("bias"), epsilon)
    assert len(actual) == len(outputs)
    for got, wanted in zip(actual, expected, strict=False):
        assert_close(got, wanted, scale=4)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(("shape", "axis"), [((5, 3, 40), -1), ((5, 3, 33), 1), ((4, 6), 0)])
@pytest.mark.parametrize("dtype", FLOATS)
def test_every_type(run_strict, dtype, shape, axis, bias):
    check(run_strict, arrays_of(dtype, shape, axis, bias), axis)


@pytest.mark.parametrize("outputs", [("y",), ("y", "mean"), ("y", "", "inverse")])
def test_optional_outputs(run_strict, outputs):
    arrays = arrays_of("float32", (3, 4, 8), 2)
    actual = run_strict(model_of(OP, arrays, outputs), arrays)
    expected = layer_norm(arrays["x"], -1, arrays["scale"], arrays["bias"])
    wanted = [value for value, name in zip(expected, outputs, strict=False) if name]
    for got, value in zip(actual, wanted, strict=True):
        assert_close(got, value)


@pytest.mark.parametrize("opset", [16, 17, 24])
def test_every_definition(run_strict, opset):
    check(run_strict, arrays_of("float32", (3, 4, 8), 2), opset=opset)


@pytest.mark.parametrize("dtype", HALVES)
def test_stash_type_bfloat16(run_strict, dtype):
    arrays = arrays_of(dtype, (6, 64), 1)
    actual = run_strict(model_of(OP, arrays, ALL, stash_type=16), arrays)
    expected = layer_norm(arrays["x"], -1, arrays["scale"], arrays["bias"], stash=BFLOAT16)
    for got, wanted in zip(actual, expected, strict=True):
        assert_close(got, wanted, scale=4)


# Around what a group of threads holds, and rows that are split.
@pytest.mark.parametrize("n", [1, 2, 31, 64, 257, 1024, 2051, 4100, 8192, 8200, 70001])
@pytest.mark.parametrize("dtype", FLOATS)
def test_lengths(run_strict, dtype, n):
    check(run_strict, arrays_of(dtype, (3, n), 1))


@pytest.mark.parametrize("n", [300, 20000])
def test_a_mean_far_from_zero(run_strict, n):
    x = (1000 + data.random("float64", (4, n), 7, -1, 1)).astype(np.float32)
    scale = np.ones(n, np.float32)
    actual = run_strict(model_of(OP, {"x": x, "scale": scale}), {"x": x, "scale": scale})[0]
    np.testing.assert_allclose(actual, layer_norm(x, -1, scale)[0], rtol=0, atol=4e-4)


@pytest.mark.parametrize("dtype", FLOATS)
def test_nan_and_infinities(run_strict, dtype):
    x = np.array([[1, np.nan, 2], [np.inf, 1, 2], [-np.inf, np.inf, 0], [2, 2, 2]])
    arrays = {"x": x.astype(dtype_of(dtype)), "scale": np.ones(3, dtype_of(dtype))}
    actual = run_strict(model_of(OP, arrays), arrays)[0]
    nan, zero = np.full((3, 3), np.nan), np.zeros((1, 3))
    assert_exact(actual, np.concatenate([nan, zero]).astype(arrays["x"].dtype))


@pytest.mark.parametrize(("scale", "bias"), [((1,), (1,)), ((), (8,)), ((4, 1), (3, 1, 1))])
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_scale_and_bias_are_broadcast(run_strict, dtype, scale, bias):
    arrays = {"x": data.random(dtype, (3, 4, 8), 1, -4, 4)}
    arrays["scale"] = data.random(dtype, scale, 2, 0.5, 2)
    arrays["bias"] = data.random(dtype, bias, 3, -2, 2)
    check(run_strict, arrays, 1, outputs=("y",))


@pytest.mark.parametrize("shape", [(0, 4), (3, 0), (0, 0)])
def test_nothing(run_strict, shape):
    arrays = arrays_of("float32", shape, 1)
    actual = run_strict(model_of(OP, arrays, ALL), arrays)
    assert_exact(actual[0], arrays["x"])
    for statistic in actual[1:]:
        assert_exact(statistic, np.full((shape[0], 1), np.nan, np.float32))


def test_one_session_many_shapes(strict_session):
    arrays = arrays_of("float32", (2, 3, 8), 2)
    session = strict_session(model_of(OP, arrays, shapes={}))
    for shape in [(2, 3, 8), (8,), (2, 1, 2, 1, 3, 1, 2, 8), (2, 3, 5000), (0, 8)]:
        arrays = arrays_of("float32", shape, len(shape) - 1)
        expected = layer_norm(arrays["x"], -1, arrays["scale"], arrays["bias"])[0]
        assert_close(session.run(arrays)[0], expected, scale=4)


def test_axis_out_of_range(refused):
    arrays = {"x": np.zeros((2, 2), np.float32), "scale": np.zeros(2, np.float32)}
    text = refused(model_of(OP, arrays, shapes={}, axis=2), arrays)
    assert "'node'" in text
    assert "axis 2 is out of range for rank 2" in text
