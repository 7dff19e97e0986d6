"""The node cases of the onnx package: attributes of operators, with ONNX's own results."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from hipep.differences import Array
from hipep.selftest.case import SelfCase
from hipep.small_models import import_onnx


def node_cases(operators: Collection[tuple[str, str]]) -> Iterator[SelfCase]:
    """Make a case of each whose nodes are all of the given operators.

    Parameters
    ----------
    operators : collection of tuple
        Domain and operator.

    Yields
    ------
    SelfCase
    """
    onnx = import_onnx()
    loader = importlib.import_module("onnx.backend.test.loader")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = loader.load_model_tests(kind="node")
    for case in found:
        model = _model(onnx, case)
        nodes = [node for node in model.graph.node if node.op_type != "Constant"]
        if not nodes or any((node.domain, node.op_type) not in operators for node in nodes):
            continue
        names = [value.name for value in model.graph.input]
        for inputs, outputs in _data_sets(onnx, case):
            arrays = [_array(onnx, value) for value in inputs]
            expected = [_array(onnx, value) for value in outputs]
            if any(array is None for array in [*arrays, *expected]):
                continue
            feeds = {n: array for n, array in zip(names, arrays, strict=False) if array is not None}
            yield SelfCase(
                nodes[0].op_type,
                max((entry.version for entry in model.opset_import), default=0),
                "",
                case.name,
                model.SerializeToString(),
                [feeds],
                lambda expected=expected, **_: expected,
            )


def _model(onnx: Any, case: Any) -> Any:
    # Before onnx 1.23 the cases were files.
    return case.model or onnx.load(str(Path(case.model_dir) / "model.onnx"))


def _data_sets(onnx: Any, case: Any) -> Iterator[tuple[list[Any], list[Any]]]:
    if case.data_sets is not None:
        yield from case.data_sets
        return
    for folder in sorted(Path(case.model_dir).glob("test_data_set_*")):
        yield _files(onnx, folder, "input"), _files(onnx, folder, "output")


def _files(onnx: Any, folder: Path, kind: str) -> list[Any]:
    paths = [folder / f"{kind}_{n}.pb" for n in range(len(list(folder.glob(f"{kind}_*.pb"))))]
    return [onnx.TensorProto.FromString(path.read_bytes()) for path in paths]


def _array(onnx: Any, value: Any) -> Array | None:
    """Return a tensor as an array, and None for what is no tensor."""
    if isinstance(value, onnx.TensorProto):
        return np.asarray(onnx.numpy_helper.to_array(value))
    return np.asarray(value) if isinstance(value, (np.ndarray, np.generic)) else None
