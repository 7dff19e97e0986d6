"""Operators that are bound by memory: how near they come to a copy."""

from __future__ import annotations

from typing import Any

import numpy as np

from hipep.bench.case import Case
from hipep.bench.parameters import Parameters, written
from hipep.feeds import random_array
from hipep.small_models import node_model


def add_cases(parameters: Parameters) -> list[Case]:
    """Return the sum of two tensors of each shape."""
    return [_add_case(shape, parameters.dtype) for shape in parameters.shapes]


def reduce_sum_cases(parameters: Parameters) -> list[Case]:
    """Return the sums over the last axis of each shape."""
    return [_reduce_sum_case(shape, parameters.dtype) for shape in parameters.shapes]


def _add_case(shape: tuple[int, ...], dtype: str) -> Case:
    names = ("a", "b")
    return Case(
        f"add {dtype} {written(shape)}",
        node_model("Add", {name: (dtype, shape) for name in names}, {"y": dtype}),
        lambda generator: {name: random_array(dtype, shape, generator) for name in names},
        torch=lambda torch, a, b: [torch.add(a, b)],
    )


def _reduce_sum_case(shape: tuple[int, ...], dtype: str) -> Case:
    def in_torch(torch: Any, x: Any) -> list[Any]:
        return [torch.sum(x, -1, keepdim=True, dtype=x.dtype)]

    return Case(
        f"reduce_sum {dtype} {written(shape)}",
        node_model(
            "ReduceSum",
            {"x": (dtype, shape)},
            {"y": dtype},
            constants={"axes": np.array([-1], np.int64)},
        ),
        lambda generator: {"x": random_array(dtype, shape, generator)},
        torch=in_torch,
    )
