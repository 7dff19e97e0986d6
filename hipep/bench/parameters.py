"""Shapes, widths, K and type of the operators that are measured, from the command line."""

from __future__ import annotations

import math
from dataclasses import dataclass

from hipep.errors import OptionError
from hipep.feeds import NUMPY_TYPES

_MOST_BYTES = 1 << 33


@dataclass(frozen=True)
class Parameters:
    """What an operator is measured on.

    Attributes
    ----------
    shapes : tuple of tuple of int
        Shapes of the input.
    counts : tuple of int
        K of TopK.
    dtype : str
        Numpy's name of the type.
    """

    shapes: tuple[tuple[int, ...], ...]
    counts: tuple[int, ...]
    dtype: str

    @classmethod
    def parse(cls, shape: str, widths: str | None, counts: str, dtype: str) -> Parameters:
        """Read the words of the command line."""
        extents = _numbers(shape, "x", "--shape", "1x4096")
        shapes = [extents]
        if widths is not None:
            numbers = _numbers(widths, ",", "--widths", "64,4096")
            shapes = [(*extents[:-1], width) for width in numbers]
        name = NUMPY_TYPES.get(dtype, dtype if dtype in NUMPY_TYPES.values() else None)
        if name is None or name in ("bfloat16", "bool"):
            usable = [known for known in NUMPY_TYPES if known not in ("bfloat16", "bool")]
            raise OptionError(f"--dtype: {dtype!r} is none of {', '.join(usable)}")
        if max(map(math.prod, shapes)) * 8 > _MOST_BYTES:
            raise OptionError(f"--shape: {shape} has more than {_MOST_BYTES // 8} elements")
        return cls(tuple(shapes), _numbers(counts, ",", "--k", "1,50"), name)


def written(shape: tuple[int, ...]) -> str:
    """Write a shape as the command line has it."""
    return "x".join(map(str, shape))


def _numbers(text: str, separator: str, option: str, example: str) -> tuple[int, ...]:
    words = text.split(separator)
    if not all(word.isdigit() and int(word) > 0 for word in words):
        raise OptionError(f"{option} takes numbers above 0 such as {example}, not {text!r}")
    return tuple(map(int, words))
