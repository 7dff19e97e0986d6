"""CumSum."""

import numpy as np
import pytest
from helpers import data
from helpers import scan_cases as cases
from helpers.compare import assert_close, assert_exact
from helpers.models import FLOATS, dtype_of, node_model

OP = "CumSum"


@pytest.mark.parametrize("reverse", [0, 1])
@pytest.mark.parametrize("exclusive", [0, 1])
@pytest.mark.parametrize(("shape", "axis"), cases.AXES)
@pytest.mark.parametrize("dtype", cases.TYPES)
def test_every_type(run_strict, dtype, shape, axis, exclusive, reverse):
    x = data.random(dtype, shape, 1, -9, 9)
    cases.check(run_strict, OP, x, axis, exclusive, reverse)


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint32", "uint64"])
@pytest.mark.parametrize("axis", [0, 1])
def test_integers_wrap(run_strict, dtype, axis):
    cases.check(run_strict, OP, data.any_bits(dtype, (257, 65), 2), axis)


@pytest.mark.parametrize("opset", [11, 13, 14, 26])
def test_every_definition(run_strict, opset):
    cases.check(run_strict, OP, data.random("float32", (3, 4), 3, 0.5, 1.5), 1, opset=opset)


@pytest.mark.parametrize(("exclusive", "reverse"), [(0, 0), (1, 1)])
@pytest.mark.parametrize("n", [1, 2, 31, 33, 257, 1024, 1025, 4099, 70001, 600000])
@pytest.mark.parametrize("axis", [0, 1])
def test_lengths(run_strict, n, axis, exclusive, reverse):
    x = data.random("float32", (1, n) if axis else (n, 2), n, 0, 1)
    cases.check(run_strict, OP, x, axis, exclusive, reverse)


@pytest.mark.parametrize("exclusive", [0, 1])
@pytest.mark.parametrize("dtype", FLOATS)
def test_nan_and_infinities(run_strict, dtype, exclusive):
    rows = [[1, np.nan, 2], [np.inf, 1, -np.inf], [np.inf, 0, 3], [1, 2, np.inf]]
    x = np.array(rows).astype(dtype_of(dtype))
    cases.check(run_strict, OP, x, 1, exclusive)
    cases.check(run_strict, OP, np.repeat(x, 40, axis=1), 1, exclusive)


@pytest.mark.parametrize("shape", [(3, 0, 2), (0, 3, 2), (3, 2, 0)])
def test_nothing(run_strict, shape):
    x = np.zeros(shape, np.float32)
    model = cases.scan_model(OP, "float32", list("abc"), 1)
    assert_exact(run_strict(model, {"x": x})[0], x)


@pytest.mark.parametrize("kind", ["int32", "int64"])
@pytest.mark.parametrize("axis_shape", [[], [1]])
def test_an_axis_that_is_fed(strict_session, kind, axis_shape):
    inputs = {"x": ("float32", None), "axis": (kind, axis_shape)}
    session = strict_session(node_model(OP, inputs, opset=26))
    for shape, axis in [((3, 4), 0), ((2, 3, 4), -1), ((2,) * 8, 3), ((5,), 0)]:
        x = data.random("float32", shape, 5, 0.5, 1.5)
        actual = session.run({"x": x, "axis": np.full(axis_shape, axis, kind)})[0]
        assert_close(actual, cases.expected(OP, x, axis))


def test_axis_out_of_range(refused):
    feeds = {"x": np.zeros((2, 2), np.float32)}
    text = refused(cases.scan_model(OP, "float32", None, 2), feeds)
    assert "'node'" in text
    assert "axis 2 is out of range for rank 2" in text
