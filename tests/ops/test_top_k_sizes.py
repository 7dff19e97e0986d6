"""TopK: any K, row length and number of rows, on every kernel path."""

import numpy as np
import pytest
from helpers import data
from helpers.compare import assert_top_k
from helpers.models import top_k_model
from helpers.strict import host_mode

SERIAL = host_mode() == "serial"
LENGTHS = [1, 2, 31, 32, 33, 63, 64, 65, 255, 256, 257, 511, 512, 513, 1000, 1023, 1024, 1025]
LONGER = [2047, 2048, 2049, 4097]


@pytest.mark.parametrize("k", [255, 256, 257, 1024, 1025, 2048, 2049, 3840, 3841, 8191, 8192])
def test_k_has_no_limit(run_strict, k):
    generator = np.random.default_rng(k)
    x = np.stack([generator.permutation(8192) for _ in range(2)]).astype(np.float32)
    assert_top_k(run_strict(top_k_model("float32", [2, 8192], k), {"x": x}), x, k)


@pytest.mark.parametrize("n", LENGTHS + LONGER)
def test_padding_of_a_block_never_appears(run_strict, n):
    for largest, sign in ((1, -1), (0, 1)):
        x = data.random("float32", (2, n), seed=n, low=1, high=9) * np.float32(sign)
        for k in sorted({1, min(3, n), (n + 1) // 2, n}):
            model = top_k_model("float32", ["n", "m"], k, largest=largest)
            assert_top_k(run_strict(model, {"x": x}), x, k, largest=largest)


@pytest.mark.parametrize("dtype", ["int8", "uint16", "float16", "int64"])
@pytest.mark.parametrize("n", [33, 257, 1025, 4097])
def test_whole_rows_smallest_first(run_strict, dtype, n):
    x = data.any_bits(dtype, (3, n), seed=n)
    assert_top_k(run_strict(top_k_model(dtype, [3, n], n, largest=0), {"x": x}), x, n, largest=0)


def test_a_row_that_is_mostly_zero(run_strict):
    x = np.zeros((1, 1000), np.float32)
    x[0, :6] = [0.1, 0.3, 0.02, 0.45, 0.08, 0.05]
    values, indices = run_strict(top_k_model("float32", [1, 1000], 3), {"x": x})
    np.testing.assert_array_equal(values, np.float32([[0.45, 0.3, 0.1]]))
    np.testing.assert_array_equal(indices, [[3, 1, 0]])


@pytest.mark.parametrize("k", [1, 7, 129, 2048])
@pytest.mark.parametrize("largest", [1, 0])
def test_long_rows_that_share_their_high_bits(run_strict, k, largest):
    shape = (3, 262144) if SERIAL else (1, 262144)
    steps = np.random.default_rng(k).integers(0, 4096, shape)
    x = (1 + steps * 2.0**-12).astype(np.float32)
    model = top_k_model("float32", ["n", "m"], k, largest=largest)
    assert_top_k(run_strict(model, {"x": x}), x, k, largest=largest)


@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_k_cuts_into_many_equal_values(run_strict, dtype):
    x = (
        np.random.default_rng(5)
        .permutation(np.concatenate([np.full(100000, 7), np.arange(8, 1008), np.zeros(999)]))[None]
        .astype(dtype)
    )
    assert_top_k(run_strict(top_k_model(dtype, ["n", "m"], 3000), {"x": x}), x, 3000)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_few_distinct_keys_of_two_bytes(run_strict, dtype):
    x = data.random(dtype, (1, 255616), seed=6, low=-32, high=32)
    x = np.floor(x.astype(np.float32)).astype(x.dtype)
    assert_top_k(run_strict(top_k_model(dtype, ["n", "m"], 129), {"x": x}), x, 129)


def test_rows_of_mostly_infinity(run_strict):
    x = data.random("float32", (4, 100000), seed=7)
    x[np.random.default_rng(8).random(x.shape) < 0.9] = np.inf
    model = top_k_model("float32", ["n", "m"], 64, largest=0)
    assert_top_k(run_strict(model, {"x": x}), x, 64, largest=0)


@pytest.mark.parametrize("order", ["rising", "falling", "organ pipe"])
@pytest.mark.parametrize("k", [5, 300])
def test_ordered_rows(run_strict, order, k):
    x = np.arange(50001, dtype=np.float32)[None]
    if order == "falling":
        x = x[:, ::-1].copy()
    elif order == "organ pipe":
        x = np.abs(x - 25000)
    for largest in (1, 0):
        model = top_k_model("float32", ["n", "m"], k, largest=largest)
        assert_top_k(run_strict(model, {"x": x}), x, k, largest=largest)


def test_very_many_short_rows_of_an_inner_axis(run_strict):
    shape = (2, 192, 31, 65) if SERIAL else (2, 48, 7, 65)
    x = data.random("float32", shape, seed=9, low=-9, high=9)
    model = top_k_model("float32", list("abcd"), 3, axis=1)
    assert_top_k(run_strict(model, {"x": x}), x, 3, 1)


@pytest.mark.parametrize(("n", "k"), [(128, 5), (1280, 50), (12800, 500)])
@pytest.mark.parametrize("axis", [0, 1])
def test_sixteen_rows(run_strict, n, k, axis):
    shape = (16, n) if axis == 1 else (n, 16)
    x = data.random("float32", shape, seed=n)
    assert_top_k(run_strict(top_k_model("float32", shape, k, axis=axis), {"x": x}), x, k, axis)


def test_many_rows_of_one_element(run_strict):
    x = data.any_bits("float32", (70001 if SERIAL else 5003, 1), seed=10)
    assert_top_k(run_strict(top_k_model("float32", ["n", "m"], 1), {"x": x}), x, 1)
