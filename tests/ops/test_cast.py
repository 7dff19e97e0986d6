"""Cast: every pair of types."""

import numpy as np
import pytest
from helpers import data, references
from helpers.compare import assert_exact
from helpers.models import FLOATS, INTEGERS, PLAIN_TYPES, dtype_of, graph_model, node_model
from onnx import helper


def element_type(dtype):
    return helper.np_dtype_to_tensor_dtype(dtype_of(dtype))


def cast_model(source, to, shape=None, opset=24, **attributes):
    inputs = {"x": (source, shape)}
    return node_model("Cast", inputs, opset=opset, to=element_type(to), **attributes)


@pytest.mark.parametrize("source", PLAIN_TYPES)
@pytest.mark.parametrize("to", PLAIN_TYPES)
def test_every_pair(strict_session, source, to):
    session = strict_session(cast_model(source, to))
    near = data.random(source, (3, 111), seed=1, low=-300 if source != "int8" else -128, high=127)
    for x in (data.any_bits(source, (1031,), seed=2), near, data.extremes(source), near[:0]):
        with np.errstate(all="ignore"):
            expected = references.cast(x, to)
        assert_exact(session.run({"x": x})[0], expected)


@pytest.mark.parametrize("shape", [(), (1,), (2, 1, 2, 1, 3, 1, 2, 5), (2, 0), (65537,)])
def test_shapes(run_strict, shape):
    x = data.random("float32", shape, seed=3)
    assert_exact(
        run_strict(cast_model("float32", "int64"), {"x": x})[0], np.trunc(x).astype("int64")
    )


@pytest.mark.parametrize("opset", [6, 9, 13, 19, 21, 23, 24])
def test_every_definition(run_strict, opset):
    x = data.random("float32", (33,), seed=4)
    actual = run_strict(cast_model("float32", "float16", [33], opset), {"x": x})
    assert_exact(actual[0], x.astype(np.float16))


def test_opset_25(run_strict):
    x = data.random("float32", (33,), seed=4)
    assert_exact(
        run_strict(cast_model("float32", "int8", [33], 25), {"x": x})[0], x.astype(np.int8)
    )


@pytest.mark.parametrize("source", FLOATS)
@pytest.mark.parametrize("to", ["int32", "int64"])
def test_float_to_integer_truncates(run_strict, source, to):
    x = np.array([3.9, -3.9, 0.5, -0.5, -0.0], dtype_of(source))
    assert_exact(run_strict(cast_model(source, to), {"x": x})[0], np.array([3, -3, 0, 0, 0], to))


@pytest.mark.parametrize("source", FLOATS)
@pytest.mark.parametrize("to", INTEGERS)
def test_what_no_integer_holds_gives_the_nearest_end_and_nan_zero(run_strict, source, to):
    x = np.array([np.nan, np.inf, -np.inf], dtype_of(source))
    limits = np.iinfo(to)
    expected = np.array([0, limits.max, limits.min], to)
    assert_exact(run_strict(cast_model(source, to), {"x": x})[0], expected)


@pytest.mark.parametrize("source", FLOATS)
def test_only_zeros_are_false(run_strict, source):
    x = np.array([np.nan, -0.0, 0.0, 1e-7], dtype_of(source))
    expected = np.array([True, False, False, True])
    assert_exact(run_strict(cast_model(source, "bool"), {"x": x})[0], expected)


def test_float16_rounds_to_even_and_overflows_at_65520(run_strict):
    x = np.float32([65519.996, 65520, -65520, 2049, 2051, 2**-25, 2**-25 * 1.001])
    expected = np.float16([65504, np.inf, -np.inf, 2048, 2052, 0, 2**-24])
    assert_exact(run_strict(cast_model("float32", "float16"), {"x": x})[0], expected)


@pytest.mark.parametrize("source", ["float64", "int64", "uint64"])
def test_bfloat16_is_rounded_once(run_strict, source):
    # By way of float32 the first would be a tie, and round down.
    x = np.array([2**30 + 2**22 + 1, 2**30 + 2**22, 2**30 + 3 * 2**22]).astype(source)
    expected = np.array([2**30 + 2**23, 2**30, 2**30 + 2**24]).astype(dtype_of("bfloat16"))
    assert_exact(run_strict(cast_model(source, "bfloat16"), {"x": x})[0], expected)


@pytest.mark.parametrize("saturate", [0, 1])
def test_saturate_is_about_other_types(run_strict, saturate):
    x = data.random("float32", (9,), seed=5)
    actual = run_strict(cast_model("float32", "int32", [9], saturate=saturate), {"x": x})
    assert_exact(actual[0], x.astype(np.int32))


def test_a_chain_of_casts(run_strict):
    types = ["float16", "int8", "uint64", "bool", "bfloat16", "float32"]
    nodes = [
        helper.make_node("Cast", [f"v{i}"], [f"v{i + 1}"], to=element_type(to))
        for i, to in enumerate(types)
    ]
    x = data.random("float32", (5, 33), seed=6)
    x[::2] = 0
    model = graph_model(nodes, {"v0": ("float32", ["n", "m"])}, [f"v{len(types)}"])
    assert_exact(run_strict(model, {"v0": x})[0], (x.astype(np.int8) != 0).astype(np.float32))
