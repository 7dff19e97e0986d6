"""Shape."""

import numpy as np
import pytest
from helpers import data
from helpers.compare import assert_exact
from helpers.models import PLAIN_TYPES, dtype_of, node_model

SHAPES = [(2, 3, 4), (), (0,), (1, 0, 5), (7,), (2, 1, 2, 1, 3, 1, 2, 5), (2, 3, 4)]


@pytest.mark.parametrize("dtype", PLAIN_TYPES)
def test_every_type_reads_nothing(strict_session, dtype):
    session = strict_session(node_model("Shape", {"x": (dtype, None)}))
    for shape in SHAPES:
        x = np.zeros(shape, dtype_of(dtype))
        assert_exact(session.run({"x": x})[0], np.array(shape, np.int64))
        assert session.stats.launches <= 1  # the write of the result
        assert session.stats.readbacks == 0


@pytest.mark.parametrize("opset", [1, 13, 15, 19, 21, 23, 24, 25])
def test_every_definition(run_strict, opset):
    x = data.random("float32", (3, 5), seed=1)
    model = node_model("Shape", {"x": ("float32", ["n", "m"])}, opset=opset)
    assert_exact(run_strict(model, {"x": x})[0], np.array([3, 5]))


@pytest.mark.parametrize("start", [None, 0, 1, -1, -2, 5, -9])
@pytest.mark.parametrize("end", [None, 0, 1, 2, -1, 9, -9])
def test_start_and_end(strict_session, start, end):
    given = {"start": start, "end": end}
    attributes = {name: value for name, value in given.items() if value is not None}
    session = strict_session(node_model("Shape", {"x": ("float32", None)}, **attributes))
    for shape in SHAPES:
        expected = np.array(shape, np.int64)[slice(start, end)]
        assert_exact(session.run({"x": np.zeros(shape, np.float32)})[0], expected)
