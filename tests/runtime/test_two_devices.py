"""Two alike sessions on two devices, run by two threads that take turns."""

import pytest
from amd_library import run_amd_session
from helpers.models import node_model
from programs import run_program

TURNS = """
barrier = threading.Barrier(2)
wrong = []

def work(number, session):
    for step in range(40):
        x = np.full((100 + step, 7), number + step, "float32")
        binding = session.io_binding()
        binding.bind_ortvalue_input("x", hipep.device_value(x, device=session))
        for name in ("v", "i"):
            hipep.bind_output(binding, name, session)
        barrier.wait()
        session.run_with_iobinding(binding)
        values, indices = binding.get_outputs()
        if {guarded}:
            places = {{value.__dlpack_device__()[1] for value in (values, indices)}}
            if places != {{100 + number}}:
                wrong.append(places)
        if not (hipep.to_numpy(values) == number + step).all():
            wrong.append((number, step))
        if not (hipep.to_numpy(indices) == [0, 1]).all():
            wrong.append((number, step, "indices"))

threads = []
for number, device in enumerate(["host", "host:1"]):
    session = hipep.InferenceSession(
        top_k_model(), device, strict=True, host_memory={memory!r})
    assert session.report.device == device
    threads.append(threading.Thread(target=work, args=(number, session)))
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert not wrong, wrong[:5]
"""


@pytest.mark.parametrize("memory", ["plain", "guarded"])
def test_on_the_host(memory):
    code = TURNS.format(memory=memory, guarded=memory == "guarded")
    run_program(code, HIPEP_HOST_DEVICES="2")


def test_each_call_is_made_on_the_device_of_its_session(hip_folder, tmp_path):
    """Whatever device another library has made the thread's, which it is again afterwards."""
    (tmp_path / "model.onnx").write_bytes(node_model("Neg", {"x": ("float32", ["n"])}))
    code = f"""
import numpy as np, hipep
for ordinal in (0, 1):
    open_amd(ordinal)
model = {str(tmp_path / "model.onnx")!r}
barrier, streams, kept = threading.Barrier(2), {{}}, []

def work(number):
    session = hipep.InferenceSession(model, f"amd:{{number}}", strict=True)
    for step in range(40):
        current = c_int32()
        fake().hipSetDevice(step % 2)
        barrier.wait()
        session.run(None, {{"x": np.ones(5000 + 100 * step, "float32")}})
        fake().hipGetDevice(byref(current))
        kept.append(current.value == step % 2)

threads = [threading.Thread(target=work, args=(number,)) for number in (0, 1)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert all(kept) and len(kept) == 80
for line in log("hipModuleLaunchKernel", "hipMemcpyAsync", "hipStreamSynchronize"):
    device, stream = line.split()[1], line.split(" stream=")[1].split()[0]
    streams.setdefault(stream, set()).add(device)
assert len(streams) >= 4 and all(len(devices) == 1 for devices in streams.values()), streams
assert set().union(*streams.values()) == {{"on=0", "on=1"}}
"""
    run_amd_session(hip_folder, code, FAKE_HIP_DEVICES="gfx1151,gfx1151")
