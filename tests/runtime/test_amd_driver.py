"""The AMD driver, run on a stand-in for the HIP runtime that logs what it is asked for."""

import ctypes.util
import shutil
import subprocess
from pathlib import Path

import pytest
from amd_library import build_folder, compiler, install, run_amd

HELPERS = Path(__file__).parents[1] / "helpers"
KERNELS = HELPERS.parents[1] / "kernels"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("amd")
    build_folder(folder)
    if "this build has no amd" in run_amd(folder, 'print(r.backend_problem(b"amd").decode())'):
        pytest.skip("built without the AMD driver")
    return folder


# ---- The declarations ----


def test_declarations_agree_with_the_headers():
    headers = [Path("/usr/include"), Path("/opt/rocm/include")]
    found = [path for path in headers if (path / "hip" / "hip_runtime_api.h").exists()]
    if not found or not KERNELS.exists():
        pytest.skip("no HIP headers here")
    command = [compiler("g++", "c++"), "-std=c++17", "-fsyntax-only", HELPERS / "hip_headers.cc"]
    command += [f"-I{path}" for path in (KERNELS, KERNELS / "include", KERNELS / "runtime")]
    command += [f"-isystem{path}" for path in found if path != headers[0]]
    result = subprocess.run(command, text=True, capture_output=True, check=False)
    assert result.returncode == 0, result.stderr


# ---- Which HIP runtime ----


def test_the_loaders_path_comes_first(folder):
    other = install(folder, "rocm/lib", "libamdhip64.so.7").parent
    code = "open_amd(); print(*hip_copies())"
    path = run_amd(folder, code, HIP_PATH=str(other), ROCM_PATH=str(other))
    assert set(path.split()) == {str(folder / "default" / "libamdhip64.so.7")}


@pytest.mark.parametrize("variable", ["HIP_PATH", "ROCM_PATH"])
@pytest.mark.parametrize("name", ["libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so"])
def test_folders_that_variables_name(folder, tmp_path, variable, name):
    install(folder, tmp_path / "lib", name)
    environment = {variable: str(tmp_path)}
    path = run_amd(folder, "open_amd(); print(*hip_copies())", "nothing", **environment)
    assert set(path.split()) == {str(tmp_path / "lib" / name)}


def test_a_copy_that_is_loaded_already_is_taken(folder):
    torch = install(folder, "torch/lib", "libamdhip64.so") / "libamdhip64.so"
    code = f"ctypes.CDLL({str(torch)!r}); open_amd(); print(*hip_copies())"
    assert set(run_amd(folder, code).split()) == {str(torch)}


def test_two_copies_are_refused(folder):
    torch = install(folder, "torch/lib", "libamdhip64.so") / "libamdhip64.so"
    text = run_amd(folder, f"open_amd(); ctypes.CDLL({str(torch)!r}); print(refused())")
    assert "two copies of the HIP runtime" in text
    assert str(torch) in text
    assert str(folder / "default" / "libamdhip64.so.7") in text
    assert "before the first use of hipep" in text


@pytest.mark.parametrize(("which", "version"), [("five", 50221153), ("seven", 50731921)])
def test_hip_5_is_refused_by_name(folder, which, version):
    path = install(folder, which + "_loaded", "libamdhip64.so", which)
    text = run_amd(folder, "print(refused())", path, FAKE_HIP_VERSION=str(version))
    expected = f"libamdhip64.so is HIP 5.{version // 100000 % 100}, hipep needs HIP 6 or newer"
    assert expected in text
    assert "install ROCm 6" in text


def test_a_broken_runtime_says_what_it_lacks(folder, tmp_path):
    (tmp_path / "libamdhip64.so.7").write_text("no library")
    text = run_amd(folder, "print(refused())", tmp_path)
    if "HIP 5" not in text:  # another version is installed on this machine
        assert "cannot be loaded: libamdhip64.so.7" in text


def test_no_runtime_says_where_it_was_sought(folder):
    if ctypes.util.find_library("amdhip64") or Path("/opt/rocm/lib").exists():
        pytest.skip("a HIP runtime is installed here")
    text = run_amd(folder, "print(refused())", "nothing")
    for word in ("libamdhip64.so.7", "ROCM_PATH", "/opt/rocm", "install ROCm"):
        assert word in text


def test_no_kernels_and_no_device(folder, tmp_path):
    assert "no AMD GPU" in run_amd(folder, "print(refused())", FAKE_HIP_DEVICES="")
    kernels = shutil.copy(folder / "libhipep_kernels.so", tmp_path)
    text = run_amd(folder, f"r = Runtime({str(kernels)!r}); print(refused())")
    assert "kernels of the amd backend are missing" in text


# ---- Devices ----


def test_info(folder):
    code = """
i = r.info(open_amd())
print(i.backend.decode(), i.ordinal, i.name.decode(), i.arch.decode(), i.host_memory, i.warp_size,
      i.compute_units, i.max_block, i.integrated, i.shared_bytes, i.memory_bytes, sep="|")
"""
    features = {"FAKE_HIP_DEVICES": "gfx1151:sramecc-:xnack-", "FAKE_HIP_INTEGRATED": "1"}
    expected = "amd|0|Fake Radeon 0|gfx1151|1|32|20|1024|1|65536|1073741824"
    assert run_amd(folder, code, **features) == expected
    expected = "amd|0|AMD gfx90a|gfx90a|1|64|20|1024|0|65536|1073741824"
    assert run_amd(folder, code, FAKE_HIP_DEVICES="gfx90a", FAKE_HIP_NAME="") == expected


@pytest.mark.parametrize(
    ("arch", "target"),
    [
        ("gfx1151", "gfx1151"),
        ("gfx90a:sramecc+:xnack-", "gfx90a"),
        ("gfx1100", "gfx11-generic"),
        ("gfx1153", "gfx11-generic"),
    ],
)
def test_code_objects_of_the_architecture_or_its_family(folder, arch, target):
    code = "assert resolve(open_amd())[0] == OK, r.error(); print(*log('hipModuleLoadData'))"
    assert f"target={target}" in run_amd(folder, code, FAKE_HIP_DEVICES=arch)


@pytest.mark.parametrize("arch", ["gfx1030", "gfx942", "gfx1201", "gfx1170", "gfx803", ""])
def test_an_architecture_without_kernels(folder, arch):
    text = run_amd(folder, "print(refused())", FAKE_HIP_DEVICES=f"{arch}:xnack-")
    assert f"no kernels for amd:0 ({arch})" in text
    assert "gfx1151, gfx90a, gfx11-generic" in text
    assert "-Damd_archs" in text


def test_generic_code_objects_need_hip_6_3(folder):
    settings = {"FAKE_HIP_DEVICES": "gfx1100", "FAKE_HIP_VERSION": "60241133"}
    text = run_amd(folder, "print(refused())", **settings)
    assert "gfx11-generic, which HIP 6.2 does not load" in text
    settings["FAKE_HIP_VERSION"] = "60342131"
    run_amd(folder, "open_amd()", **settings)


def test_devices_without_kernels_keep_their_numbers(folder):
    code = """
assert r.backend_problem(b"amd") == b"" and r.device_count(b"amd") == 2
assert r.info(open_amd(1)).arch == b"gfx1151"
print(refused(0))
"""
    text = run_amd(folder, code, FAKE_HIP_DEVICES="gfx1036,gfx1151")
    assert "no kernels for amd:0 (gfx1036)" in text


def test_each_call_is_made_on_its_device_and_the_threads_own_is_kept(folder):
    code = """
first, second = open_amd(0), open_amd(1)
s, t = r.stream(first), r.stream(second)
k, l = resolve(first), resolve(second)
assert k[2].value != l[2].value
a, b = r.memory(first, 64), r.memory(second, 64)
assert log("hipModuleLoadData") == [f"hipModuleLoadData on={d} target=gfx1151" for d in (0, 1)]

def work():
    for stream, resolved, pointer in ((s, k, a), (t, l, b)):
        assert launch(stream, resolved) == OK, r.error()
        assert r.copy_async(stream, pointer, pointer, 64, 0) == OK

for own in (0, 1):
    fake().hipSetDevice(own)
    log()
    work()
    lines = log()
    used = [line.split()[1] for line in lines if "hipSetDevice" not in line]
    assert used == ["on=0", "on=0", "on=1", "on=1"], lines
    device = c_int32()
    fake().hipGetDevice(byref(device))
    assert device.value == own
thread = threading.Thread(target=work)
thread.start()
thread.join()
fake().hipSetDevice(1)
log()
for _ in range(100):
    launch(t, l)
assert not log("hipSetDevice")
"""
    run_amd(folder, code, FAKE_HIP_DEVICES="gfx1151,gfx1151")


# ---- Memory and copies ----


def test_copies_are_made_on_the_stream_in_the_direction_of_the_pointers(folder):
    code = """
d = open_amd()
s, t = r.stream(d), r.stream(d)
assert log() == ["hipStreamCreateWithFlags on=0 flags=1"] * 2
block, pinned = r.memory(d, 100), r.memory(d, 100, kind=HOST_ACCESSIBLE)
assert "hipHostMalloc on=0 bytes=2097152 flags=3" in log()
here = ctypes.create_string_buffer(b"x" * 100, 100)
back = ctypes.create_string_buffer(100)
for to, source in ((block, here), (pinned, block), (back, pinned)):
    r.check(r.copy_async(t, to, source, 100, 0))
r.check(r.copy_async(s, back, here, 100, 0))
r.check(r.stream_synchronize(t))
r.check(r.stream_synchronize(s))
assert back.raw == b"x" * 100
line = "hipMemcpyAsync on=0 bytes=100 kind=4 stream="
assert log("hipMemcpyAsync") == [line + n for n in "1110"]
guarded = r.memory(r.open(SERIAL, GUARDED), 100)
ctypes.memset(r.map(d, guarded), 7, 100)
assert not r.host_readable(d, guarded)
r.check(r.copy_async(s, back, guarded, 100, 0))
r.check(r.stream_synchronize(s))
assert back.raw == bytes([7]) * 100
"""
    run_amd(folder, code)


@pytest.mark.parametrize("unregistered", ["0", "1"])
def test_what_the_host_may_read(folder, unregistered):
    code = """
d = open_amd()
s = r.stream(d)
block, pinned = r.memory(d, 100), r.memory(d, 100, kind=HOST_ACCESSIBLE)
here = ctypes.create_string_buffer(100)
assert not r.host_readable(d, block) and not r.host_readable(d, block + 99)
assert r.host_readable(d, pinned) and r.host_readable(d, pinned + 99)
assert r.host_readable(d, ctypes.addressof(here))
assert launch(s, resolve(d)) == OK, r.error()  # the question has left no error behind
"""
    settings = {"FAKE_HIP_UNREGISTERED": unregistered, "FAKE_HIP_INTEGRATED": "1"}
    run_amd(folder, code, **settings)


def test_out_of_memory_names_what_was_wanted_and_what_is_free(folder):
    code = """
d = open_amd()
kept = r.memory(d, 40 << 20)
free = c_int64()
r.check(r.device_free_bytes(d, byref(free)))
assert free.value == (100 << 20) - (40 << 20)
assert r.allocate(d, 80 << 20, DEVICE, None, byref(c_void_p())) == OUT_OF_MEMORY
print(r.error())
fail("hipHostMalloc", 2)
fail("hipHostMalloc", 2)
r.release(d, kept, DEVICE)
r.memory(d, 80 << 20)  # what was cached is given back first
s = r.stream(d)
assert launch(s, resolve(d)) == OK, r.error()
"""
    text = run_amd(folder, code, FAKE_HIP_MEMORY=str(100 << 20))
    assert text == f"no room for {80 << 20} bytes on amd:0: {60 << 20} of {100 << 20} are free"


def test_memory_in_use_on_another_stream_is_not_handed_out(folder):
    code = """
d, SIZE = open_amd(), 20 << 20  # a segment each
busy, free, here = r.stream(d), r.stream(d), ctypes.create_string_buffer(64)
fake().fake_hip_defer(1)
block = r.memory(d, SIZE, busy)
r.check(r.copy_async(busy, block, here, 64, 0))
r.set_current_stream(busy)
r.release(d, block, DEVICE)
other = r.memory(d, SIZE, free)
assert other != block
assert r.memory(d, SIZE, busy) == block
r.release(d, block, DEVICE)
r.set_current_stream(None)
r.pool_trim(d)
assert not log("hipFree")
r.check(r.stream_synchronize(busy))
assert r.memory(d, SIZE, free) == block
r.release(d, block, DEVICE)
r.release(d, other, DEVICE)
r.pool_trim(d)
assert log("hipFree")
"""
    run_amd(folder, code)


# ---- Kernels ----


def test_a_launch_passes_its_argument_byte_for_byte(folder):
    code = """
d = open_amd()
s = r.stream(d)
args = os.urandom(1000)
wide = resolve(d, b"second", b"wide", 64)
again = resolve(d, b"second", b"wide", 64)
assert wide[2].value == again[2].value
assert [line.split()[0] for line in log("hipModuleLoadData")] == ["hipModuleLoadData"]
assert launch(s, wide, args, grid=70000) == OK, r.error()
assert log() == ["hipModuleLaunchKernel on=0 kernel=wide grid=70000,1,1 block=64,1,1 shared=0 "
                 f"stream=0 extra=0 args={args.hex()}"]
assert r.counted()["launches"] == 1
"""
    run_amd(folder, code)


def test_missing_and_broken_kernels(folder):
    code = """
d = open_amd()
for module, name in ((b"first", b"absent"), (b"third", b"scale"), (b"broken", b"scale")):
    print(resolve(d, module, name)[0], r.error())
s = r.stream(d)
assert launch(s, resolve(d)) == OK, r.error()
"""
    absent, third, broken = run_amd(folder, code).splitlines()
    assert absent == "6 the amd kernels have no absent (of first) for gfx1151: build hipep again"
    assert third.startswith("6 the kernels of the amd backend have no module third for gfx1151")
    assert broken.startswith("4 kernels of broken for gfx1151: hipModuleLoadData on amd:0: ")


def test_errors_are_reported_once_and_leave_nothing_behind(folder):
    code = """
d = open_amd()
s, resolved, here = r.stream(d), resolve(d), ctypes.create_string_buffer(64)
fail("hipModuleLaunchKernel", 719, at=2)
assert launch(s, resolved) == OK
assert launch(s, resolved) == DEVICE_ERROR
print(r.error())
assert launch(s, resolved) == OK and r.counted()["launches"] == 2
fail("hipStreamSynchronize", 719)
assert r.stream_synchronize(s) == DEVICE_ERROR
print(r.error())
r.check(r.stream_synchronize(s))
fail("hipMemcpyAsync", 719)
assert r.copy_async(s, here, here, 64, 0) == DEVICE_ERROR
print(r.error())
assert launch(s, resolved) == OK

# An error that only polling has met is told by the next wait.
fail("hipStreamQuery", 719)
r.pool_trim(d)
assert r.stream_synchronize(s) == DEVICE_ERROR
print(r.error())
r.check(r.stream_synchronize(s))
assert launch(s, resolved) == OK
for call, make in (("Stream", r.stream_create), ("Event", r.event_create)):
    fail(f"hip{call}CreateWithFlags", 2)
    assert make(d, byref(c_void_p())) == OUT_OF_MEMORY, r.error()
    r.check(make(d, byref(c_void_p())))
"""
    launched, waited, copied, polled = run_amd(folder, code).splitlines()
    reason = "on amd:0: unspecified launch failure (hipErrorLaunchFailure)"
    assert launched == f"kernel scale: hipModuleLaunchKernel {reason}"
    assert waited == f"hipStreamSynchronize {reason}; the last kernel started was scale"
    assert copied == f"hipMemcpyAsync {reason}"
    assert polled == waited


# ---- Streams, events, processes ----


def test_events_order_streams(folder):
    code = """
d = open_amd()
s, t, event = r.stream(d), r.stream(d), r.event(d)
log()
fake().fake_hip_defer(1)
here, middle, there = (ctypes.create_string_buffer(8) for _ in range(3))
here.value = b"moved"
r.check(r.copy_async(s, middle, here, 8, 0))
r.check(r.event_record(event, s))
r.check(r.event_wait(event, t))
r.check(r.copy_async(t, there, middle, 8, 0))
assert there.value == b""
r.check(r.stream_synchronize(t))
assert there.value == b"moved"
names = [line.split()[0] for line in log()]
assert names == ["hipMemcpyAsync", "hipEventRecord", "hipStreamWaitEvent", "hipMemcpyAsync",
                 "hipStreamSynchronize"], names
r.check(r.copy_async(s, middle, there, 8, 0))
r.check(r.event_record(event, s))
r.check(r.event_synchronize(event))
r.check(r.event_synchronize(event))
assert len(log("hipEventSynchronize")) == 1
r.check(r.stream_synchronize(s))
assert not log("hipStreamSynchronize")
r.event_destroy(event)
r.stream_destroy(s)
r.stream_destroy(t)
assert len(log("hipStreamDestroy", "hipEventDestroy")) == 3
"""
    run_amd(folder, code)


def test_devices_wait_for_each_others_events(folder):
    code = """
first, second = open_amd(0), open_amd(1)
s, t, event = r.stream(first), r.stream(second), r.event(first)
assert launch(s, resolve(first)) == OK
r.check(r.event_record(event, s))
r.check(r.event_wait(event, t))
assert log("hipStreamWaitEvent") and not log("hipEventSynchronize")
assert r.event_record(event, t) == INVALID
"""
    run_amd(folder, code, FAKE_HIP_DEVICES="gfx1151,gfx90a")


def test_a_forked_child_leaves_the_runtime_alone(folder):
    code = """
d = open_amd()
s, block, here = r.stream(d), r.memory(d, 64), ctypes.create_string_buffer(64)
event = r.event(d)
r.check(r.copy_async(s, block, here, 64, 0))
log()
if os.fork() == 0:
    signal.alarm(20)
    assert "fork" in refused() and "spawn" in r.error(), r.error()
    assert r.copy_async(s, block, here, 64, 0) == DEVICE_ERROR and "fork" in r.error()
    assert r.stream_synchronize(s) == DEVICE_ERROR and "fork" in r.error()
    r.release(d, block, DEVICE)
    r.pool_trim(d)
    r.stream_destroy(s)
    r.event_destroy(event)
    assert log() == [], log()
    os._exit(0)
assert os.wait()[1] == 0
r.check(r.stream_synchronize(s))
"""
    run_amd(folder, code)


def test_memory_is_kept_once_the_runtime_has_ended(folder):
    code = """
d = open_amd()
r.release(d, r.memory(d, 64), DEVICE)
late = ctypes.CDLL({late!r})
late.late(r.pool_trim, c_void_p(d))
"""
    run_amd(folder, code.format(late=str(folder / "liblate.so")))
