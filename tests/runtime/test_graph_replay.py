"""Runs whose launches are started as graphs give the bits of those that start them one by one."""

import numpy as np
import pytest
from helpers.compare import bits
from helpers.data import random
from helpers.models import graph_model
from helpers.strict import MEMORIES, open_session
from onnx import helper
from random_graphs import EXTENTS, RandomGraph

import hipep

# K is read back: a graph before it and one after.
NODES = [
    helper.make_node("Mul", ["x", "x"], ["squares"]),
    helper.make_node("Sub", ["squares", "x"], ["scores"]),
    helper.make_node("ReduceMax", ["c"], ["k"], keepdims=1),
    helper.make_node("TopK", ["scores", "k"], ["values", "indices"]),
    helper.make_node("ReduceMax", ["values"], ["best"], keepdims=1),
    helper.make_node("Add", ["values", "best"], ["y"]),
]
MODEL = graph_model(NODES, {"x": ("float32", ["n", "m"]), "c": ("int64", [2])}, ["y", "indices"])


def open_with(graph_capture, model=MODEL):
    """A session whose streams run behind the caller, on the host, too."""
    return open_session(model, MEMORIES[-1], host_mode="faithful32", graph_capture=graph_capture)


@pytest.fixture
def sessions():
    with open_with("on") as on, open_with("off") as off:
        yield on, off


def outputs_of(session, x, k):
    """Bits of the outputs, and how many kernels were started."""
    outputs = session.run(None, {"x": x, "c": np.array([1, k])})
    return [bits(array) for array in outputs], session.stats.last.launches


def test_other_data_at_the_same_addresses(sessions):
    for seed in range(8):
        x = random("float32", (3, 400), seed=seed)
        assert len({repr(outputs_of(session, x, 5)) for session in sessions}) == 1


def test_other_k_and_other_shapes_by_turns(sessions):
    for seed in range(30):
        x = random("float32", (1 + seed % 3, 50 + seed % 2), seed=seed)
        assert len({repr(outputs_of(session, x, 2 + seed % 2)) for session in sessions}) == 1


def test_a_steady_state(sessions):
    x = random("float32", (3, 400))
    for _ in range(3):
        outputs_of(sessions[0], x, 5)
    for _ in range(3):
        outputs_of(sessions[0], x, 5)
        last = sessions[0].stats.last
        assert last.device_allocations == last.plans_built == 0
        assert last.stream_syncs == 2


def test_bound_values_by_turns(sessions):
    """More sets of addresses than there are graphs for one plan."""
    results = []
    for session in sessions:
        bindings = []
        for seed in range(6):
            binding = session.io_binding()
            x = random("float32", (2, 100), seed=seed)
            for name, array in (("x", x), ("c", np.array([4, 4]))):
                binding.bind_ortvalue_input(name, hipep.device_value(array, device=session))
            for name in ("y", "indices"):
                hipep.bind_output(binding, name, session)
            bindings.append(binding)
        order = [0, 0, 0, 1, 1, 1, 0, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 5, 5, 0, 1, 2, 3, 4, 5, 0, 0]
        for i in order:
            session.run_with_iobinding(bindings[i])
            outputs = [hipep.to_numpy(value) for value in bindings[i].get_outputs()]
            results.append([bits(array) for array in outputs])
    assert results[: len(order)] == results[len(order) :]


@pytest.mark.parametrize("part", range(4))
def test_random_graphs(part):
    for seed in range(25 * part, 25 * part + 25):
        graph = RandomGraph(seed)
        with open_with("on", graph.model()) as on, open_with("off", graph.model()) as off:
            for which in (0, 0, 0, 0, 1, 1, 1, 0, 1, 0):
                feeds = graph.feeds(which % len(EXTENTS))
                runs = [[bits(a) for a in session.run(None, feeds)] for session in (on, off)]
                assert runs[0] == runs[1], (seed, which)
                assert on.stats.last.launches == off.stats.last.launches
