"""Memory, copies, launches and events of the AMD driver, on a stand-in for the HIP runtime."""

import pytest
from amd_library import build_folder, run_amd


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("amd")
    build_folder(folder)
    if "this build has no amd" in run_amd(folder, 'print(r.backend_problem(b"amd").decode())'):
        pytest.skip("built without the AMD driver")
    return folder


def test_copies_are_made_on_the_stream_in_the_direction_of_the_pointers(folder):
    code = """
d = open_amd()
s, t = r.stream(d), r.stream(d)
created = ["hipStreamCreateWithFlags on=0 flags=1", "hipEventCreateWithFlags on=0 flags=3"]
assert log() == created * 2
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
for module, name in ((b"first", b"absent"), (b"third", b"scale"), (b"broken", b"scale"),
                     (b"damaged", b"scale")):
    print(resolve(d, module, name)[0], r.error())
s = r.stream(d)
assert launch(s, resolve(d)) == OK, r.error()
"""
    absent, third, broken, damaged = run_amd(folder, code).splitlines()
    assert absent == "6 the amd kernels have no absent (of first) for gfx1151: build hipep again"
    assert third.startswith("6 the kernels of the amd backend have no module third.gfx1151: ")
    assert broken.startswith("4 kernels of broken for gfx1151: hipModuleLoadData on amd:0: ")
    expected = "6 the kernels damaged.gfx1151 of the amd backend are damaged: install hipep again"
    assert damaged == expected


def test_errors_are_reported_once_and_leave_nothing_behind(folder):
    code = """
d = open_amd()
s, resolved, here = r.stream(d), resolve(d), ctypes.create_string_buffer(64)
fail("hipModuleLaunchKernel", 719, at=2)
assert launch(s, resolved) == OK
assert launch(s, resolved) == DEVICE_ERROR
print(r.error())
assert launch(s, resolved) == OK and r.counted()["launches"] == 2
fail("hipStreamQuery", 719)
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
fake().fake_hip_defer(1)
for call in ("hipEventRecord", "hipEventSynchronize"):
    assert launch(s, resolved) == OK
    fail(call, 719)
    assert r.stream_synchronize(s) == DEVICE_ERROR
    print(r.error())
    r.check(r.stream_synchronize(s))
makers = (("Stream", r.stream_create), ("Event", r.event_create), ("Event", r.stream_create))
for call, make in makers:
    fail(f"hip{call}CreateWithFlags", 2)
    assert make(d, byref(c_void_p())) == OUT_OF_MEMORY, r.error()
    r.check(make(d, byref(c_void_p())))
"""
    launched, waited, copied, polled, recorded, slept = run_amd(folder, code).splitlines()
    reason = "on amd:0: unspecified launch failure (hipErrorLaunchFailure)"
    assert launched == f"kernel scale: hipModuleLaunchKernel {reason}"
    assert waited == f"hipStreamQuery {reason}; the last kernel started was scale"
    assert recorded == waited.replace("StreamQuery", "EventRecord")
    assert slept == waited.replace("StreamQuery", "EventSynchronize")
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
names = [line.split()[0] for line in log() if "Query" not in line]
assert names == ["hipMemcpyAsync", "hipEventRecord", "hipStreamWaitEvent", "hipMemcpyAsync",
                 "hipEventRecord", "hipEventSynchronize"], names
r.check(r.copy_async(s, middle, there, 8, 0))
r.check(r.event_record(event, s))
r.check(r.event_synchronize(event))
r.check(r.event_synchronize(event))
assert len(log("hipEventSynchronize")) == 1
r.check(r.stream_synchronize(s))
assert log() == []
r.event_destroy(event)
r.stream_destroy(s)
r.stream_destroy(t)
assert len(log("hipStreamDestroy", "hipEventDestroy")) == 5
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
