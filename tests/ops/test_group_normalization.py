"""GroupNormalization."""

import numpy as np
import pytest
from helpers import data
from helpers.compare import assert_close
from helpers.models import FLOATS, HALVES
from helpers.normalizations import group_norm, model_of

OP = "GroupNormalization"
CASES = [((2, 4, 4, 5), 2), ((3, 6, 16), 3), ((2, 8, 3, 3), 1), ((2, 4, 9), 4), ((2, 6), 2)]
LONG = [((1, 4, 70, 300), 2), ((2, 32, 64), 4), ((1, 2, 9001), 1)]


def arrays_of(dtype, shape, parameters=None):
    parameters = (parameters or shape[1],)
    return {
        "x": data.random(dtype, shape, 1, -4, 4),
        "scale": data.random(dtype, parameters, 2, 0.5, 2),
        "bias": data.random(dtype, parameters, 3, -2, 2),
    }


def check(run_strict, arrays, groups, opset=24, epsilon=1e-5, **attributes):
    model = model_of(OP, arrays, opset=opset, num_groups=groups, epsilon=epsilon, **attributes)
    expected = group_norm(arrays["x"], groups, arrays["scale"], arrays["bias"], epsilon)
    assert_close(run_strict(model, arrays)[0], expected, scale=4)


@pytest.mark.parametrize(("shape", "groups"), CASES + LONG)
@pytest.mark.parametrize("dtype", FLOATS)
def test_every_type(run_strict, dtype, shape, groups):
    check(run_strict, arrays_of(dtype, shape), groups, epsilon=1e-2)


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("stash_type", [1, 10, 16])
def test_stash_type(run_strict, dtype, stash_type):
    check(run_strict, arrays_of(dtype, (2, 4, 4, 5)), 2, stash_type=stash_type)


@pytest.mark.parametrize("shape", [(0, 4, 3), (2, 0, 3), (2, 4, 0)])
def test_nothing(run_strict, shape):
    arrays = arrays_of("float32", shape)
    assert run_strict(model_of(OP, arrays, num_groups=2), arrays)[0].shape == shape


def test_nan_stays_in_its_group(run_strict):
    arrays = arrays_of("float32", (2, 4, 8))
    arrays["x"][0, 1, 2] = np.nan
    check(run_strict, arrays, 2)


def test_channels_that_cannot_be_cut(refused):
    arrays = arrays_of("float32", (2, 4, 8))
    text = refused(model_of(OP, arrays, shapes={}, num_groups=3), arrays)
    assert "'node'" in text
    assert "4 channels cannot be cut into 3 groups" in text


@pytest.mark.parametrize("opset", [18, 20])
def test_before_opset_21_scale_and_bias_belong_to_groups(run_strict, opset):
    arrays = arrays_of("float32", (2, 6, 4, 5), 3)
    model = model_of(OP, arrays, opset=opset, num_groups=3)
    by_channel = [np.repeat(arrays[name], 2) for name in ("scale", "bias")]
    expected = group_norm(arrays["x"], 3, *by_channel)
    assert_close(run_strict(model, arrays)[0], expected, scale=4)
