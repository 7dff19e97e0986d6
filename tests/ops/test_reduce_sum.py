"""ReduceSum."""

import numpy as np
import pytest
from helpers import data
from helpers.compare import assert_close, assert_exact
from helpers.models import FLOATS, dtype_of, node_model
from helpers.references import reduce_sum

TYPES = (*FLOATS, "int32", "int64", "uint32", "uint64")
AXES = [(0,), (1,), (2,), (3,), (0, 2), (1, 3), (0, 1), (2, 3), (0, 1, 2, 3), (-1, 0), ()]


def sum_model(dtype, shape, axes=None, opset=24, **attributes):
    """Axes are an input from opset 13 on."""
    if axes is None:
        return node_model("ReduceSum", {"x": (dtype, shape)}, opset=opset, **attributes)
    if opset < 13:
        inputs = {"x": (dtype, shape)}
        return node_model("ReduceSum", inputs, opset=opset, axes=axes, **attributes)
    constants = {"axes": np.array(axes, np.int64)}
    return node_model("ReduceSum", {"x": (dtype, shape)}, ("y",), constants, opset, **attributes)


def expected(x, axes, keepdims=1):
    return reduce_sum(x, tuple(range(x.ndim)) if axes in (None, ()) else axes, keepdims)


@pytest.mark.parametrize("axes", AXES)
@pytest.mark.parametrize("dtype", TYPES)
def test_every_type(run_strict, dtype, axes):
    x = data.random(dtype, (5, 3, 4, 33), seed=1, low=-9, high=9)
    actual = run_strict(sum_model(dtype, list("abcd"), axes), {"x": x})[0]
    assert_close(actual, expected(x, axes), scale=50)


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint32", "uint64"])
def test_integers_wrap(run_strict, dtype):
    x = data.any_bits(dtype, (257, 65), seed=2)
    for axis in (0, 1):
        actual = run_strict(sum_model(dtype, ["n", "m"], (axis,)), {"x": x})[0]
        assert_exact(actual, expected(x, (axis,)))


@pytest.mark.parametrize("opset", [1, 11, 13, 24])
@pytest.mark.parametrize("keepdims", [0, 1])
@pytest.mark.parametrize("axes", [None, (0, 2)])
def test_every_definition(run_strict, opset, keepdims, axes):
    x = data.random("float32", (3, 33, 2), seed=3, low=-3, high=3)
    model = sum_model("float32", [3, 33, 2], axes, opset, keepdims=keepdims)
    assert_close(run_strict(model, {"x": x})[0], expected(x, axes, keepdims), scale=10)


@pytest.mark.parametrize("axes", [None, ()])
def test_no_axes_and_noop_copies(run_strict, axes):
    x = data.random("float32", (3, 33), seed=4)
    model = sum_model("float32", ["n", "m"], axes, noop_with_empty_axes=1)
    assert_exact(run_strict(model, {"x": x})[0], x)


def test_another_axis_than_the_last_by_hand(run_strict):
    x = np.arange(12, dtype=np.float32).reshape(1, 3, 2, 2)
    actual = run_strict(sum_model("float32", [1, 3, 2, 2], (1,), keepdims=0), {"x": x})[0]
    np.testing.assert_array_equal(actual, [[[12, 15], [18, 21]]])


@pytest.mark.parametrize(("dtype", "each"), [("float16", 8.0), ("bfloat16", 60.0)])
@pytest.mark.parametrize("axis", [0, 1])
def test_narrow_floats_are_added_in_a_wider_type(run_strict, dtype, each, axis):
    shape = (3, 4096) if axis == 1 else (4096, 3)
    x = np.full(shape, each, dtype_of(dtype))
    actual = run_strict(sum_model(dtype, ["n", "m"], (axis,), keepdims=0), {"x": x})[0]
    assert_exact(actual, np.full(3, each * 4096, x.dtype))


@pytest.mark.parametrize("dtype", FLOATS)
def test_nan_and_infinities(run_strict, dtype):
    x = np.array([[1, np.nan, 2], [np.inf, -np.inf, 0], [np.inf, 1, 2], [-np.inf, 1, -np.inf]])
    x = x.astype(dtype_of(dtype))
    actual = run_strict(sum_model(dtype, ["n", 3], (1,), keepdims=0), {"x": x})[0]
    assert_exact(actual, np.array([np.nan, np.nan, np.inf, -np.inf]).astype(x.dtype))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", [(3, 0), (0, 3), (0, 0), (3, 0, 2)])
def test_nothing_added_is_zero(run_strict, dtype, shape):
    x = np.zeros(shape, dtype_of(dtype))
    actual = run_strict(sum_model(dtype, list("abc")[: len(shape)], (1,)), {"x": x})[0]
    assert_exact(actual, expected(x, (1,)))


@pytest.mark.parametrize("n", [1, 2, 31, 33, 257, 1025, 4099, 70001])
@pytest.mark.parametrize("axis", [0, 1])
def test_lengths(run_strict, n, axis):
    x = data.random("float32", (2, n) if axis else (n, 2), seed=n, low=0, high=1)
    actual = run_strict(sum_model("float32", ["n", "m"], (axis,)), {"x": x})[0]
    assert_close(actual, expected(x, (axis,)))


def test_axes_that_are_fed(strict_session):
    session = strict_session(
        node_model("ReduceSum", {"x": ("float32", None), "axes": ("int64", ["n"])})
    )
    for shape, axes in [((3, 4), (0,)), ((2, 3, 4), (0, -1)), ((), ()), ((2,) * 8, (1, 4))]:
        x = data.random("float32", shape, seed=5, low=0, high=1)
        actual = session.run({"x": x, "axes": np.array(axes, np.int64)})[0]
        assert_close(actual, expected(x, axes))


def test_axis_out_of_range(refused):
    feeds = {"x": np.zeros((2, 2), np.float32)}
    text = refused(sum_model("float32", None, (2,)), feeds)
    assert "'node'" in text
    assert "axis 2 is out of range for rank 2" in text
