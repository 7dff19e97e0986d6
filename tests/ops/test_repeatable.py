"""The same bits from many threads as from one, and outputs that belong to their own inputs."""

import threading

import numpy as np
from helpers import data
from helpers.compare import assert_top_k, bits
from helpers.models import graph_model
from helpers.strict import host_mode
from onnx import helper

RUNS = 40 if host_mode() == "serial" else 8


def summing_model():
    nodes = [
        helper.make_node("Mul", ["x", "x"], ["square"]),
        helper.make_node("ReduceSum", ["square", "axes"], ["sum"], keepdims=0),
        helper.make_node("TopK", ["x", "k"], ["values", "indices"]),
    ]
    constants = {"axes": np.array([1]), "k": np.array([5])}
    inputs = {"x": ("float32", ["n", "m"])}
    return graph_model(nodes, inputs, ["sum", "values", "indices"], constants)


def test_many_threads_give_the_bits_of_one(strict_session):
    session = strict_session(summing_model())
    feeds = [{"x": data.random("float32", (n, 1031), seed=n)} for n in range(1, 9)]
    expected = [[bits(array) for array in session.run(feed)] for feed in feeds]
    wrong = []

    def work(index):
        for _ in range(RUNS):
            got = [bits(array) for array in session.run_once(feeds[index])]
            if got != expected[index]:
                wrong.append(index)

    threads = [threading.Thread(target=work, args=[index]) for index in range(len(feeds))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_an_input_may_be_overwritten_right_after_the_run(strict_session):
    session = strict_session(summing_model())
    for shape in [(3, 7), (5, 20011)]:
        x = np.empty(shape, np.float32)
        kept = []
        for seed in range(4):
            x[...] = data.random("float32", shape, seed=seed)
            kept.append((x.copy(), session.run_once({"x": x})))
            x[...] = np.nan
        for given, (_, *top) in kept:
            assert_top_k(top, given, 5)


def test_twenty_runs_of_ties(strict_session):
    session = strict_session(summing_model())
    x = data.random("float32", (5, 7175), seed=1, low=0, high=10).round()
    expected = [bits(array) for array in session.run({"x": x})]
    for _ in range(20):
        assert [bits(array) for array in session.run_once({"x": x})] == expected
