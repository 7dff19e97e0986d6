"""Sessions on the AMD backend, on a stand-in for the HIP runtime: all but what kernels compute."""

import pytest
from amd_library import install_default, run_amd
from helpers.models import graph_model, top_k_model
from onnx import helper
from runtime_library import kernels_library

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


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hip")
    install_default(folder)
    code = 'print(Runtime().backend_problem(b"amd").decode())'
    problem = run_amd(folder, code, kernels=kernels_library())
    if problem:
        pytest.skip(problem)
    return folder


def run_session(folder, tmp_path, model, feeds):
    """Run a model three times; the kernels of the last run and the shapes of the outputs."""
    (tmp_path / "model.onnx").write_bytes(model)
    code = CODE.format(model=str(tmp_path / "model.onnx"), feeds=feeds)
    return run_amd(folder, code, kernels=kernels_library()).splitlines()


@pytest.mark.parametrize(
    ("shape", "k"), [((3, 40), 5), ((2, 100_000), 50), ((1, 7), 7), ((64, 3, 5), 2)]
)
@pytest.mark.parametrize("dtype", ["float32", "float16", "int64"])
def test_top_k(folder, tmp_path, dtype, shape, k):
    model = top_k_model(dtype, shape, k, axis=1)
    feeds = f'{{"x": np.ones({shape}, "{dtype}")}}'
    kernels, shapes = run_session(folder, tmp_path, model, feeds)
    assert all(name.startswith("top_k") for name in kernels.split())
    expected = (shape[0], k, *shape[2:])
    assert shapes == f"{expected} {expected}"


def test_elementwise_reductions_and_gather(folder, tmp_path):
    nodes = [
        helper.make_node("Add", ["a", "b"], ["sum"]),
        helper.make_node("Relu", ["sum"], ["relu"]),
        helper.make_node("ArgMax", ["relu"], ["where"], axis=1, keepdims=0),
        helper.make_node("Gather", ["relu", "where"], ["rows"], axis=1),
        helper.make_node("Cast", ["rows"], ["y"], to=11),
    ]
    inputs = {"a": ("float32", [4, 100]), "b": ("float32", [100])}
    feeds = '{"a": np.ones((4, 100), "float32"), "b": np.ones(100, "float32")}'
    kernels, shapes = run_session(folder, tmp_path, graph_model(nodes, inputs, ["y"]), feeds)
    assert len(kernels.split()) >= 5
    assert shapes == "(4, 4)"
