"""Models and checks that the tests of the residual normalisations share."""

import numpy as np
from helpers import data
from helpers.compare import assert_close
from helpers.models import graph_model
from helpers.normalizations import layer_norm
from onnx import helper

TYPES = ("float16", "bfloat16", "float32")
SHAPES = [
    ((2, 3, 40), (2, 3, 40)),
    ((2, 3, 33), (3, 33)),
    ((2, 3, 64), (1, 3, 64)),
    ((2, 3, 8), (8,)),
    ((7, 16), (7, 16)),
    ((2, 2, 4096), (2, 2, 4096)),
    ((2, 2, 9000), (2, 9000)),
]


def skip_model(op_type, arrays, outputs, **attributes):
    """Every input is fed; one that is None is absent."""
    inputs = {
        name: (array.dtype, [None] * array.ndim)
        for name, array in arrays.items()
        if array is not None
    }
    names = [name if array is not None else "" for name, array in arrays.items()]
    node = helper.make_node(
        op_type, names, list(outputs), name="node", domain="com.microsoft", **attributes
    )
    return graph_model([node], inputs, [name for name in outputs if name], opset=17)


def arrays_of(op_type, dtype, shape, skip, beta=True, bias=True):
    hidden = shape[-1:]
    arrays = {"x": data.random(dtype, shape, 1, -4, 4), "skip": data.random(dtype, skip, 2, -4, 4)}
    arrays["gamma"] = data.random(dtype, hidden, 3, 0.5, 2)
    if op_type == "SkipLayerNormalization":
        arrays["beta"] = data.random(dtype, hidden, 4, -1, 1) if beta else None
    arrays["bias"] = data.random(dtype, hidden, 5, -1, 1) if bias else None
    return arrays


def expected(op_type, arrays, epsilon):
    total = arrays["x"].astype(np.float64) + arrays["skip"].astype(np.float64)
    if arrays["bias"] is not None:
        total = total + arrays["bias"].astype(np.float64)
    centered = op_type == "SkipLayerNormalization"
    beta, gamma = arrays.get("beta"), arrays["gamma"]
    y, mean, inverse = layer_norm(total, -1, gamma, beta, epsilon, centered)
    if not centered:
        mean = np.zeros_like(inverse)
    return {"y": y, "mean": mean, "inverse": inverse, "sum": total.astype(gamma.dtype)}


def check(run_strict, op_type, arrays, outputs=("y", "mean", "inverse", "sum"), epsilon=1e-3):
    model = skip_model(op_type, arrays, outputs, epsilon=epsilon)
    feeds = {name: array for name, array in arrays.items() if array is not None}
    wanted = expected(op_type, arrays, epsilon)
    names = [name for name in outputs if name]
    for name, got in zip(names, run_strict(model, feeds), strict=True):
        assert_close(got, wanted[name], scale=4)
