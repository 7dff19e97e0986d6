"""Arrays for tests: random values of every type, and the values that break things."""

import numpy as np
from helpers.models import dtype_of, is_float


def random(dtype, shape, seed=0, low=-100, high=100):
    """Random values; those of unsigned types begin at 0."""
    generator = np.random.default_rng(seed)
    dtype = dtype_of(dtype)
    if dtype == np.bool_:
        return np.asarray(generator.integers(0, 2, shape)).astype(bool)
    if is_float(dtype):
        return np.asarray(generator.uniform(low, high, shape)).astype(dtype)
    least = 0 if dtype.kind == "u" else low
    return np.asarray(generator.integers(least, high, shape)).astype(dtype)


def any_bits(dtype, shape, seed=0):
    """Values over the whole range of a type: all exponents, NaN, infinities, all integers."""
    dtype = dtype_of(dtype)
    raw = np.random.default_rng(seed).bytes(int(np.prod(shape)) * dtype.itemsize)
    if dtype == np.bool_:
        return (np.frombuffer(raw, np.uint8) & 1).astype(bool).reshape(shape)
    return np.frombuffer(raw, dtype).reshape(shape)


def extremes(dtype):
    """NaN of both signs, infinities, zeros, subnormals and limits; of integers the limits."""
    dtype = dtype_of(dtype)
    if dtype == np.bool_:
        return np.array([True, False])
    if not is_float(dtype):
        limits = np.iinfo(dtype)
        near = {limits.min, limits.min + 1, 0, 1, 2, limits.max - 1, limits.max}
        return np.array(sorted(near | ({-1} if dtype.kind == "i" else set())), dtype)
    positive = np.array([np.nan, np.inf, 0.0, 1.0, 0.5, 3.0], dtype)
    unsigned = np.dtype(f"u{dtype.itemsize}")
    least, most = np.array([1], unsigned), positive[1:2].view(unsigned) - 1
    positive = np.concatenate([positive, least.view(dtype), most.view(dtype)])
    sign = np.array(1 << (dtype.itemsize * 8 - 1), unsigned)
    return np.concatenate([positive, (positive.view(unsigned) | sign).view(dtype)])
