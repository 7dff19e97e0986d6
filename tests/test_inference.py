"""The session, registration and device values, as Python users meet them."""

import logging
import threading

import numpy as np
import onnxruntime as ort
import pytest
from onnx import TensorProto, helper

import hipep
from hipep.errors import HipepError, NotOnGpu, OptionError, RegistrationError

MEMORIES = ("plain", "guarded")
X = np.array([[3, 1, 5, 2, 4], [0, 9, 8, 7, 6]], "float32")


def make_model(mixed=False, axis=-1, k=2):
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 5])]
    outputs = [
        helper.make_tensor_value_info("v", TensorProto.FLOAT, None),
        helper.make_tensor_value_info("i", TensorProto.INT64, None),
    ]
    nodes = [helper.make_node("TopK", ["x", "k"], ["v", "i"], name="topk0", axis=axis)]
    if mixed:
        # No device computes on strings, so this node stays on the CPU for good.
        inputs.append(helper.make_tensor_value_info("s", TensorProto.STRING, [1]))
        outputs.append(helper.make_tensor_value_info("t", TensorProto.STRING, [1]))
        nodes.append(helper.make_node("StringConcat", ["s", "s"], ["t"], name="twice"))
    constant = helper.make_tensor("k", TensorProto.INT64, [1], [k])
    graph = helper.make_graph(nodes, "g", inputs, outputs, [constant])
    opsets = [helper.make_opsetid("", 20)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9).SerializeToString()


def check_top_2(outputs):
    np.testing.assert_array_equal(outputs[0], [[5, 4], [9, 8]])
    np.testing.assert_array_equal(outputs[1], [[2, 4], [1, 2]])


def test_register_is_idempotent_and_thread_safe():
    threads = [threading.Thread(target=hipep.register) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    hipep.register()
    assert hipep.get_ep_name() in [entry.ep_name for entry in ort.get_ep_devices()]
    assert hipep.get_ep_names() == [hipep.get_ep_name()]


@pytest.mark.parametrize("version", ["1.23.2", "1.9", "unknown"])
def test_old_onnxruntime_is_refused(monkeypatch, version):
    from hipep.api import import_onnxruntime

    monkeypatch.setattr(ort, "__version__", version)
    with pytest.raises(RegistrationError, match='pip install "onnxruntime>=') as caught:
        import_onnxruntime()
    assert version in str(caught.value)


@pytest.mark.parametrize("version", ["1.24.0", "1.32.0.dev20260901+cpu", "2.0rc1"])
def test_new_onnxruntime_is_accepted(monkeypatch, version):
    from hipep.api import import_onnxruntime

    monkeypatch.setattr(ort, "__version__", version)
    assert import_onnxruntime() is ort


@pytest.mark.parametrize("memory", MEMORIES)
def test_run_report_and_stats(memory):
    with hipep.InferenceSession(make_model(), device="host", host_memory=memory) as session:
        assert session.stats.last.launches == 0
        check_top_2(session.run(None, {"x": X}))
        assert session.report.coverage == "1/1 nodes on host"
        assert session.report.folded == []
        assert session.stats.last.launches >= 1
        total = session.stats.total
        check_top_2(session.run(None, {"x": X}))
        assert (session.stats.total - total).plan_hits >= 1
        assert session.stats.last.plans_built == 0
        assert session.stats.last.h2d_copies == (0 if memory == "plain" else 1)


def test_strict_session_is_refused_with_reasons():
    with pytest.raises(NotOnGpu) as caught:
        hipep.InferenceSession(make_model(mixed=True), device="host", strict=True)
    assert "StringConcat x 1" in str(caught.value)
    assert caught.value.report.coverage == "1/2 nodes on host"
    assert caught.value.__cause__ is not None


def test_strict_session_that_fits_runs():
    with hipep.InferenceSession(make_model(), device="host", strict=True) as session:
        check_top_2(session.run(None, {"x": X}))


def test_one_warning_if_a_named_device_does_not_run_all(caplog):
    caplog.set_level(logging.INFO, "hipep")
    hipep.InferenceSession(make_model(mixed=True), device="host").close()
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert record.getMessage().startswith("1 of 2 nodes on host; 1 on the CPU: StringConcat x 1")


def test_no_warning_if_all_nodes_fit(caplog):
    caplog.set_level(logging.WARNING, "hipep")
    hipep.InferenceSession(make_model(), device="host").close()
    assert not caplog.records


@pytest.mark.skipif(hipep.devices()[0].is_gpu, reason="this machine has a GPU")
def test_without_a_gpu_the_host_is_chosen_and_said_so(caplog):
    caplog.set_level(logging.INFO, "hipep")
    with hipep.InferenceSession(make_model()) as session:
        check_top_2(session.run(None, {"x": X}))
        assert session.device.id == "host"
    (record,) = caplog.records
    assert record.levelno == logging.INFO
    assert record.getMessage().startswith("no GPU can be used")


def test_closed_session():
    session = hipep.InferenceSession(make_model(), device="host")
    session.run(None, {"x": X})
    binding = session.io_binding()
    session.close()
    session.close()
    for call in (
        lambda: session.run(None, {"x": X}),
        lambda: session.run_with_ort_values(None, {}),
        lambda: session.run_with_iobinding(binding),
        session.io_binding,
    ):
        with pytest.raises(HipepError, match="closed"):
            call()
    assert session.stats.last.launches >= 1
    assert session.report.coverage == "1/1 nodes on host"
    assert "closed" in repr(session)


@pytest.mark.parametrize("memory", MEMORIES)
def test_device_values(memory):
    import ml_dtypes

    for dtype in ("float32", "float16", "float64", "int64", "uint8", "bool", ml_dtypes.bfloat16):
        array = X.astype(dtype)
        value = hipep.device_value(array, device="host", host_memory=memory)
        assert (value.device_name() == "cpu") == (memory == "plain")
        np.testing.assert_array_equal(hipep.to_numpy(value), array)
    empty = hipep.device_value(np.zeros((0, 3), "float32"), device="host", host_memory=memory)
    assert list(empty.shape()) == [0, 3]
    room = hipep.device_value((2, 3), "int64", "host", host_memory=memory)
    assert (list(room.shape()), room.data_type()) == ([2, 3], "tensor(int64)")
    scalar = hipep.device_value(np.float32(2), device="host", host_memory=memory)
    assert list(scalar.shape()) == []


def test_bad_shape_is_refused():
    with pytest.raises(OptionError, match="negative"):
        hipep.device_value((2, -1), device="host")


@pytest.mark.parametrize("memory", MEMORIES)
def test_outputs_of_unknown_shape_stay_on_the_device(memory):
    with hipep.InferenceSession(make_model(), device="host", host_memory=memory) as session:
        binding = session.io_binding()
        binding.bind_ortvalue_input("x", hipep.device_value(X, device=session))
        hipep.bind_output(binding, "v", session)
        hipep.bind_output(binding, "i", "host", host_memory=memory)
        session.run_with_iobinding(binding)
        outputs = binding.get_outputs()
        assert {value.device_name() == "cpu" for value in outputs} == {memory == "plain"}
        check_top_2([hipep.to_numpy(value) for value in outputs])
        del binding, outputs


def test_dlpack_shares_plain_memory():
    value = hipep.device_value(X, device="host", host_memory="plain")
    exported = hipep.dlpack(value, "host")
    assert exported.__dlpack_device__() == (1, 0)
    np.testing.assert_array_equal(np.from_dlpack(exported), X)


def test_dlpack_refuses_guarded_memory():
    value = hipep.device_value(X, device="host", host_memory="guarded")
    with pytest.raises(HipepError, match="guarded"):
        hipep.dlpack(value, "host")


def test_session_options_serve_plain_and_own_sessions():
    options = hipep.session_options("host", plan_cache_entries=4)
    plain = ort.InferenceSession(make_model(), options)
    check_top_2(plain.run(None, {"x": X}))
    for _ in range(2):
        with hipep.InferenceSession(make_model(), sess_options=options) as session:
            check_top_2(session.run(None, {"x": X}))
            assert session.report.coverage == "1/1 nodes on host"
    with pytest.raises(OptionError, match="already select 'host'"):
        hipep.session_options("host", base=options, host_memory="guarded")


@pytest.mark.parametrize(
    ("arguments", "options", "part"),
    [
        ((b"",), {}, "empty"),
        ((b"garbage",), {}, "given as 7 bytes"),
        (("/nowhere/m.onnx",), {}, "'/nowhere/m.onnx' does not exist"),
        ((5,), {}, "SerializeToString"),
        ((make_model(axis=5),), {}, "node 'topk0' (TopK): axis 5 is outside [-2, 1]"),
        ((make_model(k=7),), {}, "node 'topk0' (TopK): K = 7 is outside [0, 5]"),
        ((make_model(),), {"host_mod": "serial"}, "did you mean 'host_mode'?"),
        ((make_model(),), {"providers": []}, "device= chooses the provider"),
    ],
)
def test_bad_arguments_are_explained(arguments, options, part):
    with pytest.raises(HipepError) as caught:
        hipep.InferenceSession(*arguments, device="host", **options)
    assert part in str(caught.value)


def test_session_options_in_the_place_of_a_device():
    with pytest.raises(OptionError, match="sess_options="):
        hipep.InferenceSession(make_model(), ort.SessionOptions())


def test_the_device_of_a_session_is_fixed():
    session = hipep.InferenceSession(make_model(), device="host")
    with session, pytest.raises(HipepError, match="make a new session"):
        session.set_providers(["CPUExecutionProvider"])
