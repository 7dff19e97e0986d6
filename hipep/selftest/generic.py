"""A case for an operator without a builder, from its schema: the host is its only reference."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hipep.feeds import numpy_type
from hipep.selftest.builders import SHAPES
from hipep.selftest.case import SelfCase, values
from hipep.small_models import import_onnx, node_model


def by_schema(op_type: str, opset: int, dtype: str) -> Iterator[SelfCase]:
    """Make a case of one or two inputs of the same type, if the operator needs no more."""
    defs = import_onnx().defs
    if not defs.has(op_type):
        return
    schema = defs.get_schema(op_type, opset)
    inputs = list(schema.inputs)[: schema.min_input]
    result = _output_type(schema, dtype)
    if (
        len(inputs) not in (1, 2)
        or len({entry.type_str for entry in inputs}) > 1
        or any(attribute.required for attribute in schema.attributes.values())
        or result is None
    ):
        return
    model = node_model(
        op_type,
        {f"x{number}": (dtype, [None] * (2 - number)) for number in range(len(inputs))},
        {"y": result},
        opset=opset,
    )
    feeds = [
        {f"x{n}": values(dtype, shape[n:], n + 1, low=1) for n in range(len(inputs))}
        for shape in SHAPES
    ]
    yield SelfCase(op_type, opset, dtype, "", model, feeds)


def _output_type(schema: Any, dtype: str) -> str | None:
    if schema.min_output > 1:
        return None
    written = schema.outputs[0].type_str
    if written == schema.inputs[0].type_str:
        return dtype
    allowed = {entry.type_param_str: entry.allowed_type_strs for entry in schema.type_constraints}
    types = list(allowed.get(written, [written]))
    return numpy_type(types[0]) if len(types) == 1 else None
