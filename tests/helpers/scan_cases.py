"""Models, references and checks that the tests of CumSum and CumProd share."""

import numpy as np
from helpers.compare import assert_close
from helpers.models import FLOATS, is_float, node_model

TYPES = (*FLOATS, "int32", "int64", "uint32", "uint64")
AXES = [((5, 3, 33), 0), ((5, 3, 33), 1), ((5, 3, 33), -1), ((2, 300, 5), 1), ((3, 1100), 1)]


def scan_model(op_type, dtype, shape, axis, opset=26, **attributes):
    constants = {"axis": np.array(axis, np.int64)}
    return node_model(op_type, {"x": (dtype, shape)}, ("y",), constants, opset, **attributes)


def expected(op_type, x, axis, exclusive=0, reverse=0):
    """Floats in float64, rounded once; integers wrap."""
    function = np.cumsum if op_type == "CumSum" else np.cumprod
    wide = x.astype(np.float64) if is_float(x.dtype) else x
    wide = np.flip(wide, axis) if reverse else wide
    with np.errstate(all="ignore"):
        result = function(wide, axis=axis, dtype=wide.dtype)
        if exclusive:
            neutral = np.full_like(np.take(wide, [0], axis), op_type == "CumProd")
            kept = np.take(result, range(x.shape[axis] - 1), axis)
            result = np.concatenate([neutral, kept], axis)
        return (np.flip(result, axis) if reverse else result).astype(x.dtype)


def check(run_strict, op_type, x, axis, exclusive=0, reverse=0, opset=26):
    model = scan_model(
        op_type,
        x.dtype.name,
        [f"d{i}" for i in range(x.ndim)],
        axis,
        opset,
        exclusive=exclusive,
        reverse=reverse,
    )
    wanted = expected(op_type, x, axis, exclusive, reverse)
    assert_close(run_strict(model, {"x": x})[0], wanted)
