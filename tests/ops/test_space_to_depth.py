"""SpaceToDepth."""

import numpy as np
import pytest
from helpers import data
from helpers.compare import bits
from helpers.models import PLAIN_TYPES, node_model


def model_of(dtype, shape=None, opset=13, size=2):
    return node_model("SpaceToDepth", {"x": (dtype, shape)}, opset=opset, blocksize=size)


def space_to_depth(x, size):
    n, c, h, w = x.shape
    parts = x.reshape(n, c, h // size, size, w // size, size).transpose(0, 3, 5, 1, 2, 4)
    return parts.reshape(n, c * size**2, h // size, w // size)


@pytest.mark.parametrize("dtype", PLAIN_TYPES)
def test_every_type(run_strict, dtype):
    x = data.any_bits(dtype, (2, 3, 6, 10), seed=1)
    (y,) = run_strict(model_of(dtype, list("nchw")), {"x": x})
    assert bits(y) == bits(space_to_depth(x, 2))


@pytest.mark.parametrize("opset", [1, 13])
@pytest.mark.parametrize(
    ("shape", "size"),
    [
        ((1, 1, 9, 3), 3),
        ((0, 4, 2, 2), 2),
        ((2, 4, 0, 2), 2),
        ((2, 3, 4, 5), 1),
        ((1, 4, 68, 64), 4),
    ],
)
def test_shapes(run_strict, opset, shape, size):
    x = data.any_bits("float32", shape, seed=2)
    (y,) = run_strict(model_of("float32", opset=opset, size=size), {"x": x})
    assert bits(y) == bits(space_to_depth(x, size))


def test_extents_that_do_not_fit(refused):
    text = refused(model_of("float32"), {"x": np.ones((1, 1, 3, 4), np.float32)})
    assert "extents 3 and 4" in text
