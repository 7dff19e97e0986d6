"""Gather."""

import numpy as np
import pytest
from helpers import data
from helpers.compare import assert_exact, bits
from helpers.models import PLAIN_TYPES, dtype_of, node_model
from helpers.strict import device_id

import hipep


def gather_model(dtype, data_shape, index_shape, index_dtype="int64", opset=24, **attributes):
    inputs = {"data": (dtype, data_shape), "indices": (index_dtype, index_shape)}
    return node_model("Gather", inputs, opset=opset, **attributes)


def indices_of(shape, extent, seed, dtype="int64"):
    return np.asarray(np.random.default_rng(seed).integers(-extent, extent, shape)).astype(dtype)


@pytest.mark.parametrize("index_dtype", ["int32", "int64"])
@pytest.mark.parametrize("axis", [0, 1, 2, -1])
@pytest.mark.parametrize("dtype", PLAIN_TYPES)
def test_every_type(run_strict, dtype, axis, index_dtype):
    x = data.any_bits(dtype, (7, 5, 33), seed=1)
    indices = indices_of((3, 4), x.shape[axis], 2, index_dtype)
    model = gather_model(dtype, list("abc"), list("de"), index_dtype, axis=axis)
    (y,) = run_strict(model, {"data": x, "indices": indices})
    assert bits(y) == bits(np.take(x, indices, axis))


@pytest.mark.parametrize("opset", [1, 11, 13, 24])
def test_every_definition(run_strict, opset):
    x = data.random("float32", (5, 9), seed=3)
    indices = np.array([4, 0, 0, 3])
    model = gather_model("float32", [5, 9], [4], opset=opset)
    assert_exact(run_strict(model, {"data": x, "indices": indices})[0], x[indices])


def test_by_hand(run_strict):
    x = np.float32([[1, 2], [3, 4], [5, 6]])
    model = gather_model("float32", [3, 2], [2, 1], "int32")
    (y,) = run_strict(model, {"data": x, "indices": np.int32([[2], [1]])})
    np.testing.assert_array_equal(y, [[[5, 6]], [[3, 4]]])
    (y,) = run_strict(gather_model("float32", [3, 2], []), {"data": x, "indices": np.array(-1)})
    np.testing.assert_array_equal(y, [5, 6])


@pytest.mark.parametrize(
    ("shape", "index_shape", "axis"),
    [
        ((1,), (), 0),
        ((5,), (3,), 0),
        ((0, 4), (2,), 1),
        ((4, 0), (2,), 0),
        ((3, 4), (0,), 0),
        ((3, 4), (2, 0), 1),
        ((2, 3, 2, 1, 2, 3, 2, 2), (5,), 5),
        ((3, 2, 2), (1, 2, 1, 2, 1, 2), -2),
        ((3, 50021), (4,), 0),
        ((3, 50021), (4,), 1),
        ((2, 7, 1), (65537,), 1),
    ],
)
def test_shapes(run_strict, shape, index_shape, axis):
    x = data.random("float16", shape, seed=4)
    indices = indices_of(index_shape, shape[axis], 5)
    model = gather_model("float16", None, None, axis=axis)
    assert_exact(run_strict(model, {"data": x, "indices": indices})[0], np.take(x, indices, axis))


def test_one_session_many_shapes(strict_session):
    session = strict_session(gather_model("int8", ["n", "m"], ["l"], axis=1))
    for n, m, length in [(2, 3, 4), (5, 1, 1), (0, 2, 3), (2, 300, 1), (2, 3, 4)]:
        x, indices = data.random("int8", (n, m), seed=6), indices_of((length,), m, 7)
        assert_exact(session.run({"data": x, "indices": indices})[0], x[:, indices])


def test_constant_indices_and_constant_data(run_strict):
    x = data.random("bfloat16", (6, 5), seed=8)
    model = node_model(
        "Gather", {"data": ("bfloat16", ["n", 5])}, constants={"indices": np.array([-1, 2])}, axis=1
    )
    assert_exact(run_strict(model, {"data": x})[0], x[:, [-1, 2]])


@pytest.mark.parametrize("shape", [(3, 2), (3,)])
@pytest.mark.parametrize("index", [3, -4, 2**31, 2**62, -(2**63)])
def test_an_index_out_of_range_is_an_error_or_zeros(shape, index):
    x = np.ones(shape, np.float32)
    model = gather_model("float32", list("ab")[: len(shape)], ["n"])
    with hipep.InferenceSession(model, device=device_id(), strict=True) as session:
        try:
            (y,) = session.run(None, {"data": x, "indices": np.array([0, index])})
        except hipep.HipepError as error:
            assert str(index) in str(error)  # noqa: PT017
        else:
            np.testing.assert_array_equal(y, [x[0], np.zeros_like(x[0])])
        (y,) = session.run(None, {"data": x, "indices": np.array([2])})
        np.testing.assert_array_equal(y, x[2:])


def test_axis_out_of_range(refused):
    feeds = {"data": np.ones((2, 2), np.float32), "indices": np.array([0])}
    text = refused(gather_model("float32", None, [1], axis=2), feeds)
    assert "'node'" in text
    assert "axis 2 is out of range for rank 2" in text


def test_a_result_of_rank_9_is_refused(refused):
    feeds = {"data": np.ones((1,) * 8, dtype_of("float32")), "indices": np.zeros((1, 1), np.int64)}
    assert "rank 9" in refused(gather_model("float32", None, None), feeds)
