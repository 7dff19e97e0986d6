"""TopK: where K comes from."""

import numpy as np
import pytest
from helpers import data
from helpers.compare import assert_top_k
from helpers.models import graph_model, top_k_model
from helpers.strict import host_memory, host_mode
from onnx import helper

import hipep

RUNS = 500 if host_mode() == "serial" else 60


def node(op_type, inputs, outputs, **attributes):
    return helper.make_node(op_type, inputs.split(), outputs.split(), name=op_type, **attributes)


def chain(nodes, inputs, constants=None):
    nodes = [*nodes, node("TopK", "x k", "values indices")]
    return graph_model(nodes, inputs, ["values", "indices"], constants)


def test_fed_k_that_changes(strict_session):
    session = strict_session(top_k_model("float32", ["n", "m"]))
    x = data.random("float32", (3, 500), seed=1, low=-9, high=9)
    for k in [5, 1, 500, 0, 5, 64, 499]:
        assert_top_k(session.run({"x": x, "k": np.array([k])}), x, k)
        assert session.stats.readbacks == 0


def test_fed_k_with_a_static_result_needs_no_read(strict_session):
    outputs = [("values", "float32", ["n", 4]), ("indices", "int64", ["n", 4])]
    session = strict_session(top_k_model("float32", ["n", "m"], None, outputs))
    x = data.random("float32", (3, 90), seed=2)
    assert_top_k(session.run({"x": x, "k": np.array([4])}), x, 4)
    assert session.stats.readbacks == 0


def test_fed_k_that_differs_from_the_static_result_is_refused(refused):
    outputs = [("values", "float32", ["n", 4]), ("indices", "int64", ["n", 4])]
    model = top_k_model("float32", ["n", "m"], None, outputs)
    text = refused(model, {"x": np.zeros((2, 9), np.float32), "k": np.array([5])})
    assert "'node'" in text
    assert "K is 5, but the extent of the result is 4" in text


def test_k_is_an_extent_of_the_input(strict_session):
    nodes = [node("Shape", "x", "shape"), node("Gather", "shape last", "k")]
    inputs = {"x": ("float32", ["n", "m"])}
    session = strict_session(chain(nodes, inputs, {"last": np.array([-1])}))
    values, indices = session.run({"x": np.float32([[3, 1, 2]])})
    np.testing.assert_array_equal(values, [[3, 2, 1]])
    np.testing.assert_array_equal(indices, [[0, 2, 1]])
    for shape in [(2, 7), (1, 1), (4, 300), (2, 7)]:
        x = data.random("float32", shape, seed=3)
        assert_top_k(session.run({"x": x}), x, shape[1])
        assert session.stats.readbacks == 0


def test_k_is_the_smaller_of_an_extent_and_a_constant(strict_session):
    nodes = [
        node("Shape", "x", "shape"),
        node("Gather", "shape zero", "n"),
        node("Min", "n most", "least"),
        node("Reshape", "least one", "k"),
    ]
    constants = {"zero": np.array(0), "most": np.array(300), "one": np.array([1])}
    session = strict_session(chain(nodes, {"x": ("float32", ["n"])}, constants))
    for n in (5, 300, 1000, 5):
        x = data.random("float32", (n,), seed=n, low=-9, high=9)
        assert_top_k(session.run({"x": x}), x, min(n, 300))
        assert session.stats.readbacks == 0


def test_k_is_an_extent_of_another_input(strict_session):
    nodes = [node("Shape", "y", "shape"), node("Gather", "shape first", "k")]
    inputs = {"x": ("float32", [7, 11]), "y": ("float32", ["S", 2])}
    session = strict_session(chain(nodes, inputs, {"first": np.array([0])}))
    x = data.random("float32", (7, 11), seed=4)
    for extent in (5, 3, 7, 1):
        assert_top_k(session.run({"x": x, "y": np.ones((extent, 2), np.float32)}), x, extent)


def test_k_made_on_the_device_is_that_of_this_run(strict_session):
    nodes = [node("ReduceMax", "y", "most", keepdims=0), node("Cast", "most", "long", to=7)]
    nodes.append(node("Reshape", "long one", "k"))
    inputs = {"x": ("float32", ["n", "m"]), "y": ("float32", ["l"])}
    session = strict_session(chain(nodes, inputs, {"one": np.array([1])}))
    x = data.random("float32", (2, 64), seed=5)
    for k in np.random.default_rng(5).integers(0, 65, RUNS):
        y = np.array([0, k, 0.5], np.float32)
        assert_top_k(session.run_once({"x": x, "y": y}), x, int(k))
        if host_memory() == "guarded":
            assert session.stats.readbacks == 1
    assert_top_k(session.run({"x": x, "y": y}), x, int(k))


def test_k_bound_on_the_device(strict_session):
    session = strict_session(top_k_model("float32", ["n", "m"])).session
    x = data.random("float32", (2, 33), seed=6)
    for k in (3, 33, 1):
        values = {
            "x": hipep.device_value(x, device=session),
            "k": hipep.device_value(np.array([k]), device=session),
        }
        outputs = session.run_with_ort_values(None, values)
        assert_top_k([hipep.to_numpy(value) for value in outputs], x, k)


@pytest.mark.parametrize("opset", [10, 11, 24])
def test_k_is_a_constant_node(run_strict, opset):
    k = helper.make_tensor("k", 7, [1], [6])
    nodes = [node("Constant", "", "k", value=k), node("TopK", "x k", "values indices")]
    model = graph_model(nodes, {"x": ("float32", ["n"])}, ["values", "indices"], None, opset)
    x = data.random("float32", (50,), seed=7)
    assert_top_k(run_strict(model, {"x": x}), x, 6)
