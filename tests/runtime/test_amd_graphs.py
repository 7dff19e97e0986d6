"""Launches that are started as a graph, on a stand-in for the HIP runtime."""

import numpy as np
import pytest
from amd_library import build_hip, install_default, run_amd
from helpers.models import graph_model
from onnx import helper
from runtime_library import kernels_library

NODES = [
    helper.make_node("Add", ["x", "x"], ["sum"]),
    helper.make_node("ReduceMax", ["sum"], ["most"], keepdims=1),
    helper.make_node("TopK", ["sum", "k"], ["values", "indices"]),
    helper.make_node("ReduceMin", ["values"], ["least"], keepdims=1),
    helper.make_node("Sub", ["most", "least"], ["y"]),
]

CODE = """
import numpy as np, hipep, onnxruntime as ort
session = hipep.InferenceSession({model!r}, device="amd:0", strict=True{options})

def bind(size=2_000):
    binding = session.io_binding()
    x = hipep.device_value(np.ones((4, size), "float32"), device=session)
    binding.bind_ortvalue_input("x", x)
    hipep.bind_output(binding, "y", session)
    return binding

def run(binding, times=1):
    "What the last of these runs called."
    for _ in range(times):
        log()
        session.run_with_iobinding(binding)
        assert session.stats.last.launches == 5
    return [line.split()[0].removeprefix("hip") for line in log() if "Query" not in line]

one = bind()
open_amd()
EACH = ["ModuleLaunchKernel"] * 5
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hip")
    install_default(folder)
    code = 'print(Runtime().backend_problem(b"amd").decode())'
    problem = run_amd(folder, code, kernels=kernels_library())
    if problem:
        pytest.skip(problem)
    model = graph_model(NODES, {"x": ("float32", ["n", "m"])}, ["y"], {"k": np.array([3])})
    (folder / "model.onnx").write_bytes(model)
    return folder


def run_bound(folder, code, options=', graph_capture="on"', **settings):
    prelude = CODE.format(model=str(folder / "model.onnx"), options=options)
    return run_amd(folder, prelude + code, kernels=kernels_library(), **settings)


def test_the_third_run_with_the_same_pointers_is_recorded(folder):
    code = """
run(one)
assert run(one) == EACH
session.run_with_iobinding(one)
lines = [line for line in log() if "Query" not in line]
names = [line.split()[0].removeprefix("hip") for line in lines]
assert names == ["StreamBeginCapture", *EACH, "StreamEndCapture", "GraphInstantiateWithFlags",
                 "GraphDestroy", "GraphLaunch"], names
assert len({line.split("stream=")[1].split()[0] for line in lines if "stream=" in line}) == 1
assert lines[0].endswith("mode=2")
kernels = [line.split("kernel=")[1].split()[0] for line in lines if "kernel=" in line]
started = [line.split("kernels=")[1].split()[0] for line in lines if "hipGraphLaunch" in line]
assert started == [",".join(kernels)]
for _ in range(3):
    assert run(one) == ["GraphLaunch"]
assert session.stats.last.plans_built == session.stats.last.device_allocations == 0
log()
session.close()
del one, session
assert len(log("hipGraphExecDestroy")) == 1
"""
    run_bound(folder, code)


def test_other_pointers_are_launched_one_by_one(folder):
    code = """
run(one, 3)
two = bind()
assert run(two) == EACH
assert run(one) == ["GraphLaunch"]  # and is not forgotten
assert run(two)[-1] == "GraphLaunch"
for binding in (one, two, two, one):
    assert run(binding) == ["GraphLaunch"]
"""
    run_bound(folder, code)


def test_the_least_recently_used_graph_is_replaced(folder):
    code = """
bindings = [one] + [bind() for _ in range(4)]
for binding in bindings[:4]:
    run(binding, 3)
run(one)
log()
session.run_with_iobinding(bindings[4])
session.run_with_iobinding(bindings[4])
assert len(log("hipGraphExecDestroy")) == 1
for i in (0, 2, 3, 4):
    assert run(bindings[i]) == ["GraphLaunch"]
assert run(bindings[1]) == EACH
"""
    run_bound(folder, code)


def test_graphs_go_with_their_plan(folder):
    code = """
run(one, 3)
wide = bind(200_000)
session.run_with_iobinding(wide)
assert len(log("hipGraphExecDestroy")) == 1
assert run(one, 2) == EACH
"""
    run_bound(folder, code, ', graph_capture="on", plan_cache_entries=1')


@pytest.mark.parametrize(
    ("call", "result"),
    [
        ("hipStreamBeginCapture", 801),
        ("hipModuleLaunchKernel", 719),
        ("hipStreamEndCapture", 901),
        ("hipGraphInstantiateWithFlags", 2),
        ("hipGraphLaunch", 801),
    ],
)
def test_a_driver_that_fails_is_not_asked_again(folder, call, result):
    code = f"""
run(one, 2)
fail({call!r}, {result})
assert run(one)[-5:] == EACH
assert run(one, 5) == EACH
two = bind()
assert run(two, 5) == EACH
"""
    run_bound(folder, code)


@pytest.mark.parametrize(
    "options", ["", ', graph_capture="off"', ', graph_capture="on", debug=True']
)
def test_where_there_are_no_graphs(folder, options):
    """Few launches gain nothing on this backend, and debugging tells of each launch."""
    run_bound(folder, "run(one)\nfor _ in range(5): assert run(one) == EACH", options)


def test_a_runtime_without_graphs(folder, tmp_path):
    if not (folder / "without").exists():
        build_hip(folder / "without" / "libamdhip64.so.7", "-DFAKE_HIP_NO_GRAPHS")
    code = "run(one)\nfor _ in range(5): assert run(one) == EACH"
    prelude = CODE.format(model=str(folder / "model.onnx"), options=', graph_capture="on"')
    run_amd(folder, prelude + code, "without", kernels=kernels_library())


def test_the_option_changes_on_a_live_session(folder):
    code = """
run(one, 3)
for value, calls in (("off", EACH), ("on", ["GraphLaunch"]), ("auto", EACH)):
    session.set_ep_dynamic_options({"ep.hipexecutionprovider.graph_capture": value})
    assert run(one) == calls
"""
    run_bound(folder, code)


def test_a_stream_that_captures_is_not_asked_how_far_it_has_come(folder):
    """Work is pending, and memory is sought meanwhile: a query would break the capture."""
    code = """
submit = ort.RunOptions()
submit.add_run_config_entry("disable_synchronize_execution_providers", "1")
device = r.open(backend=b"amd")
trim = ctypes.CFUNCTYPE(None)(lambda: r.pool_trim(device))
fake().fake_hip_during_capture(trim)
fake().fake_hip_defer(1)
for _ in range(2):
    session.run_with_iobinding(one, submit)
r.pool_trim(device)
assert "hipStreamQuery" in [line.split()[0] for line in log()]
session.run_with_iobinding(one, submit)
assert log()[-1].startswith("hipGraphLaunch")
"""
    run_bound(folder, code)
