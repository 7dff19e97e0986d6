"""What is compared: a model, its inputs, and when two results count as equal."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hipep.differences import Array, difference

Feeds = dict[str, Array]
Differences = Callable[[Feeds, Sequence[Array], Sequence[Array]], str]

TOLERANCES = {"float16": 1e-2, "float32": 1e-3, "float64": 1e-6}


def close(
    feeds: Feeds,
    expected: Sequence[Array],
    found: Sequence[Array],
    tolerances: Mapping[str, float] | None = None,
) -> str:
    """Compare floats within the tolerance of their type, everything else exactly."""
    for number, (left, right) in enumerate(zip(expected, found, strict=True)):
        if text := difference(left, right, tolerances or TOLERANCES):
            return f"output {number}: {text}"
    return ""


@dataclass(frozen=True)
class Case:
    """One model on inputs of one shape.

    Attributes
    ----------
    name : str
        What the tables call it.
    model : str or bytes
        A path, or the model itself.
    make_feeds : callable
        Makes random inputs with a generator.
    strict : bool
        Whether every node has to run on the device.
    weight_bytes : int
        What is read beside the inputs.
    differences : callable
        Takes feeds, expected and found outputs; returns what differs, in words, or nothing.
    torch : callable, optional
        Takes the module and a tensor for each input; returns the outputs.
    """

    name: str
    model: str | bytes
    make_feeds: Callable[[np.random.Generator], Feeds]
    strict: bool = True
    weight_bytes: int = 0
    differences: Differences = close
    torch: Callable[..., Sequence[Any]] | None = None

    def bytes_moved(self, feeds: Feeds, outputs: Sequence[Array]) -> int:
        """Return the least that has to be read and written: inputs, weights and outputs."""
        return self.weight_bytes + sum(array.nbytes for array in [*feeds.values(), *outputs])
