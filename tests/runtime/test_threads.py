"""Many threads, one session or several: the bits of one thread, and the GIL is free."""

import threading
import time

import numpy as np
import pytest
from helpers.compare import bits
from helpers.data import random
from helpers.models import graph_model, top_k_model
from helpers.strict import host_memory, host_mode, open_session
from onnx import helper

import hipep

NODES = [
    helper.make_node("Mul", ["x", "x"], ["squares"]),
    helper.make_node("Sub", ["squares", "x"], ["scores"]),
    helper.make_node("ReduceSum", ["scores", "axis"], ["sums"], keepdims=0),
    helper.make_node("ReduceMax", ["c"], ["k"], keepdims=1),
    helper.make_node("TopK", ["scores", "k"], ["values", "indices"]),
    helper.make_node("ArgMax", ["scores"], ["best"], axis=-1, keepdims=0),
]


def make_session(**options):
    inputs = {"x": ("float32", ["n", "m"]), "c": ("int64", ["j"])}
    model = graph_model(
        NODES, inputs, ["sums", "values", "indices", "best"], {"axis": np.array([-1])}
    )
    return open_session(model, **options)


def feeds_of(number):
    x = random("float32", (1 + number % 5, 20 + 37 * number), seed=number)
    return {"x": x, "c": np.array([1, number % 19, 2], np.int64)}


def run_all(workers):
    """Run functions in threads that start together; re-raise what they raise."""
    errors = []
    barrier = threading.Barrier(len(workers))

    def guarded(work):
        try:
            barrier.wait()
            work()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(work,)) for work in workers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def check_worker(session, number, expected, runs):
    def work():
        for i in range(runs):
            chosen = (number + i) % len(expected)
            outputs = session.run(None, feeds_of(chosen))
            assert [bits(array) for array in outputs] == expected[chosen]

    return work


@pytest.mark.parametrize(("threads", "runs"), [(4, 100), (16, 100)])
def test_threads_of_one_session(threads, runs):
    with make_session() as session:
        expected = [[bits(a) for a in session.run(None, feeds_of(n))] for n in range(7)]
        before = session.stats.total
        run_all([check_worker(session, n, expected, runs) for n in range(threads)])
        total = session.stats.total - before
        if host_memory() == "guarded":
            assert total.readbacks == threads * runs
        assert total.launches > 0


def test_threads_of_two_sessions():
    with make_session() as first, make_session() as second:
        expected = [[bits(a) for a in first.run(None, feeds_of(n))] for n in range(7)]
        sessions = (first, second)
        run_all([check_worker(sessions[n % 2], n, expected, 50) for n in range(6)])


def test_sessions_made_and_closed_beside_runs():
    with make_session() as session:
        expected = [[bits(a) for a in session.run(None, feeds_of(n))] for n in range(7)]

        def churn():
            for number in range(15):
                with make_session() as other:
                    outputs = other.run(None, feeds_of(number % 7))
                    assert [bits(array) for array in outputs] == expected[number % 7]

        workers = [check_worker(session, n, expected, 60) for n in range(3)]
        run_all([*workers, churn, churn])


def test_statistics_are_of_the_calling_thread():
    with make_session() as session:
        session.run(None, feeds_of(1))
        mine = session.stats.last
        seen = []

        def other():
            seen.append(session.stats.last)
            for _ in range(3):
                session.run(None, feeds_of(1))
            seen.append(session.stats.last)

        run_all([other])
        assert seen[0] == hipep.RunStats()
        assert seen[1].plans_built + seen[1].plan_hits == mine.plans_built + mine.plan_hits
        assert session.stats.last == mine
        assert session.stats.total.launches == 4 * mine.launches


def test_a_run_does_not_hold_the_gil():
    """Steps of this thread that fall inside the run: with the GIL held there would be none."""
    width = 250_000 if host_mode() == "serial" else 8_000
    x = random("float32", (8, width))
    with open_session(top_k_model("float32", ["n", "m"], k=width // 2)) as session:
        session.run(None, {"x": x})
        state = {"inside": False}

        def work():
            for _ in range(3):
                state["inside"] = True
                session._sess.run(["values"], {"x": x}, None)
                state["inside"] = False

        thread = threading.Thread(target=work)
        thread.start()
        steps = 0
        while thread.is_alive():
            steps += state["inside"]
            time.sleep(0.0005)
        thread.join()
        # Of converting inputs and outputs, which needs the GIL, a step or two may be counted.
        assert steps > 20


def test_run_async():
    with make_session() as session:
        feeds = feeds_of(3)  # kept: onnxruntime 1.24 holds no reference
        expected = [bits(array) for array in session.run(None, feeds)]
        done, results = threading.Event(), []

        def callback(outputs, user_data, error):
            results.extend([outputs, user_data, error])
            done.set()

        session.run_async(None, feeds, callback, "note")
        assert done.wait(60)
        assert results[1:] == ["note", ""]
        assert [bits(array) for array in results[0]] == expected
