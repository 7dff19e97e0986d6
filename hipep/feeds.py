"""Random inputs of a model, from the types and shapes of its graph."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from hipep.errors import OptionError

_PLAIN = ("float16", "bfloat16", "bool", "int8", "int16", "int32", "int64")
_UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
# The names that ONNX has for types, and those that numpy has.
NUMPY_TYPES = {"float": "float32", "double": "float64"}
NUMPY_TYPES |= {name: name for name in (*_PLAIN, *_UNSIGNED)}


def numpy_type(onnx_type: str) -> str | None:
    """Return numpy's name of a type such as ``"tensor(float)"``, or None."""
    return NUMPY_TYPES.get(onnx_type.removeprefix("tensor(").removesuffix(")"))


def parse_extents(words: Iterable[str]) -> dict[str, int]:
    """Read ``NAME=N`` words of ``--dim``."""
    extents = {}
    for word in words:
        name, text = split_pair(word, "--dim", "NAME=N")
        if not text.isdigit():
            raise OptionError(f"--dim {name}={text}: the extent must be a whole number")
        extents[name] = int(text)
    return extents


def split_pair(text: str, option: str, form: str) -> tuple[str, str]:
    """Split ``NAME=VALUE``."""
    name, separator, value = text.rpartition("=")
    if not separator or not name or not value:
        raise OptionError(f"{option} takes {form}, not {text!r}")
    return name, value


def random_input(
    entry: Any, generator: np.random.Generator, extents: Mapping[str, int], below: int = 2
) -> np.ndarray[Any, Any]:
    """Make up one input.

    Parameters
    ----------
    entry : onnxruntime.NodeArg
        Name, type and shape.
    generator : numpy.random.Generator
    extents : mapping
        Extents of symbolic axes; others are 1.
    below : int
        What integers are below: 0 and 1 are valid as indices, lengths and masks of nearly every
        model.

    Returns
    -------
    numpy.ndarray
    """
    shape = [n if isinstance(n, int) else extents.get(str(n), 1) for n in entry.shape]
    name = numpy_type(entry.type)
    if name is None:
        raise OptionError(f"input {entry.name!r} of type {entry.type} cannot be made up")
    return random_array(name, shape, generator, below)


def random_array(
    dtype: str, shape: Iterable[int], generator: np.random.Generator, below: int = 2
) -> np.ndarray[Any, Any]:
    """Return normal floats, and integers from 0 to below a number."""
    shape = list(shape)
    if dtype.startswith(("int", "uint", "bool")):
        return np.asarray(generator.integers(0, 2 if dtype == "bool" else below, shape)).astype(
            dtype
        )
    values = np.asarray(generator.standard_normal(shape, np.float32))
    if dtype == "bfloat16":
        import ml_dtypes

        return values.astype(ml_dtypes.bfloat16)
    return values.astype(dtype)


def ort_value(array: np.ndarray[Any, Any]) -> Any:
    """Return an ``onnxruntime.OrtValue`` in the CPU's memory; bfloat16 is that of ml_dtypes."""
    import onnxruntime as ort  # type: ignore[import-untyped]

    if array.dtype.name == "bfloat16":
        return ort.OrtValue.ortvalue_from_numpy_with_onnx_type(array.view(np.uint16), 16)
    return ort.OrtValue.ortvalue_from_numpy(np.asarray(array, order="C"))
