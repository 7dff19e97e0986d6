"""The life of sessions: options, errors, memory."""

import re

import numpy as np
import onnxruntime as ort
import pytest
from helpers.compare import assert_top_k
from helpers.data import random
from helpers.models import graph_model, node_model, top_k_model
from helpers.strict import MEMORIES, device_id, open_session
from onnx import helper
from programs import run_program

import hipep

X = random("float32", (6, 40))
MODEL = top_k_model("float32", ["n", "m"])


def feeds(k, x=X):
    return {"x": x, "k": np.array([k], np.int64)}


@pytest.fixture
def session():
    with open_session(MODEL) as session:
        yield session


def test_1000_sessions_leave_nothing_behind():
    out, _ = run_program(
        """
        def resident():
            with open("/proc/self/statm") as file:
                return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        model = top_k_model()
        readings = []
        for cycle in range(1300):
            with hipep.InferenceSession(model, device=DEVICE, strict=True) as session:
                run(session)
            if cycle in (299, 1299):
                readings.append(resident())
        print(readings[1] - readings[0])
        """,
        timeout=300,
    )
    assert int(out) < 3 << 20


def test_runs_of_new_shapes_leave_nothing_behind():
    out, _ = run_program(
        """
        def resident():
            with open("/proc/self/statm") as file:
                return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        session = hipep.InferenceSession(top_k_model(), device=DEVICE, strict=True)
        data = np.random.default_rng(0).random((2, 4000), "float32")
        readings = []
        for cycle in range(6000):
            session.run(None, {"x": data[:, : 2 + cycle % 3500]})
            if cycle in (3600, 5999):
                readings.append(resident())
        print(readings[1] - readings[0])
        """
    )
    assert int(out) < 3 << 20


@pytest.mark.parametrize("memory", ["plain", "guarded"])
def test_close_frees_memory(memory):
    out, _ = run_program(
        f"""
        def resident():
            with open("/proc/self/statm") as file:
                return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        weights = np.ones((1 << 23,), "float32")
        constant = helper.make_tensor(
            "w", TensorProto.FLOAT, weights.shape, weights.tobytes(), True)
        inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n"])]
        outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]
        nodes = [helper.make_node("Add", ["x", "w"], ["s"]), helper.make_node("Relu", ["s"], ["t"]),
                 helper.make_node("ReduceSum", ["t"], ["y"], keepdims=0)]
        graph = helper.make_graph(nodes, "g", inputs, outputs, [constant])
        opsets = [helper.make_opsetid("", 20)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=9).SerializeToString()
        del weights, constant, graph
        make = lambda: hipep.InferenceSession(
            model, device="host", host_memory={memory!r}, strict=True)
        before = None
        for _ in range(4):
            with make() as session:
                assert session.run(None, {{"x": np.ones(1, "float32")}})[0] == 2 << 23
                inside = resident()
            if before is None:
                before = resident()
        print(inside - before, resident() - before)
        """
    )
    inside, after = map(int, out.split())
    assert inside > 48 << 20
    assert after < 8 << 20


def test_plan_cache_of_one_entry():
    with open_session(MODEL, plan_cache_entries=1) as small:
        for k in (3, 5, 3, 0, 5):
            assert_top_k(small.run(None, feeds(k)), X, k)
            assert small.stats.last.plans_built == 1
        small.run(None, feeds(5))
        assert small.stats.last.plans_built == 0


def test_dynamic_options(session):
    for k in range(10):
        session.run(None, feeds(k))
    session.set_ep_dynamic_options({"plan_cache_entries": "2"})
    for k in (20, 21, 8, 9, 20, 8):
        assert_top_k(session.run(None, feeds(k)), X, k)
        assert session.stats.last.plans_built == 1
    for key, value, part in (
        ("plan_cache_entries", "0", "a whole number from 1"),
        ("plan_cache_bytes", "much", "a whole number from 1"),
        ("host_mode", "serial", "cannot be set on a live session"),
        ("nonsense", "1", "cannot be set on a live session"),
    ):
        with pytest.raises(Exception, match=part):
            session.set_ep_dynamic_options({key: value})
    assert_top_k(session.run(None, feeds(4)), X, 4)


def plain_options(**options):
    hipep.register()
    listed = ort.get_ep_devices()
    device = next(d for d in listed if d.ep_metadata.get("hipep.device") == device_id())
    prepared = ort.SessionOptions()
    prepared.add_provider_for_devices([device], options)
    return prepared


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"plan_cache_entrys": "3"}, "unknown option 'plan_cache_entrys'"),
        ({"plan_cache_entries": "none"}, "a whole number from 1 is wanted"),
        ({"host_mode": "fast"}, "host_mode is 'fast'"),
    ],
)
def test_bad_options_in_plain_onnxruntime(options, part):
    with pytest.raises(Exception, match=re.escape(part)):
        ort.InferenceSession(MODEL, plain_options(**options), enable_fallback=0)


def check_plain(session):
    assert session.get_providers()[0] == hipep.get_ep_name()
    assert_top_k(session.run(None, feeds(4)), X, 4)


def test_plain_onnxruntime_by_device():
    check_plain(ort.InferenceSession(MODEL, plain_options(plan_cache_entries="2")))


def test_plain_onnxruntime_by_name():
    hipep.register()
    if hipep.get_ep_name() not in ort.get_available_providers():
        pytest.skip("this onnxruntime does not know plugins by name")
    check_plain(ort.InferenceSession(MODEL, providers=[hipep.get_ep_name()]))


def test_unlike_shapes_fail_and_the_next_run_is_right(session):
    for k, part in ((41, "K is 41, but the extent"), (-1, "K is -1")):
        with pytest.raises(hipep.HipepError, match=part) as caught:
            session.run(None, feeds(k))
        assert "TopK 'node'" in str(caught.value)
        assert "float32[6,40]" in str(caught.value)
        assert_top_k(session.run(None, feeds(7)), X, 7)


def test_a_failed_run_does_not_become_a_cpu_session():
    """Plain onnxruntime makes the session anew on the CPU for status EP_FAIL, which is not used."""
    plain = ort.InferenceSession(MODEL, plain_options())
    for _ in range(2):
        with pytest.raises(Exception, match="K is 41"):
            plain.run(None, feeds(41))
    assert plain.get_providers()[0] == hipep.get_ep_name()
    assert_top_k(plain.run(None, feeds(7)), X, 7)


def test_a_failure_behind_a_readback():
    """The second segment cannot be planned; the first one's work is done and harmless."""
    nodes = [
        helper.make_node("ReduceMax", ["c"], ["k"], keepdims=1),
        helper.make_node("Relu", ["x"], ["r"]),
        helper.make_node("TopK", ["r", "k"], ["values", "indices"]),
    ]
    inputs = {"x": ("float32", ["n", "m"]), "c": ("int64", ["j"])}
    model = graph_model(nodes, inputs, ["values", "indices"])
    with open_session(model) as session:
        for k in (3, 41, 5, -2, 3):
            fed = {"x": X, "c": np.array([-9, k], np.int64)}
            if 0 <= k <= 40:
                assert_top_k(session.run(None, fed), np.maximum(X, 0), k)
            else:
                with pytest.raises(hipep.HipepError, match=f"K is {k}"):
                    session.run(None, fed)


@pytest.mark.parametrize("memory", MEMORIES)
def test_more_memory_than_there_is(memory):
    model = node_model("Add", {"x": ("float32", ["n", 1]), "y": ("float32", [1, "m"])}, ["z"])
    with open_session(model, memory) as session:
        x = np.ones((1 << 24, 1), "float32")
        with pytest.raises(Exception, match=r"memory|alloc"):
            session.run(None, {"x": x, "y": x.reshape(1, -1)})
        small = session.run(None, {"x": x[:3], "y": x[:2].reshape(1, -1)})[0]
        np.testing.assert_array_equal(small, np.full((3, 2), 2, "float32"))


def debug_lines(k_static):
    _, err = run_program(
        f"""
        model = top_k_model()
        if not {k_static}:
            from onnx import ModelProto
            changed = ModelProto.FromString(model)
            del changed.graph.initializer[:]
            k = helper.make_tensor_value_info("k", TensorProto.INT64, [1])
            changed.graph.input.append(k)
            model = changed.SerializeToString()
        session = hipep.InferenceSession(model, device=DEVICE, strict=True)
        fed = {{"x": X}} if {k_static} else {{"x": X, "k": np.array([2])}}
        for _ in range(2):
            session.run(None, fed)
        print("launches", session.stats.total.launches, file=sys.stderr)
        """,
        HIPEP_DEBUG="1",
    )
    *lines, count = [line for line in err.splitlines() if line]
    return [line for line in lines if line.startswith("hipep: ")], int(count.split()[1])


@pytest.mark.parametrize("k_static", [True, False])
def test_debug_log(k_static):
    lines, launches = debug_lines(k_static)
    assert len(lines) == launches
    for line in lines:
        assert line.startswith("hipep: TopK 'top_k': ")
        assert f"(K {'static' if k_static else 'at run time'})" in line
        for part in ("k=2", "axis=1", "extent=5", "rows=2", "dtype=float32", "grid=", "block="):
            assert part in line, line
