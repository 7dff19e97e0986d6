"""Comparisons that name the first difference."""

import numpy as np
from helpers.models import is_float
from helpers.references import ordered, top_k

TOLERANCE = {"float16": 2e-3, "bfloat16": 1.6e-2, "float32": 1e-5, "float64": 1e-12}


def bits(array):
    """The bytes of an array, with its type and shape."""
    return array.dtype, array.shape, np.ascontiguousarray(array).tobytes()


def assert_exact(actual, expected, signed_zeros=True):
    """The same type, shape and values; NaN of any payload equals NaN."""
    expected = np.asarray(expected)
    assert actual.dtype == expected.dtype
    assert actual.shape == expected.shape
    np.testing.assert_array_equal(ordered(actual), ordered(expected))
    if signed_zeros and is_float(actual.dtype):
        real = ~np.isnan(ordered(expected))
        signs = [np.signbit(ordered(array))[real] for array in (actual, expected)]
        np.testing.assert_array_equal(*signs)


def assert_close(actual, expected, scale=1.0):
    """Floats within the tolerance of their type, everything else exactly."""
    expected = np.asarray(expected)
    if not is_float(expected.dtype):
        assert_exact(actual, expected)
        return
    assert actual.dtype == expected.dtype
    assert actual.shape == expected.shape
    tolerance = TOLERANCE[expected.dtype.name]
    np.testing.assert_allclose(
        actual.astype(np.float64), expected.astype(np.float64), tolerance, tolerance * scale
    )


def assert_top_k(actual, x, k, axis=-1, largest=1, is_sorted=1):
    """Values (bits) and indices of TopK; without sorting, the same pairs in any order."""
    values, indices = actual
    expected_values, expected_indices = top_k(x, k, axis, largest)
    assert indices.dtype == np.int64
    assert indices.shape == expected_indices.shape
    if not is_sorted:
        order = np.argsort(indices, axis=axis)
        expected_order = np.argsort(expected_indices, axis=axis)
        values, indices = (np.take_along_axis(array, order, axis) for array in (values, indices))
        expected_values, expected_indices = (
            np.take_along_axis(array, expected_order, axis)
            for array in (expected_values, expected_indices)
        )
    np.testing.assert_array_equal(indices, expected_indices)
    assert bits(values) == bits(expected_values)
