"""Sessions that run out of memory: by their own limit, and on a device that is too small."""

import re

import numpy as np
import pytest
from amd_library import run_amd_session
from helpers.models import graph_model, node_model
from helpers.strict import MEMORIES, device_id, open_session
from onnx import helper

import hipep

ROWS = np.ones((1000, 1000), "float32")  # 4 MB


def weights_model(size):
    """Add a constant of so many floats."""
    constants = {"weights": np.zeros(size, "float32")}
    node = helper.make_node("Add", ["x", "weights"], ["y"], name="add")
    return graph_model([node], {"x": ("float32", [1])}, ["y"], constants)


def chain_model():
    """Two reductions whose operand lies between nodes."""
    nodes = [
        helper.make_node("Neg", ["x"], ["negative"], name="neg"),
        helper.make_node("ReduceMax", ["negative"], ["y"], name="most", keepdims=0),
    ]
    return graph_model(nodes, {"x": ("float32", ["n", "m"])}, ["y"])


@pytest.fixture(params=MEMORIES)
def memory(request):
    return request.param


def test_weights_that_exceed_the_limit(memory):
    with pytest.raises(hipep.HipOutOfMemory) as caught:
        open_session(weights_model(1_000_000), memory, memory_limit="1MiB")
    text = str(caught.value)
    assert "'weights'" in text
    assert "of the 1048576 bytes that memory_limit allows" in text
    assert caught.value.requested >= 4_000_000
    assert 0 <= caught.value.free <= 2**20
    with open_session(weights_model(1_000_000), memory) as session:
        (y,) = session.run(None, {"x": np.ones(1, "float32")})
        assert (y == 1).all()


def test_a_run_that_exceeds_the_limit_leaves_the_session_usable(memory):
    with open_session(chain_model(), memory, memory_limit=2**20) as session:
        small = ROWS[:10, :10]
        assert session.run(None, {"x": small})[0] == -1
        for _ in range(3):
            with pytest.raises(hipep.HipOutOfMemory, match="memory_limit allows"):
                session.run(None, {"x": np.ones((2000, 2000), "float32")})
            assert session.run(None, {"x": small})[0] == -1


def test_a_failed_output_names_node_and_output():
    model = node_model("Neg", {"x": ("float32", ["n", "m"])})
    session = open_session(model, MEMORIES[-1], memory_limit=8_000_000)
    with session, pytest.raises(hipep.HipOutOfMemory) as caught:
        session.run(None, {"x": ROWS})
    if device_id() == "host":  # elsewhere the input may be what has no room
        assert "Neg 'node', output 'y' (float32[1000,1000]): out of memory: no room" in str(
            caught.value
        )
        assert caught.value.node == "node"
    assert caught.value.requested >= 4_000_000


def test_the_limit_ends_with_the_session(memory):
    model = chain_model()
    with open_session(model, memory, memory_limit=2**20):
        pass
    with open_session(model, memory) as session:
        assert session.run(None, {"x": ROWS})[0] == -1


def test_growing_shapes_need_no_room_for_two_arenas(memory):
    """At the limit the old arena is given back before the new one is taken."""
    with open_session(chain_model(), memory, memory_limit=20_000_000) as session:
        for rows in (500, 1000, 1400, 1800, 2000):
            x = np.ones((rows, 1000), "float32")
            assert session.run(None, {"x": x})[0] == -1


def test_limit_on_a_live_session():
    with open_session(chain_model(), MEMORIES[0]) as session:
        key = f"ep.{hipep.get_ep_name().lower()}.memory_limit"
        if not hasattr(session._sess, "set_ep_dynamic_options"):
            return
        session._sess.set_ep_dynamic_options({key: "1MiB"})
        with pytest.raises(hipep.HipOutOfMemory):
            session.run(None, {"x": ROWS})


def test_plain_onnxruntime_takes_the_option(tmp_path):
    import onnxruntime as ort

    options = hipep.session_options(device=device_id(), memory_limit="1 MiB")
    with pytest.raises(Exception, match="of the 1048576 bytes that memory_limit allows"):
        ort.InferenceSession(weights_model(1_000_000), options)


# ---- A small GPU ----

SMALL = {"FAKE_HIP_MEMORY": "8000000"}
REFUSED = """
import numpy as np, hipep
try:
    session = hipep.InferenceSession({model!r}, device="amd:0", strict=True)
    session.run(None, {{"x": np.ones({shape}, "float32")}})
except hipep.HipError as error:
    assert type(error) is hipep.{error}, error
    print(error)
    print(getattr(error, "requested", None), getattr(error, "free", None))
else:
    print("nothing was refused")
"""


def refused(folder, model, shape, error="HipOutOfMemory", prepare="", **environment):
    path = folder / "model.onnx"
    path.write_bytes(model)
    code = prepare + REFUSED.format(model=str(path), shape=shape, error=error)
    return run_amd_session(folder, code, **environment).splitlines()


def test_weights_that_a_small_gpu_has_no_room_for(hip_folder):
    text, numbers = refused(hip_folder, weights_model(3_000_000), (1,), **SMALL)
    assert "'weights'" in text
    found = re.search(r"no room for (12058624) bytes on amd:0: (\d+) of 8000000 are free", text)
    assert found
    assert numbers.split() == list(found.groups())


def test_values_that_a_small_gpu_has_no_room_for(hip_folder):
    text, numbers = refused(hip_folder, chain_model(), (1000, 2000), **SMALL)
    assert "no room for" in text
    assert "are free" in text
    assert int(numbers.split()[0]) >= 8_000_000


def test_an_output_that_a_small_gpu_has_no_room_for(hip_folder):
    model = node_model("Neg", {"x": ("float32", ["n", "m"])})
    text, _ = refused(hip_folder, model, (1000, 1000), **SMALL)
    assert "Neg 'node', output 'y' (float32[1000,1000])" in text


def test_a_failing_driver_is_no_lack_of_memory(hip_folder):
    model = node_model("Neg", {"x": ("float32", ["n", "m"])})
    prepare = 'open_amd(); fail("hipMalloc", 999)\n'
    for each, shape in ((weights_model(1_000_000), (1,)), (model, (1000, 1500))):
        text, _ = refused(hip_folder, each, shape, "HipError", prepare)
        assert "hipMalloc on amd:0: another error (hipErrorOther)" in text
