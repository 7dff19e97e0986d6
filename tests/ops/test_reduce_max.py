"""ReduceMax."""

import numpy as np
import pytest
from helpers import data
from helpers.compare import assert_exact
from helpers.models import FLOATS, dtype_of, node_model
from helpers.references import reduce_extreme

FIND_MAX = True
TYPES = (*FLOATS, "int8", "int32", "int64", "uint8", "uint32", "uint64", "bool")
AXES = [(0,), (1,), (2,), (3,), (0, 2), (1, 3), (0, 1), (2, 3), (0, 1, 2, 3), (-1, 0), ()]


def reduce_model(dtype, shape, axes=None, opset=24, **attributes):
    """Axes are an input from opset 18 on."""
    if axes is None:
        return node_model("ReduceMax", {"x": (dtype, shape)}, opset=opset, **attributes)
    if opset < 18:
        inputs = {"x": (dtype, shape)}
        return node_model("ReduceMax", inputs, opset=opset, axes=axes, **attributes)
    constants = {"axes": np.array(axes, np.int64)}
    return node_model("ReduceMax", {"x": (dtype, shape)}, ("y",), constants, opset, **attributes)


def expected(x, axes, keepdims=1):
    return reduce_extreme(
        x, tuple(range(x.ndim)) if axes in (None, ()) else axes, FIND_MAX, keepdims
    )


@pytest.mark.parametrize("axes", AXES)
@pytest.mark.parametrize("dtype", TYPES)
def test_every_type(run_strict, dtype, axes):
    x = data.random(dtype, (5, 3, 4, 33), seed=1)
    model = reduce_model(dtype, list("abcd"), axes)
    assert_exact(run_strict(model, {"x": x})[0], expected(x, axes), signed_zeros=False)


@pytest.mark.parametrize("dtype", TYPES)
def test_all_bits(run_strict, dtype):
    x = data.any_bits(dtype, (257, 65), seed=2)
    for axis in (0, 1):
        model = reduce_model(dtype, ["n", "m"], (axis,))
        assert_exact(run_strict(model, {"x": x})[0], expected(x, (axis,)), signed_zeros=False)


@pytest.mark.parametrize("opset", [1, 11, 12, 13, 17, 18, 20])
@pytest.mark.parametrize("keepdims", [0, 1])
@pytest.mark.parametrize("axes", [None, (0, 2)])
def test_every_definition(run_strict, opset, keepdims, axes):
    x = data.random("float32", (3, 33, 2), seed=3)
    model = reduce_model("float32", [3, 33, 2], axes, opset, keepdims=keepdims)
    assert_exact(run_strict(model, {"x": x})[0], expected(x, axes, keepdims))


@pytest.mark.parametrize("axes", [None, ()])
def test_no_axes_and_noop_copies(run_strict, axes):
    x = data.random("float32", (3, 33), seed=4)
    model = reduce_model("float32", ["n", "m"], axes, noop_with_empty_axes=1)
    assert_exact(run_strict(model, {"x": x})[0], x)


@pytest.mark.parametrize("dtype", FLOATS)
def test_nan_wins(run_strict, dtype):
    x = np.array([[1, np.nan, np.inf], [-np.inf, 2, -np.nan], [np.inf, -np.inf, 0]])
    x = x.astype(dtype_of(dtype))
    actual = run_strict(reduce_model(dtype, ["n", 3], (1,)), {"x": x})[0]
    assert_exact(actual, np.array([[np.nan], [np.nan], [np.inf]]).astype(x.dtype))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", [(3, 0), (0, 3), (0, 0), (3, 0, 2)])
def test_nothing_to_reduce(run_strict, dtype, shape):
    x = np.zeros(shape, dtype_of(dtype))
    actual = run_strict(reduce_model(dtype, list("abc")[: len(shape)], (1,)), {"x": x})[0]
    assert_exact(actual, expected(x, (1,)))


@pytest.mark.parametrize("n", [1, 2, 31, 33, 257, 1025, 4099, 70001])
def test_lengths(run_strict, n):
    x = data.random("float32", (2, n), seed=n)
    assert_exact(
        run_strict(reduce_model("float32", ["n", "m"], (-1,)), {"x": x})[0], expected(x, (1,))
    )


def test_axes_that_are_fed(strict_session):
    model = node_model("ReduceMax", {"x": ("float32", None), "axes": ("int64", ["n"])})
    session = strict_session(model)
    for shape, axes in [
        ((3, 4), (0,)),
        ((2, 3, 4), (0, -1)),
        ((1, 2, 1, 2, 3, 1, 2, 2), (1, 4)),
        ((), ()),
    ]:
        x = data.random("float32", shape, seed=5)
        actual = session.run({"x": x, "axes": np.array(axes, np.int64)})[0]
        assert_exact(actual, expected(x, axes))


def test_axis_out_of_range(refused):
    feeds = {"x": np.zeros((2, 2), np.float32)}
    text = refused(reduce_model("float32", None, (2,)), feeds)
    assert "'node'" in text
    assert "axis 2 is out of range for rank 2" in text
