"""Unsqueeze."""

import numpy as np
import pytest
from helpers import data
from helpers.compare import bits
from helpers.models import PLAIN_TYPES, node_model


def unsqueeze_model(dtype, shape, axes, opset=24):
    """Axes are an input from opset 13 on."""
    inputs = {"x": (dtype, shape)}
    if opset < 13:
        return node_model("Unsqueeze", inputs, opset=opset, axes=axes)
    constants = {"axes": np.array(axes, np.int64)}
    return node_model("Unsqueeze", inputs, constants=constants, opset=opset)


@pytest.mark.parametrize("dtype", PLAIN_TYPES)
def test_every_type(run_strict, dtype):
    x = data.any_bits(dtype, (3, 7), seed=1)
    (y,) = run_strict(unsqueeze_model(dtype, ["n", "m"], [1, -1]), {"x": x})
    assert bits(y) == bits(x.reshape(3, 1, 7, 1))


@pytest.mark.parametrize("opset", [1, 11, 13, 21, 23, 24, 25])
def test_every_definition(run_strict, opset):
    x = data.any_bits("float32", (5,), seed=2)
    (y,) = run_strict(unsqueeze_model("float32", [5], [0, 2], opset), {"x": x})
    assert bits(y) == bits(x.reshape(1, 5, 1))


@pytest.mark.parametrize("axes", [[0], [-1], [2, 0], [0, 1, 2, 3], [-3, -1]])
def test_axes_on_many_shapes(strict_session, axes):
    session = strict_session(unsqueeze_model("float16", None, axes))
    for shape in [(2, 3), (3, 2, 1), (0, 3), (2, 1, 3, 2), (2, 3)]:
        x = data.random("float16", shape, seed=3)
        assert bits(session.run({"x": x})[0]) == bits(np.expand_dims(x, tuple(axes)))


def test_a_scalar_to_rank_8(run_strict):
    x = np.array(7, np.int64)
    (y,) = run_strict(unsqueeze_model("int64", [], list(range(8))), {"x": x})
    assert bits(y) == bits(x.reshape((1,) * 8))


def test_axes_that_are_fed(strict_session):
    session = strict_session(
        node_model("Unsqueeze", {"x": ("float32", None), "axes": ("int64", ["n"])})
    )
    x = data.random("float32", (3, 4), seed=4)
    for axes in ([0], [1, -1], [], [2, 0, 1]):
        (y,) = session.run({"x": x, "axes": np.array(axes, np.int64)})
        assert bits(y) == bits(np.expand_dims(x, tuple(axes)))


@pytest.mark.parametrize(
    ("axes", "says"),
    [([3], "axis 3 is out of range for rank 3"), ([0, -4], "axis 0 is given twice")],
)
def test_axes_that_do_not_fit(refused, axes, says):
    text = refused(unsqueeze_model("float32", None, axes), {"x": np.zeros((2, 2), np.float32)})
    assert "'node'" in text
    assert says in text


def test_rank_9_is_refused(refused):
    x = np.zeros((1,) * 8, np.float32)
    assert "rank 9" in refused(unsqueeze_model("float32", None, [0]), {"x": x})
