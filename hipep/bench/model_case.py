"""A model file as a case, with random inputs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from hipep.bench.case import TOLERANCES, Case, Feeds, close
from hipep.bench.sides import session_options
from hipep.device import Device
from hipep.errors import OptionError
from hipep.feeds import numpy_type, random_input
from hipep.inference import InferenceSession
from hipep.model import ModelSource


def model_case(
    path: Path, device: Device, extents: Mapping[str, int], below: int, tolerance: float | None
) -> tuple[Case, str]:
    """Return the case of a model, and where its nodes run.

    Parameters
    ----------
    path : Path
    device : Device
        Where it is loaded for a look at its inputs.
    extents : mapping
        Extents of symbolic axes; others are 1.
    below : int
        What random integers are below.
    tolerance : float or None
        Of floats, in place of that of their type.

    Returns
    -------
    tuple of Case and str
    """
    with InferenceSession(path, device=device, sess_options=session_options(1)) as session:
        inputs, placement = list(session.get_inputs()), session.report.summary()
    for entry in inputs:
        if numpy_type(entry.type) in (None, "bfloat16"):
            raise OptionError(
                f"model {str(path)!r} has the input {entry.name!r} of type {entry.type}; "
                "inputs of the types that numpy has can be measured"
            )
    symbols = {name for entry in inputs for name in entry.shape if isinstance(name, str)}
    for name in extents:
        if name not in symbols:
            known = ", ".join(sorted(symbols)) or "none"
            raise OptionError(f"--dim: the model has no symbolic axis {name!r}; it has {known}")

    def make_feeds(generator: np.random.Generator) -> Feeds:
        return {entry.name: random_input(entry, generator, extents, below) for entry in inputs}

    weights = _weight_bytes(ModelSource.of(path).load())
    tolerances = None if tolerance is None else dict.fromkeys(TOLERANCES, tolerance)
    differences = partial(close, tolerances=tolerances)
    return Case(path.name, str(path), make_feeds, False, weights, differences), placement


def _weight_bytes(model: Any) -> int:
    if model is None:
        return 0
    import onnx

    return sum(
        math.prod(tensor.dims) * onnx.helper.tensor_dtype_to_np_dtype(tensor.data_type).itemsize
        for tensor in model.graph.initializer
    )
