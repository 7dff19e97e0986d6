"""Squeeze."""

import numpy as np
import pytest
from helpers import data
from helpers.compare import bits
from helpers.models import PLAIN_TYPES, node_model


def squeeze_model(dtype, shape, axes=None, opset=24):
    """Axes are an input from opset 13 on."""
    inputs = {"x": (dtype, shape)}
    if axes is None:
        return node_model("Squeeze", inputs, opset=opset)
    if opset < 13:
        return node_model("Squeeze", inputs, opset=opset, axes=axes)
    return node_model("Squeeze", inputs, constants={"axes": np.array(axes, np.int64)}, opset=opset)


@pytest.mark.parametrize("dtype", PLAIN_TYPES)
def test_every_type(run_strict, dtype):
    x = data.any_bits(dtype, (3, 1, 7, 1), seed=1)
    (y,) = run_strict(squeeze_model(dtype, ["n", 1, "m", 1], [1, -1]), {"x": x})
    assert bits(y) == bits(x.reshape(3, 7))


@pytest.mark.parametrize("opset", [1, 11, 13, 21, 23, 24, 25])
@pytest.mark.parametrize("axes", [None, [0, 2]])
def test_every_definition(run_strict, opset, axes):
    x = data.any_bits("float32", (1, 5, 1), seed=2)
    (y,) = run_strict(squeeze_model("float32", [1, 5, 1], axes, opset), {"x": x})
    assert bits(y) == bits(x.reshape(5))


def test_without_axes_every_extent_of_one_goes(strict_session):
    session = strict_session(squeeze_model("int16", None))
    rank_8 = (2, 1, 3, 1, 2, 1, 2, 1)
    for shape in [(1, 3, 1), (2, 3), (1,), (), (1, 1, 1), rank_8, (0, 1), (1, 3, 1)]:
        x = data.random("int16", shape, seed=3)
        assert bits(session.run({"x": x})[0]) == bits(np.squeeze(x))


def test_axes_that_are_fed(strict_session):
    session = strict_session(
        node_model("Squeeze", {"x": ("float32", None), "axes": ("int64", ["n"])})
    )
    for shape, axes in [((1, 3, 1), [0]), ((1, 3, 1), [-1]), ((1, 1), [0, 1]), ((2, 3), [])]:
        x = data.random("float32", shape, seed=4)
        (y,) = session.run({"x": x, "axes": np.array(axes, np.int64)})
        assert bits(y) == bits(np.squeeze(x, tuple(axes)))


def test_an_extent_that_is_not_one_is_refused(refused):
    text = refused(squeeze_model("float32", None, [1]), {"x": np.zeros((1, 3), np.float32)})
    assert "'node'" in text
    assert "axis 1 has extent 3 and cannot be squeezed" in text


@pytest.mark.parametrize(
    ("axes", "says"),
    [([2], "axis 2 is out of range for rank 2"), ([0, -2], "axis 0 is given twice")],
)
def test_axes_that_do_not_fit(refused, axes, says):
    text = refused(squeeze_model("float32", None, axes), {"x": np.zeros((1, 1), np.float32)})
    assert "'node'" in text
    assert says in text
