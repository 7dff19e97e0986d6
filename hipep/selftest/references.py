"""What operators compute, in numpy, where that is simple."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hipep.differences import Array

UNARY: dict[str, Callable[[Array], Any]] = {
    "Abs": np.abs,
    "Identity": lambda x: x,
    "Neg": np.negative,
    "Relu": lambda x: np.where(x < 0, np.zeros((), x.dtype), x),
}
BINARY: dict[str, Callable[[Array, Array], Any]] = {
    "Add": np.add,
    "Div": np.divide,
    "Max": np.maximum,
    "Min": np.minimum,
    "Mul": np.multiply,
    "Sub": np.subtract,
}


def reduction(op_type: str, x: Array) -> Array:
    """Reduce the last axis and keep it."""
    if op_type == "ReduceSum":
        wide = np.float64 if is_float(x) else x.dtype
        return np.sum(x, axis=-1, keepdims=True, dtype=wide).astype(x.dtype)
    function = np.max if op_type == "ReduceMax" else np.min
    return np.asarray(function(x, axis=-1, keepdims=True))


def arg_extreme(op_type: str, x: Array) -> Array:
    """Return the first extreme of the last axis, which NaN is."""
    function = np.argmax if op_type == "ArgMax" else np.argmin
    return np.expand_dims(function(ordered(x), axis=-1), -1).astype(np.int64)


def top_k(x: Array, k: int, axis: int) -> tuple[Array, Array]:
    """Rank NaN above all numbers; ties go to the lower index."""
    _, ranks = np.unique(ordered(x), return_inverse=True)
    order = np.argsort(-ranks.reshape(x.shape).astype(np.int64), axis=axis, kind="stable")
    indices = np.take(order, np.arange(k), axis=axis)
    return np.take_along_axis(x, indices, axis=axis), indices


def ordered(x: Array) -> Array:
    """Return the same values in a type that numpy sorts."""
    return x.astype(np.float32) if is_float(x) and x.dtype.itemsize == 2 else x


def is_float(x: Array) -> bool:
    """Whether the type is one of floats, bfloat16 included."""
    return x.dtype.kind not in "biu"
