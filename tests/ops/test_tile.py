"""Tile."""

import numpy as np
import pytest
from helpers import data
from helpers.compare import bits
from helpers.models import PLAIN_TYPES, node_model


def tile_model(dtype, shape=None, repeats=None, opset=13):
    inputs = {"x": (dtype, shape)}
    if repeats is None:
        return node_model("Tile", {**inputs, "repeats": ("int64", ["r"])}, opset=opset)
    constants = {"repeats": np.array(repeats, np.int64)}
    return node_model("Tile", inputs, constants=constants, opset=opset)


@pytest.mark.parametrize("dtype", PLAIN_TYPES)
def test_every_type(run_strict, dtype):
    x = data.any_bits(dtype, (3, 2, 5), seed=1)
    (y,) = run_strict(tile_model(dtype, list("abc"), [2, 3, 4]), {"x": x})
    assert bits(y) == bits(np.tile(x, (2, 3, 4)))


@pytest.mark.parametrize("opset", [6, 13])
@pytest.mark.parametrize("fed", [True, False])
@pytest.mark.parametrize(
    ("shape", "repeats"),
    [
        ((), ()),
        ((1,), (100,)),
        ((7,), (1,)),
        ((7,), (0,)),
        ((0, 3), (2, 2)),
        ((2, 16), (3, 1)),
        ((2, 16), (1, 3)),
        ((2,) * 8, (2,) * 8),
        ((1, 2, 1, 2, 3, 1, 2, 1), (2, 2, 3, 1, 2, 2, 1, 3)),
    ],
)
def test_shapes(run_strict, opset, fed, shape, repeats):
    x = data.any_bits("float32", shape, seed=2)
    feeds = {"x": x, "repeats": np.array(repeats, np.int64)} if fed else {"x": x}
    model = tile_model("float32", None, None if fed else repeats, opset)
    assert bits(run_strict(model, feeds)[0]) == bits(np.tile(x, repeats))


@pytest.mark.parametrize("repeats", [[2], [2, -1], [1] * 17])
def test_repeats_that_do_not_fit(refused, repeats):
    feeds = {"x": np.ones((2, 3), np.float32), "repeats": np.array(repeats)}
    assert "'node'" in refused(tile_model("float32"), feeds)
