"""What can be read from a model file without running it."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any


@dataclass
class ModelSource:
    """A model: a path or bytes.

    Attributes
    ----------
    path : str or None
        The file, or None for a model given as bytes.
    data : bytes or None
        The bytes, or None for a file.
    """

    path: str | None = None
    data: bytes | None = None

    def __post_init__(self) -> None:
        """Fix the name by which messages call the model."""
        size = len(self.data or b"")
        self._text = f"given as {size} bytes" if self.path is None else repr(self.path)

    @classmethod
    def of(cls, path_or_bytes: Any) -> ModelSource:
        """Make the source from what a session takes."""
        if isinstance(path_or_bytes, (bytes, bytearray, memoryview)):
            return cls(data=bytes(path_or_bytes))
        return cls(path=os.fsdecode(os.fspath(path_or_bytes)))

    def __str__(self) -> str:
        """Name the model in a message."""
        return self._text

    def drop(self) -> None:
        """Let go of the bytes."""
        self.data = None

    def argument(self) -> str | bytes:
        """Return what ONNX Runtime's session takes."""
        return self.path if self.path is not None else self.data or b""

    def sha256(self) -> str:
        """Return the hash of the model, or an empty text if it cannot be read."""
        if self.data is not None:
            return hashlib.sha256(self.data).hexdigest()
        digest = hashlib.sha256()
        try:
            with open(self.path or "", "rb") as file:
                while block := file.read(1 << 20):
                    digest.update(block)
        except OSError:
            return ""
        return digest.hexdigest()

    def load(self) -> Any:
        """Return the model as an ``onnx.ModelProto``, or None where that is not possible."""
        try:
            import onnx

            if self.data is not None:
                return onnx.load_from_string(self.data)
            return onnx.load(self.path or "", load_external_data=False)
        except Exception:
            # Without onnx, or with a file it cannot parse, there is nothing to add.
            return None


def explain_load_failure(source: ModelSource, text: str) -> str:
    """Say in one sentence why a model was not loaded.

    Parameters
    ----------
    source : ModelSource
    text : str
        What ONNX Runtime said.

    Returns
    -------
    str
    """
    path = source.path
    if path is not None and not os.path.exists(path):
        return f"model {source} does not exist (working directory: {os.getcwd()})"
    if path is not None and os.path.isdir(path):
        return f"model {source} is a directory; name the .onnx file in it"
    size = os.path.getsize(path) if path is not None else len(source.data or b"")
    if size == 0:
        return f"model {source} is empty"
    if path is not None and not os.access(path, os.R_OK):
        return f"model {source} cannot be read: permission denied"
    if "Protobuf parsing failed" in text:
        return f"model {source} is not an ONNX model, or is damaged: {text}"
    problems = top_k_problems(source) if "TopK" in text or "axis" in text.lower() else []
    details = "".join(f"; {problem}" for problem in problems)
    return f"model {source} was refused by onnxruntime: {text}{details}"


def walk_nodes(graph: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every node of a graph and of the graphs nested in it, with the path of its graph."""
    for node in graph.node:
        yield path, node
        for attribute in node.attribute:
            bodies = [attribute.g] if attribute.HasField("g") else list(attribute.graphs)
            for body in bodies:
                inner = f"{node.name}/{attribute.name}"
                yield from walk_nodes(body, f"{path}/{inner}" if path else inner)


def vanished_nodes(
    source: ModelSource, placed: Counter[tuple[str, str]], claimed: set[str]
) -> list[tuple[str, str]] | None:
    """List the nodes of a model that were gone before placement: folded, fused or inlined.

    Parameters
    ----------
    source : ModelSource
    placed : Counter
        How often each pair of name and operator was seen in placement.
    claimed : set of str
        Paths of nodes that are run with everything nested in them.

    Returns
    -------
    list of tuple, or None
        Name and operator of each; None if the model cannot be read.
    """
    model = source.load()
    if model is None:
        return None
    left = Counter(placed)
    gone = []
    for path, node in walk_nodes(model.graph):
        key = (node.name, node.op_type)
        if left[key] > 0:
            left[key] -= 1
        elif not any(path.startswith(f"{owner}/") for owner in claimed):
            gone.append(key)
    return gone


def top_k_problems(source: ModelSource) -> list[str]:
    """Describe each TopK node whose axis or K does not fit its input.

    Parameters
    ----------
    source : ModelSource

    Returns
    -------
    list of str
    """
    model = source.load()
    if model is None:
        return []
    shapes = _shapes(model)
    constants = _constants(model.graph)
    problems = []
    for _, node in walk_nodes(model.graph):
        if node.op_type == "TopK" and node.domain in ("", "ai.onnx"):
            problem = _top_k_problem(node, shapes, constants)
            if problem:
                problems.append(problem)
    return problems


def _top_k_problem(
    node: Any, shapes: dict[str, list[int | str]], constants: dict[str, int]
) -> str | None:
    shape = shapes.get(node.input[0]) if node.input else None
    if shape is None:
        return None
    attributes = {attribute.name: attribute.i for attribute in node.attribute}
    rank, axis = len(shape), attributes.get("axis", -1)
    name = node.name or f"without a name, with output {node.output[0]!r}"
    where = f"node {name!r} (TopK)" if node.name else f"a TopK node {name}"
    written = f"[{', '.join(map(str, shape))}]"
    if not -rank <= axis < rank:
        return (
            f"{where}: axis {axis} is outside [{-rank}, {rank - 1}] for input "
            f"{node.input[0]!r} of rank {rank}, shape {written}"
        )
    k = attributes.get("k")
    if len(node.input) > 1:
        k = constants.get(node.input[1])
    extent = shape[axis]
    if k is not None and isinstance(extent, int) and not 0 <= k <= extent:
        return (
            f"{where}: K = {k} is outside [0, {extent}], the extent of axis {axis} of input "
            f"{node.input[0]!r}, shape {written}"
        )
    return None


def _shapes(model: Any) -> dict[str, list[int | str]]:
    import onnx

    # A node that does not fit may stop inference; the declared shapes remain.
    with contextlib.suppress(Exception):
        model = onnx.shape_inference.infer_shapes(model, strict_mode=False)
    shapes: dict[str, list[int | str]] = {}
    graph = model.graph
    for value in [*graph.input, *graph.value_info, *graph.output]:
        tensor = value.type.tensor_type
        if tensor.HasField("shape"):
            shapes[value.name] = [
                dim.dim_value if dim.HasField("dim_value") else dim.dim_param or "?"
                for dim in tensor.shape.dim
            ]
    for initializer in graph.initializer:
        shapes.setdefault(initializer.name, list(initializer.dims))
    return shapes


def _constants(graph: Any) -> dict[str, int]:
    from onnx import numpy_helper

    tensors = {tensor.name: tensor for tensor in graph.initializer}
    for node in graph.node:
        for attribute in node.attribute:
            if node.op_type == "Constant" and attribute.name == "value":
                tensors[node.output[0]] = attribute.t
    return {
        name: int(numpy_helper.to_array(tensor).reshape(-1)[0])
        for name, tensor in tensors.items()
        if tensor.data_type == 7 and list(tensor.dims) in ([], [1]) and tensor.data_location == 0
    }
