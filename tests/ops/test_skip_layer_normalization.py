"""SkipLayerNormalization of com.microsoft."""

import numpy as np
import pytest
from helpers import skip_cases as cases

OP = "SkipLayerNormalization"


@pytest.mark.parametrize(("shape", "skip"), cases.SHAPES)
@pytest.mark.parametrize("dtype", cases.TYPES)
def test_every_type(run_strict, dtype, shape, skip):
    cases.check(run_strict, OP, cases.arrays_of(OP, dtype, shape, skip))


@pytest.mark.parametrize("beta", [True, False])
@pytest.mark.parametrize("bias", [True, False])
def test_optional_inputs(run_strict, beta, bias):
    cases.check(run_strict, OP, cases.arrays_of(OP, "float32", (2, 3, 8), (2, 3, 8), beta, bias))


@pytest.mark.parametrize(
    "outputs", [("y",), ("y", "", "", "sum"), ("y", "mean"), ("y", "", "inverse")]
)
def test_optional_outputs(run_strict, outputs):
    cases.check(run_strict, OP, cases.arrays_of(OP, "float16", (2, 3, 8), (3, 8)), outputs)


@pytest.mark.parametrize("shape", [(0, 3, 8), (2, 0, 8)])
def test_nothing(run_strict, shape):
    cases.check(run_strict, OP, cases.arrays_of(OP, "float32", shape, shape))


def test_a_skip_that_does_not_repeat(refused):
    arrays = cases.arrays_of(OP, "float32", (2, 3, 8), (2, 1, 8))
    text = refused(cases.skip_model(OP, arrays, ("y",)), arrays)
    assert "'node'" in text
    assert "skip does not repeat" in text


def test_nan_stays_in_its_row(run_strict):
    arrays = cases.arrays_of(OP, "float32", (1, 3, 8), (1, 3, 8))
    arrays["skip"][0, 1, 3] = np.nan
    cases.check(run_strict, OP, arrays)
