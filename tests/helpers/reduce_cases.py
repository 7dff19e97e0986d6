"""Models, references and checks that the tests of reductions share."""

import numpy as np
from helpers import data
from helpers.compare import assert_close, assert_exact
from helpers.models import FLOATS, dtype_of, is_float, node_model
from helpers.references import cast

TYPES = (*FLOATS, "int32", "int64", "uint32", "uint64")
AXES = [(0,), (1,), (2,), (3,), (0, 2), (1, 3), (0, 1), (2, 3), (0, 1, 2, 3), (-1, 0), ()]
DEFINITIONS = [1, 11, 13, 18, 24]


def reduce_model(op_type, dtype, shape, axes=None, opset=24, **attributes):
    """Axes are an input from opset 18 on."""
    inputs = {"x": (dtype, shape)}
    if axes is None:
        return node_model(op_type, inputs, opset=opset, **attributes)
    if opset < 18:
        return node_model(op_type, inputs, opset=opset, axes=axes, **attributes)
    constants = {"axes": np.array(axes, np.int64)}
    return node_model(op_type, inputs, ("y",), constants, opset, **attributes)


def _log_sum_exp(x, **over):
    greatest = np.max(x, **{**over, "keepdims": True}, initial=-np.inf)
    shift = np.where(np.isfinite(greatest), greatest, 0)
    total = np.log(np.sum(np.exp(x - shift), **over))
    return total + (shift if over["keepdims"] else np.squeeze(shift, over["axis"]))


FORMULAS = {
    "ReduceMean": lambda x, **over: np.sum(x, **over) / np.sum(np.ones_like(x), **over),
    "ReduceProd": np.prod,
    "ReduceL1": lambda x, **over: np.sum(np.abs(x), **over),
    "ReduceL2": lambda x, **over: np.sqrt(np.sum(x * x, **over)),
    "ReduceLogSum": lambda x, **over: np.log(np.sum(x, **over)),
    "ReduceLogSumExp": _log_sum_exp,
    "ReduceSumSquare": lambda x, **over: np.sum(x * x, **over),
}
WRAPPING = ("ReduceProd", "ReduceL1", "ReduceSumSquare")


def expected(op_type, x, axes, keepdims=1, noop=0):
    """Floats in float64, rounded once; of integers those that wrap in their own type."""
    axes = tuple(range(x.ndim)) if axes is None or (len(axes) == 0 and not noop) else axes
    over = {"axis": tuple(axes), "keepdims": bool(keepdims)}
    wraps = op_type in WRAPPING and not is_float(x.dtype)
    with np.errstate(all="ignore"):
        if wraps:
            if op_type == "ReduceProd":
                return np.asarray(np.prod(x, dtype=x.dtype, **over))
            mapped = np.abs(x) if op_type == "ReduceL1" else x * x
            return np.asarray(np.sum(mapped, dtype=x.dtype, **over))
        result = FORMULAS[op_type](x.astype(np.float64), **over)
        return cast(np.asarray(result), x.dtype)


def check_type(run_strict, op_type, dtype, axes, low, high, shape=(5, 3, 4, 33)):
    """One type over one set of axes."""
    x = data.random(dtype, shape, seed=1, low=low, high=high)
    model = reduce_model(op_type, dtype, list("abcd")[: len(shape)], axes)
    actual = run_strict(model, {"x": x})[0]
    assert_close(actual, expected(op_type, x, axes))


def check_definition(run_strict, op_type, opset, keepdims, axes):
    """One definition of the operator, with and without the reduced axes."""
    x = data.random("float32", (3, 33, 2), seed=3, low=0.9, high=1.1)
    model = reduce_model(op_type, "float32", [3, 33, 2], axes, opset, keepdims=keepdims)
    assert_close(run_strict(model, {"x": x})[0], expected(op_type, x, axes, keepdims))


def check_noop(run_strict, op_type, dtype, axes):
    """Without axes and with noop_with_empty_axes each element is reduced by itself."""
    x = data.random(dtype, (3, 33), seed=4, low=1, high=9)
    model = reduce_model(op_type, dtype, ["n", "m"], axes, noop_with_empty_axes=1)
    assert_close(run_strict(model, {"x": x})[0], expected(op_type, x, (), noop=1))


def check_length(run_strict, op_type, n, axis, low=0.5, high=1.5):
    """Rows and columns of one length."""
    x = data.random("float32", (2, n) if axis else (n, 2), seed=n, low=low, high=high)
    actual = run_strict(reduce_model(op_type, "float32", ["n", "m"], (axis,)), {"x": x})[0]
    assert_close(actual, expected(op_type, x, (axis,)))


def check_fed_axes(strict_session, op_type):
    """Axes that are an input of the graph, over several ranks."""
    inputs = {"x": ("float32", None), "axes": ("int64", ["n"])}
    session = strict_session(node_model(op_type, inputs))
    for shape, axes in [((3, 4), (0,)), ((2, 3, 4), (0, -1)), ((), ()), ((2,) * 8, (1, 4))]:
        x = data.random("float32", shape, seed=5, low=0.5, high=1.5)
        actual = session.run({"x": x, "axes": np.array(axes, np.int64)})[0]
        assert_close(actual, expected(op_type, x, axes))


def check_nothing(run_strict, op_type, dtype, shape):
    """No elements to reduce, or none to write."""
    x = np.zeros(shape, dtype_of(dtype))
    model = reduce_model(op_type, dtype, list("abc")[: len(shape)], (1,))
    assert_exact(run_strict(model, {"x": x})[0], expected(op_type, x, (1,)))


def check_specials(run_strict, op_type, dtype):
    """NaN and infinities, alone and together."""
    rows = [[1, np.nan, 2], [np.inf, 1, 2], [np.nan, np.inf, -np.inf], [np.inf, np.inf, 0.5]]
    x = np.array(rows).astype(dtype_of(dtype))
    actual = run_strict(reduce_model(op_type, dtype, ["n", 3], (1,)), {"x": x})[0]
    assert_exact(actual, expected(op_type, x, (1,)))
