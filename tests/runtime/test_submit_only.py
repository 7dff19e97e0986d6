"""Runs that only submit: the caller waits, when it wants to."""

import threading

import numpy as np
import onnxruntime as ort
import pytest
from helpers.data import random
from helpers.models import graph_model
from helpers.strict import MEMORIES, open_session
from onnx import helper

import hipep

# Long enough in an emulated GPU to be seen unfinished.
NODES = [
    helper.make_node("Mul", ["x", "x"], ["squares"]),
    helper.make_node("Add", ["squares", "x"], ["sums"]),
    helper.make_node("ReduceMax", ["sums"], ["y"], keepdims=0),
]
X = [random("float32", (50, 2000), seed=seed) for seed in range(4)]


@pytest.fixture
def session():
    """A session whose streams run behind the caller."""
    model = graph_model(NODES, {"x": ("float32", ["n", "m"])}, ["y"])
    with open_session(model, MEMORIES[-1], host_mode="faithful32") as session:
        yield session


def submit_only():
    options = ort.RunOptions()
    options.add_run_config_entry("disable_synchronize_execution_providers", "1")
    return options


def bound(session, x):
    binding = session.io_binding()
    binding.bind_ortvalue_input("x", hipep.device_value(x, device=session))
    hipep.bind_output(binding, "y", session)
    return binding


def check(binding, x):
    binding.synchronize_outputs()
    np.testing.assert_array_equal(hipep.to_numpy(binding.get_outputs()[0]), np.max(x * x + x))


def test_nothing_is_waited_for(session):
    binding = bound(session, X[0])
    for _ in range(6):
        session.run_with_iobinding(binding, submit_only())
        last = session.stats.last
        assert last.launches >= 3
        assert last.stream_syncs == last.h2d_copies == last.d2h_copies == 0
    check(binding, X[0])


def test_a_run_that_waits_comes_after_those_that_did_not(session):
    binding = bound(session, X[1])
    session.run_with_iobinding(binding, submit_only())
    np.testing.assert_array_equal(session.run(None, {"x": X[2]})[0], np.max(X[2] * X[2] + X[2]))
    assert session.stats.last.stream_syncs == 1
    check(binding, X[1])


def test_values_that_are_dropped_while_work_is_pending(session):
    """Their memory goes to other runs, not before the work is done."""
    for _ in range(10):
        bindings = [bound(session, x) for x in X]
        for binding in bindings[1:]:
            session.run_with_iobinding(binding, submit_only())
        session.run_with_iobinding(bindings[0], submit_only())
        del binding, bindings[1:]
        for x in X:
            np.testing.assert_array_equal(session.run(None, {"x": x})[0], np.max(x * x + x))
        check(bindings[0], X[0])


def test_each_thread_waits_for_its_own(session):
    errors = []

    def work(x):
        try:
            for _ in range(20):
                binding = bound(session, x)
                session.run_with_iobinding(binding, submit_only())
                check(binding, x)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(x,)) for x in X]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
