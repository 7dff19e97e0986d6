"""The node cases of the onnx package whose operators are all in the lowering table."""

import warnings
from collections import Counter

import numpy as np
import onnx
import pytest
from helpers.compare import assert_close
from onnx.backend.test.loader import load_model_tests
from onnx.numpy_helper import to_array

import hipep.ops  # noqa: F401
from hipep._lowering import table

LEAST_CASES = 200
# Cases that onnxruntime itself does not load, each with its reason.
NOT_LOADED = {}


def since_version(node, model):
    versions = {opset.domain: opset.version for opset in model.opset_import}
    try:
        schema = onnx.defs.get_schema(node.op_type, versions[node.domain], node.domain)
    except onnx.defs.SchemaError:
        return 0
    return schema.since_version


def unclaimed(model):
    """The operator of the first node that no row handles, with its types if those are why."""
    types = {value.name: type_name(value.type) for value in model.graph.input}
    for node in model.graph.node:
        if node.op_type == "Constant":
            continue
        if any(a.name == "training_mode" and a.i for a in node.attribute):
            return f"{node.op_type} in training mode"
        since = since_version(node, model)
        dtypes = [
            row["dtypes"]
            for row in TABLE
            if (row["domain"], row["op_type"]) == (node.domain, node.op_type)
            and row["since"] <= since <= row["until"]
        ]
        if not dtypes:
            return node.op_type
        needed = [types[name] for name in node.input[:1] if name in types]
        if node.op_type == "Cast":
            needed += [dtype_name(a.i) for a in node.attribute if a.name == "to"]
        if not set(needed) <= set(dtypes[0]):
            return f"{node.op_type} of {' to '.join(needed)}"
    return None


def type_name(type_proto):
    kind = type_proto.WhichOneof("value")
    return dtype_name(type_proto.tensor_type.elem_type) if kind == "tensor_type" else kind


def dtype_name(element_type):
    name = onnx.TensorProto.DataType.Name(element_type)
    return {"FLOAT": "float32", "DOUBLE": "float64"}.get(name, name.lower())


TABLE = table()
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    ALL_CASES = load_model_tests(kind="node")
REFUSED = Counter(name for case in ALL_CASES if (name := unclaimed(case.model)))
CASES = {case.name: case for case in ALL_CASES if not unclaimed(case.model)}


def as_array(value):
    return to_array(value) if isinstance(value, onnx.TensorProto) else np.asarray(value)


@pytest.mark.parametrize("name", CASES)
def test_node_case(run_strict, name):
    case = CASES[name]
    if name in NOT_LOADED:
        pytest.skip(NOT_LOADED[name])
    for inputs, expected in case.data_sets:
        names = [value.name for value in case.model.graph.input]
        feeds = {n: as_array(value) for n, value in zip(names, inputs, strict=False)}
        actual = run_strict(case.model.SerializeToString(), feeds)
        assert len(actual) == len(expected)
        for got, wanted in zip(actual, map(as_array, expected), strict=True):
            assert_close(got, wanted)


def test_enough_cases_run(case_counts):
    unloaded = len(NOT_LOADED)
    most = ", ".join(f"{op} {count}" for op, count in REFUSED.most_common(5))
    case_counts["cases"] = (
        f"node cases of onnx {onnx.__version__}: {len(CASES) - unloaded} of {len(ALL_CASES)} run; "
        f"{unloaded} not loaded by onnxruntime; {sum(REFUSED.values())} of {len(REFUSED)} other "
        f"operators or types ({most}, ...)"
    )
    assert NOT_LOADED.keys() <= CASES.keys()
    assert len(CASES) - unloaded >= LEAST_CASES
