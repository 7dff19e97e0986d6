"""Models of a few nodes, for measurements and for the self-test."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hipep.errors import HipepError
from hipep.feeds import NUMPY_TYPES

_NAMES = {name: onnx_name for onnx_name, name in NUMPY_TYPES.items()}
# What ONNX Runtime 1.24 reads.
_IR_VERSION = 10


def import_onnx() -> Any:
    """Import onnx.

    Returns
    -------
    module

    Raises
    ------
    HipepError
        If it is missing; the message has the line that installs it.
    """
    try:
        return importlib.import_module("onnx")
    except ImportError as error:
        raise HipepError(
            f"making models needs onnx ({error}); install it: pip install 'hipep[cli]'"
        ) from error


def node_model(
    op_type: str,
    inputs: Mapping[str, tuple[str, Sequence[Any] | None]],
    outputs: Mapping[str, str],
    *,
    constants: Mapping[str, np.ndarray[Any, Any]] | None = None,
    opset: int = 21,
    **attributes: Any,
) -> bytes:
    """Make a model of one node.

    Parameters
    ----------
    op_type : str
        The operator, of ONNX's own domain.
    inputs : mapping
        The numpy name of the type, and the shape, by name of the input.
    outputs : mapping
        The numpy name of the type by name of the output; shapes are left open.
    constants : mapping, optional
        Further inputs of the node, which are weights of the model.
    opset : int
    **attributes
        Of the node.

    Returns
    -------
    bytes
    """
    node = import_onnx().helper.make_node(
        op_type, [*inputs, *(constants or {})], list(outputs), name=op_type, **attributes
    )
    return graph_model([node], inputs, outputs, constants=constants, opset=opset)


def graph_model(
    nodes: Sequence[Any],
    inputs: Mapping[str, tuple[str, Sequence[Any] | None]],
    outputs: Mapping[str, str],
    *,
    constants: Mapping[str, np.ndarray[Any, Any]] | None = None,
    opset: int = 21,
) -> bytes:
    """Make a model of given nodes; see `node_model`."""
    onnx = import_onnx()
    helper = onnx.helper
    graph = helper.make_graph(
        list(nodes),
        "graph",
        [_value_info(onnx, name, *typed) for name, typed in inputs.items()],
        [_value_info(onnx, name, dtype, None) for name, dtype in outputs.items()],
        [onnx.numpy_helper.from_array(array, name) for name, array in (constants or {}).items()],
    )
    opsets = [helper.make_opsetid("", opset)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=_IR_VERSION)
    return bytes(model.SerializeToString())


def _value_info(onnx: Any, name: str, dtype: str, shape: Sequence[Any] | None) -> Any:
    element_type = onnx.TensorProto.DataType.Value(_NAMES[dtype].upper())
    return onnx.helper.make_tensor_value_info(name, element_type, shape)
