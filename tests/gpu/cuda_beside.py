"""hipep and the CUDA provider of ONNX Runtime beside each other on one GPU.

    python tests/gpu/cuda_beside.py [device]

Needs onnxruntime-gpu and an NVIDIA GPU; the device is nvidia:0. With ``host`` the CPU provider
takes the place of CUDA, and guarded memory that of the GPU.
"""

import sys

import numpy as np
import onnxruntime as ort
from onnx import TensorProto, helper

import hipep

DEVICE = sys.argv[1] if len(sys.argv) > 1 else "nvidia:0"
OTHER = "CPUExecutionProvider" if DEVICE == "host" else "CUDAExecutionProvider"
X = np.random.default_rng(0).random((64, 1000), "float32")


def make_model():
    """TopK and Neg are hipep's, Sin is not."""
    nodes = [
        helper.make_node("Neg", ["x"], ["negative"], name="neg"),
        helper.make_node("Sin", ["negative"], ["sine"], name="sin"),
        helper.make_node("TopK", ["sine", "k"], ["y", "i"], name="top_k"),
    ]
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", "m"])]
    outputs = [helper.make_empty_tensor_value_info(name) for name in ("y", "i")]
    constant = helper.make_tensor("k", TensorProto.INT64, [1], [5])
    graph = helper.make_graph(nodes, "graph", inputs, outputs, [constant])
    opsets = [helper.make_opsetid("", 20)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9).SerializeToString()


def check(session, what):
    """Several shapes, so that memory is taken, given back and taken again."""
    for rows in (64, 3, 64, 1):
        y, indices = session.run(None, {"x": X[:rows]})
        expected = np.sort(np.sin(-X[:rows]), axis=1)[:, ::-1][:, :5]
        np.testing.assert_allclose(y, expected, rtol=1e-4, atol=1e-6, err_msg=what)
        taken = np.take_along_axis(np.sin(-X[:rows]), indices, 1)
        np.testing.assert_allclose(taken, y, rtol=1e-4, atol=1e-6, err_msg=what)
    print("ok:", what)


def session_of_both():
    """hipep comes first; what it declines goes to the other provider."""
    options = hipep.session_options(DEVICE, host_memory="guarded")
    if OTHER != "CPUExecutionProvider":
        listed = [entry for entry in ort.get_ep_devices() if entry.ep_name == OTHER]
        if listed:
            options.add_provider_for_devices(listed[:1], {})
        else:
            options.add_provider(OTHER, {})
    options.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
    return ort.InferenceSession(make_model(), options)


def placements(session):
    """Providers by node, as ONNX Runtime recorded them."""
    return {
        node.name: subgraph.ep_name
        for subgraph in session.get_provider_graph_assignment_info()
        for node in subgraph.get_nodes()
    }


def check_memory():
    """The device's memory has an identity that the other provider's does not share."""
    value = hipep.device_value(X, device=DEVICE, host_memory="guarded")
    (entry,) = {
        (info.device_vendor_id, info.device_id)
        for device in ort.get_ep_devices()
        if device.ep_metadata.get("hipep.device") == DEVICE
        and device.ep_metadata.get("hipep.memory") != "plain"
        for info in [device.memory_info(ort.OrtDeviceMemoryType.DEFAULT)]
    }
    print(f"memory of hipep: vendor {entry[0]:#x}, device {entry[1]}")
    assert value.__dlpack_device__()[1] == entry[1]
    if OTHER != "CPUExecutionProvider":
        beside = ort.OrtValue.ortvalue_from_numpy(X, "cuda", 0)
        assert beside.device_name() != value.device_name()
        assert beside.__dlpack_device__() == (2, 0), "the memory of CUDA has another identity"
        np.testing.assert_array_equal(beside.numpy(), X)
    np.testing.assert_array_equal(hipep.to_numpy(value), X)


def main():
    assert OTHER in ort.get_available_providers(), f"this onnxruntime has no {OTHER}"
    other = ort.InferenceSession(make_model(), providers=[OTHER])
    check(other, f"{OTHER} alone")
    options = {"host_memory": "guarded"} if DEVICE == "host" else {}
    own = hipep.InferenceSession(make_model(), DEVICE, **options)
    assert {n.ep for n in own.report.nodes if n.name != "sin"} == {hipep.get_ep_name()}
    check(own, f"hipep on {DEVICE}")
    both = session_of_both()
    check(both, f"hipep, then {OTHER}")
    print(placements(both))
    assert placements(both)["sin"] == OTHER
    assert placements(both)["top_k"] == hipep.get_ep_name()
    check_memory()
    before = own.stats.total.device_allocations
    for session, what in ((other, OTHER), (own, "hipep"), (both, "both")) * 3:
        check(session, f"{what} again")
    assert own.stats.total.device_allocations == before, "hipep's memory came from another pool"


if __name__ == "__main__":
    main()
