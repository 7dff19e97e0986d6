"""Random graphs against the CPU provider: plans, views, arenas, readbacks, caches."""

import numpy as np
import onnxruntime as ort
import pytest
from helpers.models import graph_model
from helpers.strict import open_session
from onnx import helper
from random_graphs import EXTENTS, RandomGraph

import hipep

ORDER = (0, 1, 2, 0, 3, 1, 0)


def expected_outputs(graph):
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = ort.InferenceSession(graph.model(), options, providers=["CPUExecutionProvider"])
    return [session.run(None, graph.feeds(which)) for which in range(len(EXTENTS))]


def check_graph(seed, **options):
    graph = RandomGraph(seed)
    expected = expected_outputs(graph)
    with open_session(graph.model(), **options) as session:
        for which in ORDER:
            actual = session.run(None, graph.feeds(which))
            for name, mine, theirs in zip(graph.outputs, actual, expected[which], strict=True):
                place = f"seed {seed}, feeds {which}, output {name}"
                assert mine.shape == theirs.shape, place
                assert mine.dtype == theirs.dtype, place
                np.testing.assert_array_equal(mine, theirs, place)


@pytest.mark.parametrize("part", range(10))
def test_random_graphs(part):
    for seed in range(30 * part, 30 * part + 30):
        check_graph(seed)


@pytest.mark.parametrize("options", [{"plan_cache_entries": 1}, {"plan_cache_bytes": 1}])
def test_random_graphs_with_hardly_any_cache(options):
    for seed in range(300, 360):
        check_graph(seed, **options)


def chain_of_readbacks(count):
    """Each K is read back; the shape known at the start is used at the end."""
    nodes = [
        helper.make_node("Shape", ["x"], ["shape"]),
        helper.make_node("Reshape", ["flat", "shape"], ["start"]),
        helper.make_node("Neg", ["start"], ["x0"]),
    ]
    outputs = ["last"]
    for i in range(count):
        nodes += [
            helper.make_node("Gather", ["c", f"at{i}"], [f"k{i}"]),
            helper.make_node("Add", [f"k{i}", "zero"], [f"l{i}"]),
            helper.make_node("TopK", [f"x{i}", f"l{i}"], [f"v{i}", f"i{i}"]),
            helper.make_node("ReduceMin", [f"v{i}"], [f"m{i}"], keepdims=0),
            helper.make_node("Sub", [f"m{i}", f"m{i}"], [f"z{i}"]),
            helper.make_node("Add", [f"x{i}", f"z{i}"], [f"x{i + 1}"]),
        ]
        nodes += [helper.make_node("Abs", [f"v{i}"], [f"a{i}_{j}"]) for j in range(4 * i)]
        outputs += [f"a{i}_{j}" for j in range(4 * i)]
        outputs.insert(1 + i, f"v{i}")
    nodes += [
        helper.make_node("Reshape", [f"x{count}", "minus_one"], ["line"]),
        helper.make_node("Reshape", ["line", "shape"], ["last"]),
    ]
    inputs = {"x": ("float32", ["n", "m"]), "flat": ("float32", ["f"]), "c": ("int64", ["j"])}
    constants = {f"at{i}": np.array([i]) for i in range(count)}
    constants |= {"zero": np.array([0]), "minus_one": np.array([-1])}
    return graph_model(nodes, inputs, outputs, constants, opset=20)


@pytest.mark.parametrize("options", [{}, {"plan_cache_entries": 1}, {"plan_cache_bytes": 1}])
@pytest.mark.parametrize("count", [1, 2, 3, 8])
def test_host_values_last_over_readbacks(count, options):
    model = chain_of_readbacks(count)
    rng = np.random.default_rng(0)
    with open_session(model, **options) as session:
        for rows, columns in ((2, 9), (3, 11), (2, 9), (5, 9)):
            x = rng.permutation(rows * columns).astype(np.float32).reshape(rows, columns)
            c = rng.integers(1, 9, 200)
            outputs = session.run(None, {"x": x, "flat": x.ravel(), "c": c})
            np.testing.assert_array_equal(outputs[0], -x)
            for k, values in zip(c[:count], outputs[1 : 1 + count], strict=True):
                np.testing.assert_array_equal(values, -np.sort(x, axis=-1)[:, :k])


def test_more_readbacks_than_a_group_may_need():
    model = chain_of_readbacks(70)
    x = np.zeros((2, 9), np.float32)
    feeds = {"x": x, "flat": x.ravel(), "c": np.arange(200) % 9 + 1}
    with open_session(model) as session:
        with pytest.raises(hipep.HipepError, match="more than 63 values are read back"):
            session.run(None, feeds)
        with pytest.raises(hipep.HipepError, match="more than 63 values are read back"):
            session.run(None, feeds)


def test_a_shape_of_no_extents_is_read_back():
    """An empty tensor made on the device decides a shape: nothing is read, and that is known."""
    nodes = [
        helper.make_node("Cast", ["extents"], ["shape"], to=7),
        helper.make_node("Reshape", ["x", "shape"], ["y"]),
    ]
    inputs = {"x": ("float32", [1]), "extents": ("float32", ["n"])}
    model = graph_model(nodes, inputs, ["y"])
    with open_session(model) as session:
        feeds = {"x": np.ones(1, "float32"), "extents": np.zeros(0, "float32")}
        assert session.run(None, feeds)[0].shape == ()
