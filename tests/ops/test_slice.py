"""Slice."""

import numpy as np
import pytest
from helpers import data
from helpers.compare import bits
from helpers.models import PLAIN_TYPES, graph_model, node_model
from hypothesis import given
from hypothesis import strategies as st
from onnx import helper

MOST, LEAST = 2**63 - 1, -(2**63)


def sliced(x, starts, ends, axes=None, steps=None):
    axes = range(len(starts)) if axes is None else axes
    steps = [1] * len(starts) if steps is None else steps
    index = [slice(None)] * x.ndim
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        end = None if step < 0 and end < -x.shape[axis] else end
        index[axis] = slice(start, end, step)
    return x[tuple(index)]


def slice_model(dtype, given, fed, shape=None, opset=13, index_dtype="int64"):
    """``given`` maps starts, ends, axes and steps to lists; they are fed, or constants."""
    names = ["x", *(n if n in given else "" for n in ("starts", "ends", "axes", "steps"))]
    node = helper.make_node("Slice", names, ["y"], name="node")
    inputs = {"x": (dtype, shape)}
    if fed:
        inputs.update({name: (index_dtype, ["r"]) for name in given})
        return graph_model([node], inputs, ["y"], opset=opset)
    constants = {name: np.array(values, index_dtype) for name, values in given.items()}
    return graph_model([node], inputs, ["y"], constants, opset)


def check(run_strict, x, fed=False, opset=13, index_dtype="int64", **given):
    model = slice_model(x.dtype.name, given, fed, None, opset, index_dtype)
    feeds = {name: np.array(v, index_dtype) for name, v in given.items()} if fed else {}
    assert bits(run_strict(model, {"x": x, **feeds})[0]) == bits(sliced(x, **given))


@pytest.mark.parametrize("dtype", PLAIN_TYPES)
def test_every_type(run_strict, dtype):
    x = data.any_bits(dtype, (7, 9, 33), seed=1)
    check(run_strict, x, starts=[1, 8, -30], ends=[5, 0, MOST], axes=[0, 1, -1], steps=[1, -2, 3])


@pytest.mark.parametrize("opset", [10, 11, 13])
@pytest.mark.parametrize("fed", [True, False])
@pytest.mark.parametrize("index_dtype", ["int32", "int64"])
def test_every_definition(run_strict, opset, fed, index_dtype):
    x = data.any_bits("float32", (7, 9), seed=2)
    check(run_strict, x, fed, opset, index_dtype, starts=[1, 2], ends=[5, -1])
    check(run_strict, x, fed, opset, index_dtype, starts=[3], ends=[9], axes=[1])
    check(run_strict, x, fed, opset, index_dtype, starts=[6, 8], ends=[0, 2], steps=[-1, -3])


@pytest.mark.parametrize("attributes", [{}, {"axes": [1, 0]}])
def test_attributes_of_the_first_definition(run_strict, attributes):
    x = data.any_bits("float32", (7, 9), seed=3)
    given = {"starts": [1, -4], "ends": [5, 100], **attributes}
    model = node_model("Slice", {"x": ("float32", ["n", "m"])}, opset=9, **given)
    assert bits(run_strict(model, {"x": x})[0]) == bits(sliced(x, **given))


@pytest.mark.parametrize(
    ("shape", "given"),
    [
        ((5,), {"starts": [0], "ends": [0]}),
        ((5,), {"starts": [4], "ends": [2]}),
        ((5,), {"starts": [LEAST], "ends": [MOST]}),
        ((5,), {"starts": [MOST], "ends": [LEAST], "steps": [-1]}),
        ((5,), {"starts": [-1], "ends": [-6], "steps": [-1]}),
        ((5,), {"starts": [0], "ends": [MOST], "steps": [MOST]}),
        ((5,), {"starts": [MOST], "ends": [LEAST], "steps": [LEAST]}),
        ((0, 3), {"starts": [0], "ends": [MOST], "steps": [-1]}),
        ((3, 4), {"starts": [], "ends": [], "axes": [], "steps": []}),
        ((2, 3, 2, 3, 2, 3, 2, 3), {"starts": [1] * 8, "ends": [9] * 8}),
        ((2, 3, 2, 3, 2, 3, 2, 3), {"starts": [-1] * 8, "ends": [-9] * 8, "steps": [-1] * 8}),
        ((70, 1000), {"starts": [8], "ends": [1000], "axes": [-1]}),
        ((70, 1000), {"starts": [3], "ends": [995], "axes": [-1], "steps": [2]}),
        ((70, 1000), {"starts": [3], "ends": [69]}),
    ],
)
def test_shapes(run_strict, shape, given):
    check(run_strict, data.any_bits("float16", shape, seed=4), **given)


@given(st.data())
def test_any_slice(draw):
    from helpers.strict import StrictSession

    rank = draw.draw(st.integers(1, 4))
    shape = draw.draw(st.lists(st.integers(0, 6), min_size=rank, max_size=rank))
    axes = draw.draw(st.permutations(range(rank)))[: draw.draw(st.integers(0, rank))]
    position = st.integers(-8, 8)
    chosen = {
        "starts": [draw.draw(position) for _ in axes],
        "ends": [draw.draw(position) for _ in axes],
        "axes": list(axes),
        "steps": [draw.draw(st.sampled_from([-3, -2, -1, 1, 2, 3])) for _ in axes],
    }
    x = data.any_bits("int32", shape, seed=5)
    check(lambda model, feeds: StrictSession(model).run(feeds), x, **chosen)


def test_of_a_shape_needs_no_readback(strict_session):
    nodes = [
        helper.make_node("Shape", ["x"], ["s"]),
        helper.make_node("Slice", ["s", "start", "end", "axis", "step"], ["back"]),
        helper.make_node("Reshape", ["x", "back"], ["y"]),
    ]
    constants = {
        "start": np.array([-1]),
        "end": np.array([LEAST]),
        "axis": np.array([0]),
        "step": np.array([-1]),
    }
    session = strict_session(graph_model(nodes, {"x": ("float32", list("abc"))}, ["y"], constants))
    x = data.any_bits("float32", (2, 3, 4), seed=6)
    assert bits(session.run({"x": x})[0]) == bits(x.reshape(4, 3, 2))
    assert session.stats.readbacks == 0


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"starts": [0], "ends": [1], "axes": [0], "steps": [0]}, "step of axis 0"),
        ({"starts": [0, 0], "ends": [1, 1], "axes": [0, -2]}, "given twice"),
        ({"starts": [0], "ends": [1], "axes": [2]}, "axis 2 is out of range"),
        ({"starts": [0, 0], "ends": [1]}, "2 starts and 1 ends"),
    ],
)
def test_what_does_not_fit(refused, given, words):
    feeds = {name: np.array(values) for name, values in given.items()}
    model = slice_model("float32", given, True)
    text = refused(model, {"x": np.ones((2, 2), np.float32), **feeds})
    assert "'node'" in text
    assert words in text
