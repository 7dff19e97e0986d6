"""TopK: cases, and when two results are equal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hipep.bench.case import Case, Feeds
from hipep.bench.parameters import Parameters, written
from hipep.differences import Array, first_difference
from hipep.errors import OptionError
from hipep.feeds import random_array
from hipep.small_models import graph_model, import_onnx

_OPSET = 21


def top_k_cases(parameters: Parameters) -> list[Case]:
    """Return a case for each shape and K."""
    for k in parameters.counts:
        for shape in parameters.shapes:
            if k > shape[-1]:
                raise OptionError(
                    f"--k: K = {k} is more than the last extent of {written(shape)}; "
                    "lower it, or leave that width out"
                )
    return [
        top_k_case(shape, k, parameters.dtype)
        for k in parameters.counts
        for shape in parameters.shapes
    ]


def top_k_case(shape: tuple[int, ...], k: int, dtype: str) -> Case:
    """Return the case of one shape and a constant K."""

    def in_torch(torch: Any, x: Any) -> Sequence[Any]:
        return tuple(torch.topk(x, k))

    return Case(
        f"top_k {dtype} {written(shape)}, K={k}",
        top_k_model(shape, k, dtype),
        lambda generator: {"x": top_k_input(shape, dtype, generator)},
        differences=top_k_differences,
        torch=in_torch,
    )


def top_k_model(
    shape: Sequence[int], k: int | None, dtype: str, *, computed: bool = False
) -> bytes:
    """Return a model of one TopK over the last axis.

    Parameters
    ----------
    shape : sequence of int
    k : int or None
        A constant, or None to make it an input.
    dtype : str
    computed : bool
        Add one to that input on the device first.
    """
    inputs: dict[str, tuple[str, Sequence[Any] | None]] = {"x": (dtype, shape)}
    constants, nodes, source = {}, [], "k"
    make_node = import_onnx().helper.make_node
    if k is None:
        inputs["k"] = ("int64", [1])
    else:
        constants["k"] = np.array([k], np.int64)
    if computed:
        constants["one"] = np.array([1], np.int64)
        nodes, source = [make_node("Add", ["k", "one"], ["sum"], name="Add")], "sum"
    nodes.append(make_node("TopK", ["x", source], ["values", "indices"], name="TopK"))
    outputs = {"values": dtype, "indices": "int64"}
    return graph_model(nodes, inputs, outputs, constants=constants, opset=_OPSET)


def top_k_input(shape: Sequence[int], dtype: str, generator: np.random.Generator) -> Array:
    """Return random values over the range of integers, or normal ones."""
    if np.dtype(dtype).kind not in "iu":
        return random_array(dtype, shape, generator)
    limits = np.iinfo(dtype)
    return generator.integers(limits.min, limits.max, shape, dtype, endpoint=True)


def top_k_differences(feeds: Feeds, expected: Sequence[Array], found: Sequence[Array]) -> str:
    """Compare values exactly, and indices as far as ties allow."""
    x, values, indices = feeds["x"], found[0], found[1]
    if values.shape != expected[0].shape or indices.shape != values.shape:
        return f"shapes are {values.shape} and {indices.shape}, not {expected[0].shape}"
    if text := first_difference(expected[0], values, np.asarray(expected[0] == values)):
        return f"values: {text}"
    if ((indices < 0) | (indices >= x.shape[-1])).any():
        return f"indices: from {indices.min()} to {indices.max()}, not within {x.shape[-1]}"
    picked = np.take_along_axis(x, indices, -1)
    if text := first_difference(values, picked, np.asarray(values == picked)):
        return f"values at the indices: {text}"
    ordered = np.sort(indices, -1)
    return "" if (ordered[..., 1:] != ordered[..., :-1]).all() else "indices: one comes twice"
