"""Arrays of other libraries as values, and values as arrays of other libraries, through DLPack."""

import ctypes

import numpy as np
import pytest
from amd_library import run_amd_session
from helpers.models import node_model
from helpers.strict import device_id

import hipep

# An array of another library on a GPU of the stand-in: made by a stream of its own.
FOREIGN = """
import numpy as np, hipep
hip = (open_amd(), fake())[1]
read = ctypes.pythonapi.PyCapsule_GetPointer
read.restype, read.argtypes = c_void_p, [ctypes.py_object, c_char_p]
own, event = c_void_p(), c_void_p()
assert hip.hipStreamCreateWithFlags(byref(own), 1) == OK
assert hip.hipEventCreateWithFlags(byref(event), 2) == OK

class Foreign:
    "What torch makes of a tensor on a GPU."
    def __init__(self, array, ordinal=0, kind=10):
        self.array, self.dtype, self.place = array, array.dtype, (kind, ordinal)
        hip.hipSetDevice(ordinal)
        self.pointer = c_void_p()
        assert hip.hipMalloc(byref(self.pointer), c_size_t(array.nbytes)) == OK
        source = array.ctypes.data_as(c_void_p)
        assert hip.hipMemcpyAsync(self.pointer, source, c_size_t(array.nbytes), 4, own) == OK
        assert hip.hipEventRecord(event, own) == OK

    def __dlpack_device__(self):
        return self.place

    def __dlpack__(self, stream=None):
        assert hip.hipStreamWaitEvent(c_void_p(stream), event, 0) == OK
        capsule = self.array.__dlpack__()
        tensor = read(capsule, b"dltensor")
        c_void_p.from_address(tensor).value = self.pointer.value
        c_int32.from_address(tensor + 8).value, c_int32.from_address(tensor + 12).value = self.place
        return capsule

def refused(kind, *arguments):
    try:
        hipep.device_value(*arguments)
    except kind as error:
        return str(error)
    raise SystemExit("it was accepted")
"""


def run_foreign(folder, code, **environment):
    return run_amd_session(folder, FOREIGN + code, **environment)


def test_an_array_on_the_device_is_shared_and_waited_for(hip_folder):
    code = """
hip.fake_hip_defer(1)
for dtype in ("float32", "int64", "bool"):
    foreign = Foreign(np.arange(12).reshape(3, 4).astype(dtype))
    value = hipep.device_value(foreign, device="amd:0")
    assert value.data_ptr() == foreign.pointer.value
    assert value.shape() == [3, 4], value.shape()
    there = ctypes.string_at(foreign.pointer, foreign.array.nbytes)
    assert there == foreign.array.tobytes()
    assert hipep.device_value(foreign, dtype, "amd:0").data_type() == value.data_type()
    assert (hipep.to_numpy(value) == foreign.array).all()
    shared = hipep.dlpack(value, "amd:0")
    assert shared.__dlpack_device__() == (10, 0)
    tensor = read(shared.__dlpack__(), b"dltensor")
    assert c_void_p.from_address(tensor).value == foreign.pointer.value
    assert c_int32.from_address(tensor + 12).value == 0
"""
    run_foreign(hip_folder, code)


def test_a_shared_array_is_bound_without_a_copy(hip_folder, tmp_path):
    (tmp_path / "model.onnx").write_bytes(node_model("Neg", {"x": ("float32", ["n"])}))
    code = f"""
session = hipep.InferenceSession({str(tmp_path / "model.onnx")!r}, device="amd:0", strict=True)
foreign = Foreign(np.ones(5000, "float32"))
binding = session.io_binding()
binding.bind_ortvalue_input("x", hipep.device_value(foreign, device=session))
hipep.bind_output(binding, "y", session)
session.run_with_iobinding(binding)
last = session.stats.last
assert (last.launches, last.h2d_copies, last.d2h_copies) == (1, 0, 0), last
assert binding.get_outputs()[0].shape() == [5000]
"""
    run_foreign(hip_folder, code)


def test_arrays_that_cannot_be_shared(hip_folder):
    code = """
there = Foreign(np.ones((2, 3), "float32"), 1)
for device in ("amd:0", "host"):
    text = refused(hipep.HipepError, there, None, device)
    assert f"the Foreign is on another device than '{device}'" in text, text
    assert "move it there, or to the CPU" in text, text
assert hipep.device_value(there, device="amd:1").data_ptr() == there.pointer.value
text = refused(hipep.OptionError, there, "float16", "amd:1")
assert "of type float32: convert it to float16 before" in text, text
text = refused(hipep.HipepError, Foreign(np.ones((2, 3), "float32").T), None, "amd:0")
assert "make it contiguous" in text, text
text = refused(hipep.HipepError, Foreign(np.ones(3, "float32"), 0, 2), None, "amd:0")
assert "another device" in text, text
"""
    run_foreign(hip_folder, code, FAKE_HIP_DEVICES="gfx1151,gfx1151")


def test_a_value_is_shared_as_it_is():
    value = hipep.device_value(np.arange(3, dtype="float32"), device="host", host_memory="plain")
    shared = hipep.dlpack(value, "host")
    with pytest.raises(BufferError, match="copy it afterwards"):
        shared.__dlpack__(copy=True)
    with pytest.raises(BufferError, match="where it is"):
        shared.__dlpack__(dl_device=(2, 0))
    array = np.from_dlpack(shared)
    assert array.ctypes.data == value.data_ptr()
    np.testing.assert_array_equal(array, [0, 1, 2])


class Half:
    """A tensor on the CPU whose type numpy does not know."""

    dtype = "library.bfloat16"

    def __init__(self, bits):
        self.bits = bits

    def __array__(self, *arguments, **named):
        raise TypeError("unsupported type BFloat16")

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, **arguments):
        capsule = self.bits.__dlpack__()
        read = ctypes.pythonapi.PyCapsule_GetPointer
        read.restype, read.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        kind = read(capsule, b"dltensor") + 20  # after data, device and rank: the type's code
        ctypes.c_uint8.from_address(kind).value = 4
        return capsule


@pytest.mark.parametrize("memory", ["plain", "guarded"])
def test_a_type_that_numpy_lacks_comes_through_dlpack(memory):
    half = Half(np.array([0x3F80, 0x4000], np.uint16))
    value = hipep.device_value(half, device="host", host_memory=memory)
    assert value.data_type() == "tensor(bfloat16)"
    assert hipep.to_numpy(value).astype("float32").tolist() == [1, 2]


# ---- On a GPU, with torch ----


@pytest.fixture
def torch():
    if not device_id().startswith(("nvidia", "amd")):
        pytest.skip("HIPEP_TEST_DEVICE names no GPU")
    return pytest.importorskip("torch", reason="torch makes the tensors")


def on_gpu(torch, tensor):
    return tensor.to(f"cuda:{device_id().partition(':')[2]}")


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "int64", "uint8", "bool"])
def test_tensors_of_torch_are_shared(torch, dtype):
    tensor = on_gpu(torch, torch.arange(100_000) % 2).to(getattr(torch, dtype))
    value = hipep.device_value(tensor, device=device_id())
    assert value.data_ptr() == tensor.data_ptr()
    back = torch.from_dlpack(hipep.dlpack(value, device_id()))
    assert back.data_ptr() == tensor.data_ptr()
    if dtype != "bool":
        assert back.dtype == tensor.dtype
    assert torch.equal(back.to(torch.int64), tensor.to(torch.int64))


def test_outputs_become_tensors_of_torch(torch):
    session = hipep.InferenceSession(
        node_model("Neg", {"x": ("float32", ["n"])}), device_id(), strict=True
    )
    side = torch.cuda.Stream()
    for step in range(20):
        with torch.cuda.stream(side):
            tensor = on_gpu(torch, torch.zeros(1_000_000))
            torch.cuda._sleep(1_000_000)
            tensor += step
        binding = session.io_binding()
        with torch.cuda.stream(side):
            value = hipep.device_value(tensor, device=session)
        binding.bind_ortvalue_input("x", value)
        hipep.bind_output(binding, "y", session)
        session.run_with_iobinding(binding)
        y = torch.from_dlpack(hipep.dlpack(binding.get_outputs()[0], session))
        assert bool((y == -step).all())
        assert session.stats.last.h2d_copies == session.stats.last.d2h_copies == 0


def test_a_session_works_on_a_stream_of_torch(torch):
    stream = torch.cuda.Stream()
    session = hipep.InferenceSession(
        node_model("Neg", {"x": ("float32", ["n"])}),
        device_id(),
        strict=True,
        user_compute_stream=stream.cuda_stream,
    )
    x = np.arange(100_000, dtype="float32")
    for _ in range(3):
        np.testing.assert_array_equal(session.run(None, {"x": x})[0], -x)
    session.close()
    stream.synchronize()
