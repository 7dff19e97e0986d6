"""TopK: the order of NaN, infinities, zeros and ties."""

import numpy as np
import pytest
from helpers import data
from helpers.compare import assert_top_k, bits
from helpers.models import FLOATS, NUMBERS, dtype_of, top_k_model

NAN, INF = np.nan, np.inf


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(
    ("k", "largest", "values", "indices"),
    [
        (3, 1, [NAN, NAN, 3], [0, 3, 2]),
        (3, 0, [-INF, 1, 2], [5, 1, 4]),
        (6, 0, [-INF, 1, 2, 3, NAN, NAN], [5, 1, 4, 2, 0, 3]),
    ],
)
def test_nan_is_above_everything(run_strict, dtype, k, largest, values, indices):
    x = np.array([NAN, 1, 3, NAN, 2, -INF], dtype_of(dtype))
    actual = run_strict(top_k_model(dtype, [6], k, largest=largest), {"x": x})
    np.testing.assert_array_equal(actual[0].astype(np.float64), values)
    np.testing.assert_array_equal(actual[1], indices)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("largest", "indices"), [(1, [0, 2, 4, 1, 3]), (0, [3, 1, 4, 0, 2])])
def test_nan_with_the_sign_bit_is_nan(run_strict, dtype, largest, indices):
    x = np.array([NAN, 1, NAN, -INF, INF], dtype_of(dtype))
    x[0] = np.copysign(x[0], dtype_of(dtype).type(-1))
    assert np.signbit(x[0])
    actual = run_strict(top_k_model(dtype, [5], 5, largest=largest), {"x": x})
    np.testing.assert_array_equal(actual[1], indices)
    assert bits(actual[0]) == bits(x[indices])


@pytest.mark.parametrize("largest", [1, 0])
@pytest.mark.parametrize("dtype", FLOATS)
def test_one_negative_nan_among_many(run_strict, dtype, largest):
    x = data.random(dtype, (2, 64), seed=1)
    x[:, 37] = -dtype_of(dtype).type(NAN)
    model = top_k_model(dtype, [2, 64], 16, largest=largest)
    assert_top_k(run_strict(model, {"x": x}), x, 16, largest=largest)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("largest", "indices"), [(1, [0, 1, 2, 3]), (0, [4, 0, 1, 2])])
def test_zeros_of_both_signs_tie(run_strict, dtype, largest, indices):
    x = np.array([0.0, -0.0, 0.0, -0.0, -1.0], dtype_of(dtype))
    actual = run_strict(top_k_model(dtype, [5], 4, largest=largest), {"x": x})
    np.testing.assert_array_equal(actual[1], indices)
    assert bits(actual[0]) == bits(x[indices])


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("width", [6, 10000])
@pytest.mark.parametrize("largest", [1, 0])
def test_the_kth_value_is_an_infinity(run_strict, dtype, width, largest):
    x = np.full((1, width), INF, dtype_of(dtype))
    x[0, 1], x[0, -1] = 5, -INF
    model = top_k_model(dtype, ["n", "m"], 5, largest=largest)
    assert_top_k(run_strict(model, {"x": x}), x, 5, largest=largest)
    assert_top_k(run_strict(model, {"x": -x}), -x, 5, largest=largest)


def test_no_infinity_stands_for_an_empty_slot(run_strict):
    x = np.array([0.5, -INF, -INF, -INF, -INF], np.float32)
    values, indices = run_strict(top_k_model("float32", [5], 3), {"x": x})
    np.testing.assert_array_equal(values, [0.5, -INF, -INF])
    np.testing.assert_array_equal(indices, [0, 1, 2])


@pytest.mark.parametrize("is_sorted", [1, 0])
@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32"])
def test_a_row_of_nan_leaves_the_others_alone(strict_session, dtype, is_sorted):
    x = data.random(dtype, (512, 32), seed=2)
    x[0] = NAN
    session = strict_session(top_k_model(dtype, ["n", "m"], 4, sorted=is_sorted))
    assert_top_k(session.run({"x": x}), x, 4, is_sorted=is_sorted)
    x[0] = 1
    assert_top_k(session.run({"x": x}), x, 4, is_sorted=is_sorted)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_a_long_row_of_nan(run_strict, dtype):
    x = np.full((1, 151936), NAN, dtype_of(dtype))
    _, indices = run_strict(top_k_model(dtype, ["n", "m"], 50), {"x": x})
    np.testing.assert_array_equal(indices, [np.arange(50)])


@pytest.mark.parametrize("largest", [1, 0])
@pytest.mark.parametrize("k", [1, 5, 64, 1024, 7175])
def test_ten_distinct_values(run_strict, k, largest):
    x = data.random("float32", (5, 7175), seed=3, low=0, high=10).round()
    model = top_k_model("float32", [5, 7175], k, largest=largest)
    assert_top_k(run_strict(model, {"x": x}), x, k, largest=largest)


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5])
def test_the_lower_index_of_equals_comes_first(run_strict, k):
    x = np.array([1, 2, 5, 4, 5], np.float32)
    np.testing.assert_array_equal(
        run_strict(top_k_model("float32", [5], k), {"x": x})[1], [2, 4, 3, 1, 0][:k]
    )


@pytest.mark.parametrize("largest", [1, 0])
@pytest.mark.parametrize("dtype", NUMBERS)
def test_constant_rows_give_the_first_indices(run_strict, dtype, largest):
    x = np.ones((3, 5000), dtype_of(dtype))
    _, indices = run_strict(top_k_model(dtype, ["n", "m"], 300, largest=largest), {"x": x})
    np.testing.assert_array_equal(indices, np.tile(np.arange(300), (3, 1)))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("axis", [0, 1])
def test_every_special_value_in_both_directions(run_strict, dtype, axis):
    values = np.tile(data.extremes(dtype), 9)
    x = np.stack([np.random.default_rng(seed).permutation(values) for seed in range(7)])
    x = x if axis == 1 else np.ascontiguousarray(x.T)
    for largest in (1, 0):
        model = top_k_model(dtype, ["n", "m"], values.size, axis=axis, largest=largest)
        assert_top_k(run_strict(model, {"x": x}), x, values.size, axis, largest)
