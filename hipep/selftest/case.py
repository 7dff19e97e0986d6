"""One small model of the self-test, its inputs, and what it should give."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hipep.differences import Array

Feeds = dict[str, Array]
Reference = Callable[..., Sequence[Any]]


@dataclass(frozen=True)
class SelfCase:
    """A model of one operator.

    Attributes
    ----------
    op_type : str
    opset : int
    dtype : str
        Of the first input.
    detail : str
        What else tells it apart.
    model : bytes
    feeds : sequence of dict
        Inputs of several shapes.
    reference : callable, optional
        Takes the inputs, returns the outputs; None where the host alone is the reference.
    """

    op_type: str
    opset: int
    dtype: str
    detail: str
    model: bytes
    feeds: Sequence[Feeds]
    reference: Reference | None = None

    def __str__(self) -> str:
        """Name the operator, its definition and the type."""
        return " ".join(filter(None, (f"{self.op_type}-{self.opset}", self.dtype, self.detail)))


def values(
    dtype: str, shape: Sequence[int], seed: int, *, special: bool = False, low: int = -9
) -> Array:
    """Return numbers of few distinct values, so that there are ties.

    Parameters
    ----------
    dtype : str
    shape : sequence of int
    seed : int
    special : bool
        Begin with NaN, infinities and zeros of both signs where the type has them.
    low : int
        The least number; unsigned types begin at 0.
    """
    generator = np.random.default_rng(seed)
    if dtype == "bool":
        return np.asarray(generator.integers(0, 2, shape)).astype(bool)
    numpy_dtype = numpy_dtype_of(dtype)
    if numpy_dtype.kind in "iu":
        least = max(low, 0) if numpy_dtype.kind == "u" else low
        return np.asarray(generator.integers(least, 10, shape)).astype(numpy_dtype)
    # Quarters are exact in every float type.
    array = np.asarray(generator.integers(4 * low, 40, shape) / 4).astype(numpy_dtype)
    if special:
        first = np.array([np.nan, -np.inf, np.inf, -0.0, 0.0]).astype(numpy_dtype)[: array.size]
        array.reshape(-1)[: first.size] = first
    return array


def numpy_dtype_of(name: str) -> np.dtype[Any]:
    """Return the numpy type of a name; that of bfloat16 needs ml_dtypes."""
    if name != "bfloat16":
        return np.dtype(name)
    import ml_dtypes

    return np.dtype(ml_dtypes.bfloat16)
