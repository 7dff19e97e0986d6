"""TopK: every type, definition, axis and shape."""

import numpy as np
import pytest
from helpers import data
from helpers.compare import assert_top_k, bits
from helpers.models import FLOATS, INTEGERS, NUMBERS, dtype_of, keep_output, top_k_model


@pytest.mark.parametrize("largest", [1, 0])
@pytest.mark.parametrize("dtype", NUMBERS)
def test_every_type(run_strict, dtype, largest):
    x = data.any_bits(dtype, (3, 301), seed=1)
    model = top_k_model(dtype, ["n", "m"], 17, largest=largest)
    assert_top_k(run_strict(model, {"x": x}), x, 17, largest=largest)


@pytest.mark.parametrize("opset", [1, 9, 10, 11, 23, 24])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_every_definition(run_strict, dtype, opset):
    x = data.random(dtype, (2, 40), seed=2, low=-5, high=5)
    assert_top_k(run_strict(top_k_model(dtype, [2, 40], 7, opset=opset), {"x": x}), x, 7)


@pytest.mark.parametrize("is_sorted", [1, 0])
@pytest.mark.parametrize("largest", [1, 0])
@pytest.mark.parametrize("axis", [-3, -2, -1, 0, 1, 2])
@pytest.mark.parametrize("dtype", ["float32", "int8"])
def test_axes(run_strict, dtype, axis, largest, is_sorted):
    x = data.random(dtype, (7, 5, 9), seed=3, low=-4, high=4)
    model = top_k_model(dtype, ["a", "b", "c"], 4, axis=axis, largest=largest, sorted=is_sorted)
    assert_top_k(run_strict(model, {"x": x}), x, 4, axis, largest, is_sorted)


def test_middle_axis_by_hand(run_strict):
    x = np.array([[[1, 5], [4, 5], [4, 2]], [[9, 0], [9, 0], [7, 1]]], np.float32)
    values, indices = run_strict(top_k_model("float32", x.shape, 2, axis=1), {"x": x})
    np.testing.assert_array_equal(values, [[[4, 5], [4, 5]], [[9, 1], [9, 0]]])
    np.testing.assert_array_equal(indices, [[[1, 0], [2, 1]], [[0, 2], [1, 0]]])
    _, indices = run_strict(top_k_model("float32", x.shape, 2, axis=-2, largest=0), {"x": x})
    np.testing.assert_array_equal(indices, [[[0, 2], [1, 0]], [[2, 0], [0, 1]]])
    _, indices = run_strict(top_k_model("float32", x.shape, 1, axis=-3), {"x": x})
    np.testing.assert_array_equal(indices, [[[1, 0], [1, 0], [1, 0]]])


@pytest.mark.parametrize("axis", [0, 1, 4, 7, -1])
def test_rank_8(run_strict, axis):
    x = data.random("float16", (2, 3, 2, 1, 4, 2, 3, 5), seed=4, low=-3, high=3)
    k = x.shape[axis] - 1
    model = top_k_model("float16", list("abcdefgh"), k, axis=axis)
    assert_top_k(run_strict(model, {"x": x}), x, k, axis)


@pytest.mark.parametrize("position", [0, 1])
@pytest.mark.parametrize("axis", [0, 1])
def test_one_output_unused(run_strict, position, axis):
    x = data.random("float32", (34, 1030), seed=5, low=-9, high=9)
    model = top_k_model("float32", ["n", "m"], 21, axis=axis)
    wanted = ("values", "indices")[position]
    (alone,) = run_strict(keep_output(model, wanted), {"x": x})
    assert bits(alone) == bits(run_strict(model, {"x": x})[position])


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize(("shape", "k"), [((0, 5), 2), ((5,), 0), ((3, 0), 0), ((2, 0, 4), 0)])
def test_nothing_to_do_launches_nothing(strict_session, dtype, shape, k):
    axis = 1 if len(shape) == 3 else -1
    session = strict_session(top_k_model(dtype, list("abc")[: len(shape)], k, axis=axis))
    values, indices = session.run({"x": np.zeros(shape, dtype_of(dtype))})
    expected = list(shape)
    expected[axis] = k
    assert values.shape == indices.shape == tuple(expected)
    assert values.dtype == dtype_of(dtype)
    assert indices.dtype == np.int64
    assert session.stats.launches == 0


@pytest.mark.parametrize("dtype", FLOATS)
def test_one_session_many_shapes(strict_session, dtype):
    session = strict_session(top_k_model(dtype, ["n", "m"], 3))
    for shape in [(2, 5), (1, 1000), (70, 3), (0, 4), (2, 5), (3, 2049), (1, 1000)]:
        x = data.random(dtype, shape, seed=shape[1], low=-3, high=3)
        assert_top_k(session.run({"x": x}), x, 3)


def test_unknown_rank(strict_session):
    session = strict_session(top_k_model("int32", None, 2, axis=-2))
    for shape in [(4, 3), (2, 3, 2), (2, 2, 5, 1)]:
        x = data.random("int32", shape, seed=6, low=0, high=3)
        assert_top_k(session.run({"x": x}), x, 2, -2)


@pytest.mark.parametrize("dtype", ["int64", "uint64", "float64", "int32"])
def test_no_detour_over_a_narrower_type(run_strict, dtype):
    big = {"float64": 2**52, "int32": 2**24}.get(dtype, 2**53)
    x = np.array([big, big + 1, big + 2, big + 1], dtype)
    values, indices = run_strict(top_k_model(dtype, [4], 3), {"x": x})
    np.testing.assert_array_equal(indices, [2, 1, 3])
    np.testing.assert_array_equal(values, x[[2, 1, 3]])


def test_close_doubles_are_told_apart(run_strict):
    x = np.array([1, 1 + 2.0**-40, 1 - 2.0**-40])
    _, indices = run_strict(top_k_model("float64", [3], 3), {"x": x})
    np.testing.assert_array_equal(indices, [1, 0, 2])


@pytest.mark.parametrize("largest", [1, 0])
@pytest.mark.parametrize("dtype", INTEGERS)
def test_limits_of_integers(run_strict, dtype, largest):
    x = np.tile(data.extremes(dtype), (2, 3))
    model = top_k_model(dtype, ["n", "m"], x.shape[1], largest=largest)
    assert_top_k(run_strict(model, {"x": x}), x, x.shape[1], largest=largest)
