"""What runs cost: readbacks, waits, allocations, plans."""

import inspect

import numpy as np
import onnxruntime as ort
import pytest
from helpers.compare import assert_top_k
from helpers.data import random
from helpers.models import graph_model, top_k_model
from helpers.strict import MEMORIES, device_id, open_session
from onnx import ModelProto, TensorProto, helper

import hipep

X = random("float32", (6, 40))
K_FROM_DEVICE = [
    helper.make_node("ReduceMax", ["c"], ["k"], keepdims=1),
    helper.make_node("TopK", ["x", "k"], ["values", "indices"]),
]


@pytest.fixture
def opened():
    """Sessions that are closed after the test."""
    sessions = []

    def make(model, memory=MEMORIES[-1], **options):
        sessions.append(open_session(model, memory, **options))
        return sessions[-1]

    yield make
    for session in sessions:
        session.close()


def device_k_model():
    """K is the maximum of an input that no shape depends on."""
    inputs = {"x": ("float32", ["n", "m"]), "c": ("int64", ["j"])}
    return graph_model(K_FROM_DEVICE, inputs, ["values", "indices"])


def k_of(k):
    return np.array([k], np.int64)


def bound(session, x, k):
    """A binding whose inputs are OrtValues and whose outputs stay on the device."""
    binding = session.io_binding()
    binding.bind_ortvalue_input("x", x)
    binding.bind_ortvalue_input("k", k)
    for name in ("values", "indices"):
        hipep.bind_output(binding, name, session)
    return binding


def outputs_of(binding):
    return [hipep.to_numpy(value) for value in binding.get_outputs()]


def check_steady(session, run, readbacks):
    run()
    launches = session.stats.last.launches
    for _ in range(3):
        run()
        last = session.stats.last
        assert last.device_allocations == 0
        assert last.plans_built == 0
        assert last.stream_syncs <= readbacks + 1
        assert last.launches == launches
        assert last.readbacks == readbacks


@pytest.mark.parametrize("memory", MEMORIES)
def test_constant_k(opened, memory):
    session = opened(top_k_model("float32", ["n", "m"], k=3), memory)
    check_steady(session, lambda: session.run(None, {"x": X}), 0)
    assert_top_k(session.run(None, {"x": X}), X, 3)


@pytest.mark.parametrize("memory", MEMORIES)
@pytest.mark.parametrize("declared", [0, 1], ids=["values", "indices"])
def test_k_from_the_static_extent_of_an_output(opened, memory, declared):
    outputs = ["values", "indices"]
    outputs[declared] = (outputs[declared], ("float32", "int64")[declared], ["n", 3])
    model = top_k_model("float32", ["n", "m"], outputs=outputs)
    session = opened(model, memory)
    check_steady(session, lambda: session.run(None, {"x": X, "k": k_of(3)}), 0)
    assert_top_k(session.run(None, {"x": X, "k": k_of(3)}), X, 3)


@pytest.mark.parametrize("memory", MEMORIES)
def test_another_k_than_the_static_extent(opened, memory):
    outputs = [("values", "float32", ["n", 3]), "indices"]
    session = opened(top_k_model("float32", ["n", "m"], outputs=outputs), memory)
    with pytest.raises(hipep.HipepError, match="K is 5, but the extent of the result is 3"):
        session.run(None, {"x": X, "k": k_of(5)})
    assert_top_k(session.run(None, {"x": X, "k": k_of(3)}), X, 3)


@pytest.mark.parametrize("memory", MEMORIES)
def test_fed_k(opened, memory):
    session = opened(top_k_model("float32", ["n", "m"]), memory)
    for k in (3, 0, 40, 7):
        assert_top_k(session.run(None, {"x": X, "k": k_of(k)}), X, k)
        assert session.stats.last.readbacks == 0
    check_steady(session, lambda: session.run(None, {"x": X, "k": k_of(3)}), 0)


def test_k_made_on_the_device(opened):
    session = opened(device_k_model())
    feeds = {"x": X, "c": np.array([2, 5, 1], np.int64)}
    check_steady(session, lambda: session.run(None, feeds), 1)
    assert_top_k(session.run(None, feeds), X, 5)


def test_500_different_k_made_on_the_device(opened):
    session = opened(device_k_model())
    x = random("float32", (2, 500), low=-1, high=1)
    for k in range(500):
        values = session.run(None, {"x": x, "c": np.array([0, k], np.int64)})
        assert_top_k(values, x, k)
        assert session.stats.last.readbacks == 1
    assert session.stats.total.device_allocations <= 12


def test_k_bound_in_device_memory(opened):
    session = opened(top_k_model("float32", ["n", "m"]))
    x, k = (hipep.device_value(array, device=session) for array in (X, k_of(4)))
    binding = bound(session, x, k)
    # A GPU's small blocks are in memory that the host reads too.
    readbacks = 1 if MEMORIES[-1] == "guarded" else 0
    check_steady(session, lambda: session.run_with_iobinding(binding), readbacks)
    assert_top_k(outputs_of(binding), X, 4)
    assert session.stats.last.h2d_copies == session.stats.last.d2h_copies == 0


def test_bound_k_that_changes_between_runs(opened):
    """Knowledge of an earlier run is not used: the value follows the copy."""
    session = opened(top_k_model("float32", ["n", "m"]))
    session.run(None, {"x": X, "k": k_of(2)})
    x, k = (hipep.device_value(array, device=session) for array in (X, k_of(4)))
    for new in (4, 9, 1, 4):
        ort.copy_tensors([ort.OrtValue.ortvalue_from_numpy(k_of(new))], [k])
        binding = bound(session, x, k)
        session.run_with_iobinding(binding)
        assert_top_k(outputs_of(binding), X, new)


def test_fed_and_bound_k_by_turns(opened):
    """A fed K may get the address that a bound one had, and the other way round."""
    session = opened(top_k_model("float32", ["n", "m"]))
    for k in range(1, 12):
        assert_top_k(session.run(None, {"x": X, "k": k_of(k)}), X, k)
        value = hipep.device_value(k_of(40 - k), device=session)
        binding = bound(session, hipep.device_value(X, device=session), value)
        session.run_with_iobinding(binding)
        assert_top_k(outputs_of(binding), X, 40 - k)
        del binding, value


def host_accessible(array):
    listed = [
        device
        for device in ort.get_ep_devices()
        if device.ep_metadata.get("hipep.memory") == MEMORIES[-1]
        and device.ep_metadata.get("hipep.device") == device_id()
    ]
    info = listed[0].memory_info(ort.OrtDeviceMemoryType.HOST_ACCESSIBLE)
    make = ort.OrtValue.ortvalue_from_shape_and_type
    if "memory_info" not in inspect.signature(make).parameters:
        pytest.skip("this onnxruntime makes no values in memory of a given kind")
    value = make(array.shape, array.dtype, memory_info=info)
    value.numpy()[...] = array
    return value


def test_k_in_host_accessible_memory(opened):
    session = opened(top_k_model("float32", ["n", "m"]))
    x = hipep.device_value(X, device=session)
    k = host_accessible(k_of(4))
    binding = bound(session, x, k)
    check_steady(session, lambda: session.run_with_iobinding(binding), 0)
    assert_top_k(outputs_of(binding), X, 4)
    k.numpy()[0] = 6
    binding = bound(session, x, k)  # a bound output keeps the shape of its first run
    session.run_with_iobinding(binding)
    assert_top_k(outputs_of(binding), X, 6)


def test_k_made_by_a_cpu_node(opened):
    """It comes through MemcpyFromHost, which keeps it."""
    nodes = [
        helper.make_node("StringSplit", ["s"], ["parts", "count"], delimiter=","),
        helper.make_node("TopK", ["x", "count"], ["values", "indices"]),
    ]
    inputs = {"x": ("float32", ["n", "m"])}
    model = ModelProto.FromString(graph_model(nodes, inputs, ["values", "indices"]))
    model.graph.input.append(helper.make_tensor_value_info("s", TensorProto.STRING, [1]))
    session = open_session(model.SerializeToString(), MEMORIES[-1], strict=False)
    for text, k in (("a,b,c", 3), ("a", 1), ("a,b", 2)):
        assert_top_k(session.run(None, {"x": X, "s": np.array([text], object)}), X, k)
        assert session.stats.last.readbacks == 0
    session.close()


def decode_model():
    nodes = [
        helper.make_node("Add", ["x", "x"], ["sum"]),
        helper.make_node("Relu", ["sum"], ["positive"]),
        helper.make_node("Shape", ["x"], ["shape"]),
        helper.make_node("Gather", ["shape", "last"], ["extent"]),
        helper.make_node("Min", ["extent", "limit"], ["k"]),
        helper.make_node("TopK", ["positive", "k"], ["values", "indices"]),
        helper.make_node("Add", ["values", "values"], ["y"]),
    ]
    constants = {"last": np.array([1]), "limit": np.array([64])}
    return graph_model(nodes, {"x": ("float32", ["n", "m"])}, ["y", "indices"], constants)


def expected_decode(x):
    order = np.argsort(-np.maximum(x + x, 0), axis=-1, kind="stable")[:, : min(64, x.shape[1])]
    values = np.take_along_axis(np.maximum(x + x, 0), order, -1)
    return values + values, order


def test_1000_growing_extents(opened):
    session = opened(decode_model())
    data = random("float32", (2, 1000), low=-1, high=1)
    for extent in range(1, 1001):
        x = data[:, :extent]
        outputs = session.run(None, {"x": x})
        if extent % 50 == 0:
            for actual, expected in zip(outputs, expected_decode(x), strict=True):
                np.testing.assert_array_equal(actual, expected)
        assert session.stats.last.readbacks == 0
    total = session.stats.total
    assert total.device_allocations <= 12
    assert total.plans_built == 1000


@pytest.mark.parametrize("entries", [1, 3])
def test_plan_cache_is_bounded_in_entries(opened, entries):
    session = opened(decode_model(), plan_cache_entries=entries)
    shapes = [random("float32", (2, 10 + i), low=-1, high=1) for i in range(entries)]
    for _ in range(2):
        for x in shapes:
            session.run(None, {"x": x})
    assert session.stats.total.plans_built == entries
    session.run(None, {"x": X})
    session.run(None, {"x": shapes[0]})
    assert session.stats.last.plans_built == 1


def test_plan_cache_is_bounded_in_bytes(opened):
    session = opened(decode_model(), plan_cache_bytes=1)
    for _ in range(2):
        for x in (X, X[:3]):
            outputs = session.run(None, {"x": x})
            np.testing.assert_array_equal(outputs[0], expected_decode(x)[0])
            assert session.stats.last.plans_built == 1


def test_totals_are_the_sums_of_the_runs(opened):
    session = opened(decode_model())
    sums = hipep.RunStats().to_dict()
    for extent in (5, 9, 5, 30):
        session.run(None, {"x": X[:, :extent]})
        for name, count in session.stats.last.to_dict().items():
            sums[name] += count
    assert session.stats.total.to_dict() == sums
    assert sums["plan_hits"] == 1
    assert sums["plans_built"] == 3
