"""Builders of small ONNX models."""

import ml_dtypes
import numpy as np
from onnx import ModelProto, helper, numpy_helper

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
HALVES = ("float16", "bfloat16")
FLOATS = ("float16", "bfloat16", "float32", "float64")
SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
INTEGERS = SIGNED + UNSIGNED
NUMBERS = FLOATS + INTEGERS
PLAIN_TYPES = (*NUMBERS, "bool")


def dtype_of(name):
    """The numpy type of a name; bfloat16 is that of ml_dtypes."""
    return BFLOAT16 if name == "bfloat16" else np.dtype(name)


def is_float(dtype):
    dtype = dtype_of(dtype)
    return dtype == BFLOAT16 or dtype.kind == "f"


def value_info(name, dtype, shape=None):
    """A graph input or output; a shape of None leaves the rank unknown."""
    element_type = helper.np_dtype_to_tensor_dtype(dtype_of(dtype))
    return helper.make_tensor_value_info(name, element_type, shape)


def graph_model(nodes, inputs, outputs, constants=None, opset=24):
    """A serialised model.

    ``inputs`` maps names to (dtype, shape); ``outputs`` is a list of names, or of names with dtype
    and shape where the graph is to declare them; ``constants`` maps names to arrays.
    """
    made_inputs = [value_info(name, *typed) for name, typed in inputs.items()]
    made_outputs = [
        helper.make_empty_tensor_value_info(output)
        if isinstance(output, str)
        else value_info(*output)
        for output in outputs
    ]
    initializers = [
        numpy_helper.from_array(np.asarray(array), name)
        for name, array in (constants or {}).items()
    ]
    graph = helper.make_graph(nodes, "graph", made_inputs, made_outputs, initializers)
    others = {node.domain for node in nodes} - {""}
    opsets = [helper.make_opsetid("", opset), *(helper.make_opsetid(name, 1) for name in others)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10).SerializeToString()


def node_model(op_type, inputs, outputs=("y",), constants=None, opset=24, **attributes):
    """A model of one node, named "node", whose inputs are the inputs and then the constants."""
    names = [output if isinstance(output, str) else output[0] for output in outputs]
    node = helper.make_node(
        op_type, [*inputs, *(constants or {})], names, name="node", **attributes
    )
    declared = [output for output in outputs if output != ""]
    return graph_model([node], inputs, declared, constants, opset)


def top_k_model(dtype, shape, k=None, outputs=("values", "indices"), opset=24, **attributes):
    """A TopK node; K is a constant, or an input of the graph if it is None."""
    inputs = {"x": (dtype, shape)}
    if opset < 10:
        return node_model("TopK", inputs, outputs, opset=opset, k=k, **attributes)
    if k is None:
        return node_model(
            "TopK", {**inputs, "k": ("int64", [1])}, outputs, None, opset, **attributes
        )
    constants = {"k": np.array([k], np.int64)}
    return node_model("TopK", inputs, outputs, constants, opset, **attributes)


def keep_output(model, name):
    """The same model with one output; the others of its node are left unused."""
    proto = ModelProto.FromString(model)
    kept = [output for output in proto.graph.output if output.name == name]
    del proto.graph.output[:]
    proto.graph.output.extend(kept)
    return proto.SerializeToString()
