"""Models, references and checks that the tests of Softmax, LogSoftmax and Hardmax share."""

import numpy as np
from helpers import data
from helpers.compare import assert_close, assert_exact
from helpers.models import dtype_of, node_model
from helpers.references import ordered

SHAPES = [
    ((5, 3, 33), -1),
    ((5, 3, 33), 0),
    ((5, 3, 33), 1),
    ((4, 7, 3, 40), -2),
    ((2, 300, 5), 1),
    ((3, 128), 1),
    ((300, 16), 1),
    ((9,), 0),
    ((2, 1, 3), 1),
]
FLATTENED = [((2, 3, 4), 0), ((2, 3, 4), 1), ((2, 3, 4), -1), ((2, 3, 4), 2), ((2, 3, 4), None)]


def softmax_model(op_type, dtype, shape, axis=None, opset=24):
    attributes = {} if axis is None else {"axis": axis}
    return node_model(op_type, {"x": (dtype, shape)}, opset=opset, **attributes)


def softmax(x, axis):
    """In float64, rounded once."""
    with np.errstate(all="ignore"):
        powers = np.exp(_below_greatest(x, axis))
        return (powers / powers.sum(axis=axis, keepdims=True)).astype(x.dtype)


def log_softmax(x, axis):
    """In float64, rounded once."""
    with np.errstate(all="ignore"):
        below = _below_greatest(x, axis)
        logarithm = np.log(np.exp(below).sum(axis=axis, keepdims=True))
        return (below - logarithm).astype(x.dtype)


def hardmax(x, axis):
    """1 at the first NaN or greatest element."""
    index = np.argmax(ordered(x), axis=axis, keepdims=True)
    result = np.zeros(x.shape, x.dtype)
    np.put_along_axis(result, index, np.ones((), x.dtype), axis)
    return result


def _below_greatest(x, axis):
    x = x.astype(np.float64)
    return x - x.max(axis=axis, keepdims=True)


REFERENCES = {"Softmax": softmax, "LogSoftmax": log_softmax, "Hardmax": hardmax}


def check(run_strict, op_type, x, axis, opset=24):
    """Compare one axis of one array with the reference."""
    model = softmax_model(op_type, x.dtype.name, [f"d{i}" for i in range(x.ndim)], axis, opset)
    actual = run_strict(model, {"x": x})[0]
    assert_close(actual, REFERENCES[op_type](x, -1 if axis is None else axis))


def check_flattened(run_strict, op_type, shape, axis, opset):
    """Before opset 13 all dimensions from the axis on, 1 if none is given, are one."""
    x = data.random("float32", shape, seed=2, low=-4, high=4)
    first = 1 if axis is None else axis % len(shape)
    matrix = x.reshape(int(np.prod(shape[:first])), -1)
    model = softmax_model(op_type, "float32", list(shape), axis, opset)
    wanted = REFERENCES[op_type](matrix, 1).reshape(shape)
    assert_close(run_strict(model, {"x": x})[0], wanted)


def check_empty(run_strict, op_type, shape):
    x = np.zeros(shape, np.float32)
    model = softmax_model(op_type, "float32", ["a", "b", "c"], 1)
    assert_exact(run_strict(model, {"x": x})[0], x)


def specials(dtype):
    nan, inf = np.nan, np.inf
    rows = [[1, nan, 2], [inf, 1, 2], [-inf, 1, -inf], [-inf, -inf, -inf], [nan, inf, -inf]]
    return np.array([*rows, [inf, inf, 0], [0.0, -0.0, 0.0]]).astype(dtype_of(dtype))


def check_shapes_of_one_session(strict_session, op_type):
    session = strict_session(softmax_model(op_type, "float32", None, -1))
    for shape in [(4, 3), (2, 3, 2), (2, 1, 2, 1, 3, 2, 5, 2), (0, 3), (), (1, 9000), (4, 3)]:
        x = data.random("float32", shape, seed=5, low=-3, high=3)
        wanted = REFERENCES[op_type](x.reshape(-1, shape[-1] if shape else 1), 1).reshape(shape)
        assert_close(session.run({"x": x})[0], wanted)
