"""Values bound by the caller: device memory, preallocated outputs, any alignment, any lifetime."""

import gc

import numpy as np
import onnxruntime as ort
import pytest
from helpers.compare import assert_top_k
from helpers.data import any_bits, random
from helpers.models import graph_model, node_model, top_k_model
from helpers.strict import MEMORIES, device_id, memory_options, open_session
from onnx import helper

import hipep

X = random("float32", (6, 40))


@pytest.fixture(params=MEMORIES)
def memory(request):
    return request.param


@pytest.fixture
def opened(memory):
    sessions = []

    def make(model, **options):
        sessions.append(open_session(model, memory, **options))
        return sessions[-1]

    yield make
    for session in sessions:
        session.close()


def top_k_session(opened, k=3):
    return opened(top_k_model("float32", ["n", "m"], k=k))


def test_device_values_in_and_out(opened, memory):
    session = top_k_session(opened)
    binding = session.io_binding()
    binding.bind_ortvalue_input("x", hipep.device_value(X, device=session))
    for name in ("values", "indices"):
        hipep.bind_output(binding, name, session)
    session.run_with_iobinding(binding)
    outputs = binding.get_outputs()
    assert {value.device_name() == "cpu" for value in outputs} == {memory == "plain"}
    assert_top_k([hipep.to_numpy(value) for value in outputs], X, 3)
    assert session.stats.last.h2d_copies == session.stats.last.d2h_copies == 0


def test_outputs_of_one_run_are_inputs_of_the_next(opened):
    session = opened(node_model("Add", {"x": ("float32", ["n"]), "y": ("float32", ["n"])}, ["z"]))
    one = hipep.device_value(np.ones(100, "float32"), device=session)
    value = one
    for _ in range(50):
        binding = session.io_binding()
        binding.bind_ortvalue_input("x", value)
        binding.bind_ortvalue_input("y", one)
        hipep.bind_output(binding, "z", session)
        session.run_with_iobinding(binding)
        value = binding.get_outputs()[0]
    np.testing.assert_array_equal(hipep.to_numpy(value), np.full(100, 51, "float32"))


def test_one_value_bound_to_two_inputs_and_in_place(opened):
    session = opened(node_model("Mul", {"x": ("float32", ["n"]), "y": ("float32", ["n"])}, ["z"]))
    value = hipep.device_value(np.arange(1000, dtype="float32"), device=session)
    binding = session.io_binding()
    binding.bind_ortvalue_input("x", value)
    binding.bind_ortvalue_input("y", value)
    binding.bind_ortvalue_output("z", value)
    session.run_with_iobinding(binding)
    np.testing.assert_array_equal(hipep.to_numpy(value), np.arange(1000, dtype="float32") ** 2)


def test_preallocated_outputs(opened):
    session = top_k_session(opened)
    values = hipep.device_value((6, 3), "float32", session)
    indices = hipep.device_value((6, 3), "int64", session)
    for seed in range(5):
        x = random("float32", (6, 40), seed)
        binding = session.io_binding()
        binding.bind_ortvalue_input("x", hipep.device_value(x, device=session))
        binding.bind_ortvalue_output("values", values)
        binding.bind_ortvalue_output("indices", indices)
        session.run_with_iobinding(binding)
        assert_top_k([hipep.to_numpy(values), hipep.to_numpy(indices)], x, 3)


def test_preallocated_output_of_a_wrong_shape(opened):
    session = top_k_session(opened)
    binding = session.io_binding()
    binding.bind_ortvalue_input("x", hipep.device_value(X, device=session))
    binding.bind_ortvalue_output("values", hipep.device_value((6, 2), "float32", session))
    hipep.bind_output(binding, "indices", session)
    with pytest.raises(Exception, match="shape"):
        session.run_with_iobinding(binding)
    assert_top_k(session.run(None, {"x": X}), X, 3)


def test_cpu_input_and_output_of_a_binding(opened):
    session = top_k_session(opened)
    binding = session.io_binding()
    x = X.copy()
    binding.bind_cpu_input("x", x)
    binding.bind_output("values", "cpu")
    binding.bind_output("indices", "cpu")
    session.run_with_iobinding(binding)
    assert_top_k(binding.copy_outputs_to_cpu(), X, 3)


@pytest.mark.parametrize("dtype", ["float32", "float16", "float64", "int64", "uint8"])
@pytest.mark.parametrize("offset", [1, 2, 3, 7])
def test_misaligned_inputs(opened, dtype, offset):
    """A view at an odd element, and one at an odd byte where numpy allows it."""
    nodes = [
        helper.make_node("Add", ["x", "x"], ["doubled"]),
        helper.make_node("TopK", ["x", "k"], ["values", "indices"]),
        helper.make_node("ReduceMax", ["x"], ["most"], keepdims=0),
    ]
    outputs = ["doubled", "values", "indices", "most"]
    session = opened(
        graph_model(nodes, {"x": (dtype, ["n"])}, outputs, {"k": np.array([5])}, opset=18)
    )
    whole = random(dtype, 5003, low=0, high=100)
    for x in (whole[offset:], whole[offset : offset + 37]):
        doubled, values, indices, most = session.run(None, {"x": x})
        np.testing.assert_array_equal(doubled, x + x)
        assert_top_k([values, indices], x, 5)
        assert most == x.max()


@pytest.mark.parametrize("offset", [1, 2, 3])
def test_misaligned_preallocated_output(opened, memory, offset):
    if memory == "guarded":
        pytest.skip("device memory is always aligned")
    session = opened(node_model("Add", {"x": ("float32", ["n"]), "y": ("float32", ["n"])}, ["z"]))
    x = random("float32", 1003)
    room = np.zeros(1010, "float32")
    out = room[offset : offset + 1003]
    binding = session.io_binding()
    binding.bind_cpu_input("x", x)
    binding.bind_cpu_input("y", x)
    binding.bind_output("z", "cpu", 0, np.float32, out.shape, out.ctypes.data)
    session.run_with_iobinding(binding)
    np.testing.assert_array_equal(out, x + x)
    assert room[:offset].tolist() == [0] * offset
    assert room[offset + 1003 :].tolist() == [0] * (7 - offset)


@pytest.mark.parametrize("size", [2, 16_000_000], ids=["8 B", "64 MB"])
def test_input_overwritten_right_after_a_run(opened, size):
    session = opened(node_model("Neg", {"x": ("float32", ["n"])}))
    x = np.empty(size, "float32")
    outputs = []
    for i in range(3 if size > 1000 else 200):
        x[:] = i
        outputs.append(session.run(None, {"x": x})[0])
        x[:] = -1
    for i, output in enumerate(outputs):
        assert (output == -i).all()


def test_values_outlive_their_session(opened):
    session = top_k_session(opened)
    binding = session.io_binding()
    value = hipep.device_value(X, device=session)
    binding.bind_ortvalue_input("x", value)
    hipep.bind_output(binding, "values", session)
    hipep.bind_output(binding, "indices", session)
    session.run_with_iobinding(binding)
    outputs = binding.get_outputs()
    session.close()
    del session, binding
    gc.collect()
    assert_top_k([hipep.to_numpy(output) for output in outputs], X, 3)
    np.testing.assert_array_equal(hipep.to_numpy(value), X)
    second = top_k_session(opened, 4)
    assert_top_k(second.run(None, {"x": X}), X, 4)
    np.testing.assert_array_equal(hipep.to_numpy(value), X)


def test_empty_tensors(opened):
    session = opened(top_k_model("float32", ["n", "m"], k=0))
    for shape in ((0, 5), (3, 0), (0, 0)):
        x = np.zeros(shape, "float32")
        binding = session.io_binding()
        binding.bind_ortvalue_input("x", hipep.device_value(x, device=session))
        hipep.bind_output(binding, "values", session)
        hipep.bind_output(binding, "indices", session)
        session.run_with_iobinding(binding)
        assert [list(value.shape()) for value in binding.get_outputs()] == [[shape[0], 0]] * 2


def test_large_values_make_the_round_trip(memory):
    for dtype in ("float32", "uint8", "int64"):
        array = any_bits(dtype, (3_000_001,))
        value = hipep.device_value(array, device=device_id(), **memory_options(memory))
        assert hipep.to_numpy(value).tobytes() == array.tobytes()


def test_copies_between_values(memory):
    first = hipep.device_value(X, device=device_id(), **memory_options(memory))
    second = hipep.device_value(X.shape, "float32", device_id(), **memory_options(memory))
    if memory == "plain":
        pytest.skip("plain memory is onnxruntime's own")
    ort.copy_tensors([first], [second])
    np.testing.assert_array_equal(hipep.to_numpy(second), X)


def test_dlpack_of_outputs(opened, memory):
    session = top_k_session(opened)
    binding = session.io_binding()
    binding.bind_ortvalue_input("x", hipep.device_value(X, device=session))
    hipep.bind_output(binding, "values", session)
    hipep.bind_output(binding, "indices", session)
    session.run_with_iobinding(binding)
    outputs = binding.get_outputs()
    if memory == "guarded":
        with pytest.raises(hipep.HipepError, match="guarded"):
            hipep.dlpack(outputs[0], session)
        return
    exported = [hipep.dlpack(output, session) for output in outputs]
    if memory == "device":
        torch = pytest.importorskip("torch", reason="numpy reads no memory of a GPU")
        assert_top_k([torch.from_dlpack(value).cpu().numpy() for value in exported], X, 3)
    else:
        assert_top_k([np.from_dlpack(value) for value in exported], X, 3)


def test_dlpack_in(opened):
    session = top_k_session(opened)
    value = hipep.device_value(np.from_dlpack(X), device=session)
    outputs = session.run_with_ort_values(None, {"x": value})
    assert_top_k([hipep.to_numpy(output) for output in outputs], X, 3)


def test_run_options_with_a_binding(opened, memory):
    session = top_k_session(opened)
    binding = session.io_binding()
    binding.bind_ortvalue_input("x", hipep.device_value(X, device=session))
    hipep.bind_output(binding, "values", session)
    hipep.bind_output(binding, "indices", session)
    options = ort.RunOptions()
    options.add_run_config_entry("disable_synchronize_execution_providers", "1")
    for _ in range(3):
        session.run_with_iobinding(binding, options)
        if memory != "plain":
            assert session.stats.last.stream_syncs == 0
    binding.synchronize_outputs()
    assert_top_k([hipep.to_numpy(value) for value in binding.get_outputs()], X, 3)


@pytest.mark.skipif(
    tuple(map(int, ort.__version__.split(".")[:2])) < (1, 31),
    reason="this onnxruntime's bindings do not know their session",
)
def test_binding_of_another_session(opened):
    first, second = top_k_session(opened), top_k_session(opened)
    with pytest.raises(ValueError, match="whose io_binding"):
        second.run_with_iobinding(first.io_binding())
