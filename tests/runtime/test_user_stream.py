"""Sessions that work on a stream that the caller made."""

from ctypes import byref, c_void_p

import numpy as np
import pytest
from amd_library import run_amd_session
from helpers.models import graph_model, top_k_model
from onnx import helper

import hipep

SESSION = """
import numpy as np, hipep
open_amd()
user = c_void_p()
assert fake().hipStreamCreateWithFlags(byref(user), 1) == OK

def number(line):
    return line.split(" stream=")[1].split()[0]

log()
session = hipep.InferenceSession({model!r}, device="amd:0", user_compute_stream=user.value)
lines = log()
for _ in range(3):
    outputs = session.run(None, {feeds})
    lines += log()
session.close()
import gc
gc.collect()
lines += log()
work = [line for line in lines if " stream=" in line]
kinds = {{line.split()[0] for line in work}}
assert {{"hipMemcpyAsync", "hipModuleLaunchKernel", "hipStreamSynchronize"}} <= kinds, kinds
assert not [line for line in lines if "StreamCreate" in line or "StreamDestroy" in line], lines
assert {{number(line) for line in work}} == {{"0"}}, work
print(len(work))
"""


def run_on_a_stream(folder, tmp_path, model, feeds):
    (tmp_path / "model.onnx").write_bytes(model)
    code = SESSION.format(model=str(tmp_path / "model.onnx"), feeds=feeds)
    assert int(run_amd_session(folder, code)) > 5


def test_all_work_of_a_session_is_on_the_stream(hip_folder, tmp_path):
    model = top_k_model("float32", [3, 40], 5, axis=1)
    run_on_a_stream(hip_folder, tmp_path, model, '{"x": np.ones((3, 40), "float32")}')


def test_copies_around_nodes_of_the_cpu_are_on_the_stream(hip_folder, tmp_path):
    nodes = [
        helper.make_node("Neg", ["x"], ["negative"]),
        helper.make_node("Sin", ["negative"], ["on_the_cpu"]),
        helper.make_node("Add", ["on_the_cpu", "one"], ["sum"]),
    ]
    constants = {"one": np.ones(100, "float32")}
    model = graph_model(nodes, {"x": ("float32", [100])}, ["sum"], constants)
    run_on_a_stream(hip_folder, tmp_path, model, '{"x": np.ones(100, "float32")}')


def test_the_stream_may_be_gone_when_the_session_is_freed(hip_folder, tmp_path):
    (tmp_path / "model.onnx").write_bytes(top_k_model("float32", [3, 40], 5, axis=1))
    code = f"""
import gc, numpy as np, hipep
open_amd()
user = c_void_p()
fake().hipStreamCreateWithFlags(byref(user), 1)
session = hipep.InferenceSession(
    {str(tmp_path / "model.onnx")!r}, device="amd:0", user_compute_stream=user.value)
session.run(None, {{"x": np.ones((3, 40), "float32")}})
log()
session.close()
gc.collect()
assert not log("hipStreamSynchronize", "hipStreamQuery", "hipStreamDestroy")
"""
    run_amd_session(hip_folder, code)


def test_runs_take_turns(hip_folder, tmp_path):
    (tmp_path / "model.onnx").write_bytes(top_k_model("float32", ["n", 40], 5, axis=1))
    code = f"""
import numpy as np, hipep
open_amd()
user = c_void_p()
fake().hipStreamCreateWithFlags(byref(user), 1)
fake().fake_hip_defer(1)
session = hipep.InferenceSession(
    {str(tmp_path / "model.onnx")!r}, device="amd:0", user_compute_stream=user.value)
log()
shapes = []

def work(rows):
    for _ in range(30):
        shapes.append((rows, session.run(None, {{"x": np.ones((rows, 40), "float32")}})[0].shape))

threads = [threading.Thread(target=work, args=(rows,)) for rows in (1, 2, 3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert shapes and all(shape == (rows, 5) for rows, shape in shapes)
order = [line.split()[0] for line in log("hipModuleLaunchKernel", "hipStreamSynchronize")]
assert order.count("hipModuleLaunchKernel") == 90
assert not any(call == after == "hipModuleLaunchKernel" for call, after in zip(order, order[1:]))
"""
    run_amd_session(hip_folder, code)


def test_the_host_has_no_such_streams(runtime, device):
    with pytest.raises(hipep.OptionError, match="leave it out, or name a GPU"):
        hipep.InferenceSession(top_k_model("float32", [4], 2), "host", user_compute_stream=4096)
    with pytest.raises(hipep.OptionError, match="a stream of a GPU, and the device is 'host'"):
        hipep.session_options("host", user_compute_stream=4096)
    assert runtime.stream_wrap(device, 4096, byref(c_void_p())) == 1
    assert "leave out user_compute_stream" in runtime.error()
