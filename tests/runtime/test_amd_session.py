"""Sessions on the AMD backend, on a stand-in for the HIP runtime: all but what kernels compute."""

import json

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
    """Run a model twice; the kernels of the second run and the shapes of the outputs."""
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
