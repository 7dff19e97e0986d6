"""Flatten."""

import numpy as np
import pytest
from helpers import data
from helpers.compare import bits
from helpers.models import PLAIN_TYPES, node_model


def flatten_model(dtype, shape, opset=24, **attributes):
    return node_model("Flatten", {"x": (dtype, shape)}, opset=opset, **attributes)


def flattened(x, axis):
    split = axis + x.ndim if axis < 0 else axis
    return x.reshape(int(np.prod(x.shape[:split])), int(np.prod(x.shape[split:])))


@pytest.mark.parametrize("dtype", PLAIN_TYPES)
def test_every_type(run_strict, dtype):
    x = data.any_bits(dtype, (3, 5, 7), seed=1)
    assert bits(run_strict(flatten_model(dtype, list("abc")), {"x": x})[0]) == bits(flattened(x, 1))


@pytest.mark.parametrize("opset", [9, 11, 13, 21, 23, 24, 25])
def test_every_definition(run_strict, opset):
    x = data.any_bits("float32", (3, 5, 7), seed=2)
    model = flatten_model("float32", [3, 5, 7], opset, axis=2)
    assert bits(run_strict(model, {"x": x})[0]) == bits(flattened(x, 2))


@pytest.mark.parametrize("axis", range(-3, 4))
def test_every_axis_on_many_shapes(strict_session, axis):
    session = strict_session(flatten_model("float16", None, axis=axis))
    for shape in [(2, 3, 4), (3, 2, 1), (0, 3, 2), (2, 1, 3, 1, 2, 1, 2, 1), (2, 3, 4)]:
        x = data.random("float16", shape, seed=3)
        assert bits(session.run({"x": x})[0]) == bits(flattened(x, axis))


def test_scalar(run_strict):
    x = np.array(3, np.float32)
    model = flatten_model("float32", None, axis=0)
    assert run_strict(model, {"x": x})[0].tolist() == [[3.0]]


@pytest.mark.parametrize("axis", [3, -3])
def test_axis_out_of_range(refused, axis):
    text = refused(flatten_model("float32", None, axis=axis), {"x": np.zeros((2, 2), np.float32)})
    assert "'node'" in text
    assert f"axis {axis} is out of range for rank 2" in text
