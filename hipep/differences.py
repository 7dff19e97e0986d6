"""Where two results differ first, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def difference(expected: Array, found: Array, tolerances: Mapping[str, float]) -> str:
    """Compare two tensors: types whose names have a tolerance within it, others exactly.

    Parameters
    ----------
    expected, found : numpy.ndarray
    tolerances : mapping
        By name of the type: relative to a value, and to the mean magnitude of its tensor.

    Returns
    -------
    str
        What differs, or an empty text.
    """
    if expected.dtype != found.dtype or expected.shape != found.shape:
        return (
            f"{found.dtype}{list(found.shape)} in place of {expected.dtype}{list(expected.shape)}"
        )
    return first_difference(expected, found, _equal(expected, found, tolerances))


def first_difference(expected: Array, found: Array, equal: Array) -> str:
    """Name the first element that is not equal, or nothing."""
    if equal.all():
        return ""
    place = np.unravel_index(int(np.argmin(equal)), equal.shape)
    return (
        f"element {[int(index) for index in place]} is {found[place]} in place of "
        f"{expected[place]} ({int((~equal).sum())} of {equal.size} differ)"
    )


def _equal(expected: Array, found: Array, tolerances: Mapping[str, float]) -> Array:
    if expected.dtype.kind in "biuOU":
        return np.asarray(expected == found)
    left, right = expected.astype(np.float64), found.astype(np.float64)
    tolerance = tolerances.get(expected.dtype.name, 0.0)
    finite = np.abs(left[np.isfinite(left)])
    absolute = tolerance * float(finite.mean()) if finite.size else 0.0
    return np.isclose(right, left, rtol=tolerance, atol=absolute, equal_nan=True)
