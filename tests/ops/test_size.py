"""Size."""

import numpy as np
import pytest
from helpers.compare import assert_exact
from helpers.models import PLAIN_TYPES, dtype_of, node_model


@pytest.mark.parametrize("dtype", PLAIN_TYPES)
def test_every_type_reads_nothing(strict_session, dtype):
    session = strict_session(node_model("Size", {"x": (dtype, None)}))
    for shape in [(2, 3, 4), (), (0,), (1, 0, 5), (7,), (2, 1, 2, 1, 3, 1, 2, 5), (2, 3, 4)]:
        x = np.zeros(shape, dtype_of(dtype))
        assert_exact(session.run({"x": x})[0], np.array(x.size))
        assert session.stats.launches <= 1  # the write of the result
        assert session.stats.readbacks == 0


@pytest.mark.parametrize("opset", [1, 13, 19, 21, 23, 24, 25])
def test_every_definition(run_strict, opset):
    model = node_model("Size", {"x": ("int8", ["n", "m"])}, opset=opset)
    assert_exact(run_strict(model, {"x": np.zeros((3, 5), np.int8)})[0], np.array(15))
