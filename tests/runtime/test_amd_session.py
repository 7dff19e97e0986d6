"""Sessions on the AMD backend, on a stand-in for the HIP runtime: all but what kernels compute."""

import json

import numpy as np
import pytest
from amd_library import run_amd_session
from helpers.models import graph_model, top_k_model
from onnx import helper

CODE = """
import numpy as np, hipep
session = hipep.InferenceSession({model!r}, device="amd:0", strict=True)
feeds = {feeds}
open_amd()
fake().fake_hip_defer(1)
session.run(None, feeds)  # makes what the runs of a stream share
log()
for _ in range(2):
    outputs = session.run(None, feeds)
    lines, last = log(), session.stats.last
    launches = [line for line in lines if line.startswith("hipModuleLaunchKernel")]
    copies = [line for line in lines if line.startswith("hipMemcpyAsync")]
    waits = [line for line in lines if "Synchronize" in line]
    assert len(launches) == last.launches, lines
    assert len(waits) == last.stream_syncs <= last.readbacks + 1, lines
    assert all("kind=4" in line and "stream=-1" not in line for line in copies), lines
    assert len({{line.split(" stream=")[1].split()[0] for line in launches + copies}}) == 1, lines
assert last.plans_built == 0
assert not [line for line in lines if "Malloc" in line or "Create" in line], lines
print(*(line.split("kernel=")[1].split()[0] for line in launches))
print(*(array.shape for array in outputs))
session.close()
"""


def run_session(folder, tmp_path, model, feeds):
    """Run a model three times; the kernels of the last run and the shapes of the outputs."""
    (tmp_path / "model.onnx").write_bytes(model)
    code = CODE.format(model=str(tmp_path / "model.onnx"), feeds=feeds)
    return run_amd_session(folder, code).splitlines()


@pytest.mark.parametrize(
    ("shape", "k"), [((3, 40), 5), ((2, 100_000), 50), ((1, 7), 7), ((64, 3, 5), 2)]
)
@pytest.mark.parametrize("dtype", ["float32", "float16", "int64"])
def test_top_k(hip_folder, tmp_path, dtype, shape, k):
    model = top_k_model(dtype, shape, k, axis=1)
    feeds = f'{{"x": np.ones({shape}, "{dtype}")}}'
    kernels, shapes = run_session(hip_folder, tmp_path, model, feeds)
    assert all(name.startswith("top_k") for name in kernels.split())
    expected = (shape[0], k, *shape[2:])
    assert shapes == f"{expected} {expected}"


def test_elementwise_reductions_and_gather(hip_folder, tmp_path):
    nodes = [
        helper.make_node("Add", ["a", "b"], ["sum"]),
        helper.make_node("Relu", ["sum"], ["relu"]),
        helper.make_node("ArgMax", ["relu"], ["where"], axis=1, keepdims=0),
        helper.make_node("Gather", ["relu", "where"], ["rows"], axis=1),
        helper.make_node("Cast", ["rows"], ["y"], to=11),
    ]
    inputs = {"a": ("float32", [4, 100]), "b": ("float32", [100])}
    feeds = '{"a": np.ones((4, 100), "float32"), "b": np.ones(100, "float32")}'
    kernels, shapes = run_session(hip_folder, tmp_path, graph_model(nodes, inputs, ["y"]), feeds)
    assert len(kernels.split()) >= 5
    assert shapes == "(4, 4)"


def test_selftest_reports_what_differs(hip_folder):
    code = """
import json
from hipep.cli.selftest import main
assert main(["--device", "amd:0", "--op", "Relu", "--op", "TopK", "--json"]) == 1
"""
    result = json.loads(run_amd_session(hip_folder, code))
    assert result["device"]["id"] == "amd:0"
    assert not result["passed"]
    assert result["floors_problem"] == ""
    for entry in result["operators"]:
        assert entry["cases"] > 10
        assert len(entry["failures"]) == entry["cases"]
    relu, top_k = (entry["failures"] for entry in result["operators"])
    assert any("Relu-14 float32, x [3, 5]: output 0 beside the host: " in text for text in relu)
    assert any("K computed" in text and "K is -" in text for text in top_k)


# ---- What a run asks the driver for ------------------------------------------------------------

CALLS = """
import numpy as np, hipep
session = hipep.InferenceSession({model!r}, device="amd:0", strict=True)
open_amd()
for _ in range(3):
    log()
    session.run(None, {{"x": np.ones({shape}, "float32")}})
    print(*(line.split()[0].removeprefix("hip") for line in log()))
last = session.stats.last
print(last.h2d_copies, last.d2h_copies, last.stream_syncs)
"""


def driver_calls(hip_folder, tmp_path, model, shape, **settings):
    """What the first and the third run call, and their copies and waits as counted."""
    (tmp_path / "model.onnx").write_bytes(model)
    code = CALLS.format(model=str(tmp_path / "model.onnx"), shape=shape)
    lines = run_amd_session(hip_folder, code, **settings).splitlines()
    assert lines[1] == lines[2]
    assert lines[3] == "1 2 1"
    return lines[0].split(), lines[2].split()


@pytest.mark.parametrize("integrated", ["0", "1"])
def test_small_tensors_cost_a_launch_and_a_wait(hip_folder, tmp_path, integrated):
    model = top_k_model("float32", (1, 1000), 4, axis=1)
    settings = {"FAKE_HIP_INTEGRATED": integrated}
    first, third = driver_calls(hip_folder, tmp_path, model, (1, 1000), **settings)
    assert third == ["ModuleLaunchKernel", "StreamQuery"]
    # The one kernel file in use is loaded; tensors are in memory that host and device share, and
    # only the stream's tickets are not.
    assert first.count("ModuleLoadData") == first.count("ModuleGetFunction") == 1
    assert first.count("HostMalloc") == 1
    assert first.count("Malloc") == (integrated == "0")


def test_larger_tensors_are_staged(hip_folder, tmp_path):
    model = top_k_model("float32", (1, 4000), 600, axis=1)
    _, third = driver_calls(hip_folder, tmp_path, model, (1, 4000))
    # The values are small, the indices are not.
    assert third == ["MemcpyAsync", "ModuleLaunchKernel", "MemcpyAsync", "StreamQuery"]


def test_an_apu_copies_nothing(hip_folder, tmp_path):
    shape = (64, 100_000)
    model = top_k_model("float32", shape, 50_000, axis=1)
    _, third = driver_calls(hip_folder, tmp_path, model, shape, FAKE_HIP_INTEGRATED="1")
    assert set(third) == {"ModuleLaunchKernel", "StreamQuery"}
    assert third[-1] == "StreamQuery"
    assert third.count("StreamQuery") == 1


def test_modules_are_loaded_when_their_kernels_are_planned(hip_folder, tmp_path):
    nodes = [
        helper.make_node("Add", ["x", "x"], ["sum"]),
        helper.make_node("TopK", ["sum", "k"], ["values", "indices"]),
    ]
    inputs = {"x": ("float32", ["n", "m"])}
    model = graph_model(nodes, inputs, ["values", "indices"], {"k": np.array([2])})
    first, _ = driver_calls(hip_folder, tmp_path, model, (2, 100))
    assert first.count("ModuleLoadData") == 2  # of two kernel files among all


def test_env_says_why_a_gpu_is_skipped(hip_folder):
    code = """
from hipep.cli import env
env.show()
"""
    devices = "gfx1151,gfx803"
    text = run_amd_session(hip_folder, code, FAKE_HIP_DEVICES=devices)
    assert "amd:0      Fake Radeon 0 (gfx1151" in text
    assert "amd:1      cannot be used: no kernels for amd:1 (gfx803)" in text
    assert "-Damd_archs" in text
