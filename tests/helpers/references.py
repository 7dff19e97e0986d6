"""What ONNX says that operators compute, in numpy."""

import numpy as np
from helpers.models import dtype_of, is_float


def ordered(x):
    """The same values in a type that numpy sorts exactly."""
    return x.astype(np.float32) if x.dtype.itemsize == 2 and is_float(x.dtype) else x


def top_k(x, k, axis=-1, largest=1):
    """NaN ranks above all numbers, -0.0 ties with +0.0, ties go to the lower index."""
    _, ranks = np.unique(ordered(x), return_inverse=True)
    ranks = ranks.reshape(x.shape).astype(np.int64)
    order = np.argsort(-ranks if largest else ranks, axis=axis, kind="stable")
    indices = np.take(order, np.arange(k), axis=axis)
    return np.take_along_axis(x, indices, axis=axis), indices


def relu(x):
    return np.where(x < 0, np.zeros((), x.dtype), x)


def neg(x):
    return -x


def absolute(x):
    return np.abs(x)


def add(a, b):
    return a + b


def sub(a, b):
    return a - b


def mul(a, b):
    return a * b


def div(a, b):
    """Integers truncate toward zero; what is divided by zero gives 0."""
    if is_float(a.dtype):
        return a / b
    safe = np.where(b == 0, np.ones((), b.dtype), b)
    quotient = a // safe
    inexact = (quotient * safe != a) & ((a < 0) != (b < 0))
    return np.where(b == 0, np.zeros((), a.dtype), quotient + inexact.astype(a.dtype))


def minimum(*arrays):
    """NaN if an operand is NaN."""
    return _fold(np.minimum, arrays)


def maximum(*arrays):
    """NaN if an operand is NaN."""
    return _fold(np.maximum, arrays)


def _fold(function, arrays):
    result = arrays[0]
    for array in arrays[1:]:
        result = function(result, array)
    return result


def cast(x, to):
    """Float to integer truncates and saturates, NaN gives 0; integers wrap; floats round once."""
    to = dtype_of(to)
    if to == np.bool_:
        return x != 0
    if not is_float(x.dtype) or is_float(to):
        return _to_float(x, to) if is_float(to) else x.astype(to)
    wide = x.astype(np.float64)
    limits = np.iinfo(to)
    above, below = wide >= float(limits.max) + (limits.max < 2**53), wide < float(limits.min)
    inside = np.where(above | below | np.isnan(wide), 0.0, np.trunc(wide))
    inside = inside.astype(np.uint64 if to == np.uint64 else np.int64).astype(to)
    return np.where(above, limits.max, np.where(below, limits.min, inside)).astype(to)


def _to_float(x, to):
    with np.errstate(all="ignore"):
        return (_odd_float32(x) if to == dtype_of("bfloat16") else x).astype(to)


def _odd_float32(x):
    """To float32, toward zero and with an odd last bit where inexact: rounding again is right."""
    exact = x.astype(np.longdouble)
    near = exact.astype(np.float32)
    raw = near.view(np.uint32)
    toward_zero = raw - (np.abs(near.astype(np.longdouble)) > np.abs(exact)).astype(np.uint32)
    inexact = (near.astype(np.longdouble) != exact) & ~np.isnan(exact)
    return np.where(inexact, toward_zero | np.uint32(1), raw).view(np.float32)


def arg_extreme(x, axis, find_max, keepdims=1, select_last=0):
    """The first extreme, or the last; NaN is more extreme than all numbers."""
    function = np.argmax if find_max else np.argmin
    values = ordered(x)
    if select_last:
        index = values.shape[axis] - 1 - function(np.flip(values, axis), axis=axis)
    else:
        index = function(values, axis=axis)
    index = np.asarray(index, np.int64)
    return np.expand_dims(index, axis) if keepdims else index


def reduce_extreme(x, axes, find_max, keepdims=1):
    """Nothing reduced gives the least (or greatest) value of the type."""
    if x.dtype == np.bool_:
        function = np.any if find_max else np.all
        return np.asarray(function(x, axis=axes, keepdims=bool(keepdims)))
    if is_float(x.dtype):
        initial = -np.inf if find_max else np.inf
    else:
        initial = np.iinfo(x.dtype).min if find_max else np.iinfo(x.dtype).max
    function = np.max if find_max else np.min
    with np.errstate(invalid="ignore"):
        result = function(ordered(x), axis=axes, keepdims=bool(keepdims), initial=initial)
        return np.asarray(result).astype(x.dtype)


def reduce_sum(x, axes, keepdims=1):
    """Floats are added in float64 and rounded once; integers wrap."""
    accumulator = np.float64 if is_float(x.dtype) else x.dtype
    total = np.sum(x.astype(accumulator), axis=axes, keepdims=bool(keepdims), dtype=accumulator)
    return np.asarray(total).astype(x.dtype)
