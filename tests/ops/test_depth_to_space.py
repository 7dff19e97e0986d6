"""DepthToSpace."""

import numpy as np
import pytest
from helpers import data
from helpers.compare import bits
from helpers.models import PLAIN_TYPES, node_model


def model_of(dtype, shape=None, opset=13, **attributes):
    return node_model("DepthToSpace", {"x": (dtype, shape)}, opset=opset, **attributes)


def depth_to_space(x, size, mode="DCR"):
    n, c, h, w = x.shape
    depth = c // size**2
    if mode == "DCR":
        parts = x.reshape(n, size, size, depth, h, w).transpose(0, 3, 4, 1, 5, 2)
    else:
        parts = x.reshape(n, depth, size, size, h, w).transpose(0, 1, 4, 2, 5, 3)
    return parts.reshape(n, depth, h * size, w * size)


@pytest.mark.parametrize("mode", ["DCR", "CRD"])
@pytest.mark.parametrize("dtype", PLAIN_TYPES)
def test_every_type(run_strict, dtype, mode):
    x = data.any_bits(dtype, (2, 12, 5, 7), seed=1)
    (y,) = run_strict(model_of(dtype, list("nchw"), blocksize=2, mode=mode), {"x": x})
    assert bits(y) == bits(depth_to_space(x, 2, mode))


@pytest.mark.parametrize("opset", [1, 11, 13])
def test_every_definition(run_strict, opset):
    x = data.any_bits("float32", (1, 8, 2, 3), seed=2)
    (y,) = run_strict(model_of("float32", [1, 8, 2, 3], opset, blocksize=2), {"x": x})
    assert bits(y) == bits(depth_to_space(x, 2))


@pytest.mark.parametrize("mode", ["DCR", "CRD"])
@pytest.mark.parametrize(
    ("shape", "size"),
    [
        ((1, 9, 4, 4), 3),
        ((0, 4, 2, 2), 2),
        ((2, 4, 0, 3), 2),
        ((2, 3, 4, 5), 1),
        ((1, 64, 17, 32), 4),
    ],
)
def test_shapes(run_strict, shape, size, mode):
    x = data.any_bits("float16", shape, seed=3)
    (y,) = run_strict(model_of("float16", blocksize=size, mode=mode), {"x": x})
    assert bits(y) == bits(depth_to_space(x, size, mode))


def test_channels_that_do_not_fit(refused):
    text = refused(model_of("float32", blocksize=2), {"x": np.ones((1, 6, 2, 2), np.float32)})
    assert "6 channels" in text
