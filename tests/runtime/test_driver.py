"""Devices, and what a process does to them: fork and exit."""

import shutil
from ctypes import byref, c_void_p

import pytest
from runtime_library import (
    FAITHFUL32,
    FAITHFUL64,
    GUARDED,
    INVALID,
    NO_DRIVER,
    PLAIN,
    SERIAL,
    Runtime,
    kernels_library,
    run,
)


def test_info(runtime, mode):
    info = runtime.info(runtime.open(mode))
    assert info.backend == b"host"
    assert info.name
    assert info.warp_size == {SERIAL: 1, FAITHFUL32: 32, FAITHFUL64: 64}[mode]
    assert info.max_block == (1 if mode == SERIAL else 1024)
    assert info.arch.startswith(b"x86-64")
    assert info.shared_bytes == 65536
    assert info.memory_bytes > 1 << 28
    assert info.compute_units > 0


def test_same_arguments_give_the_same_device(runtime):
    assert runtime.open() == runtime.open()
    assert runtime.open() != runtime.open(memory=GUARDED)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((b"host", 0, 7, PLAIN), ["host mode 7", "serial"]),
        ((b"host", 0, SERIAL, 5), ["host memory 5", "guarded"]),
        ((b"host", 1, SERIAL, PLAIN), ["no device host:1", "1 device"]),
        ((b"host", -1, SERIAL, PLAIN), ["no device host:-1"]),
        ((b"hots", 0, SERIAL, PLAIN), ["no backend 'hots'", "host, nvidia, amd"]),
    ],
)
def test_open_says_what_is_wrong(runtime, arguments, words):
    device = c_void_p()
    assert runtime.device_open(*arguments, byref(device)) in (INVALID, NO_DRIVER)
    for word in words:
        assert word in runtime.error()


def test_missing_faithful_library_says_how_to_build_it(tmp_path):
    runtime = Runtime(shutil.copy(kernels_library(), tmp_path))
    assert runtime.device_open(b"host", 0, FAITHFUL32, PLAIN, byref(c_void_p())) == NO_DRIVER
    assert "-Dhost_modes=serial,faithful32" in runtime.error()


def test_device_count_follows_the_environment(runtime, monkeypatch):
    for text, count in [("", 1), ("1", 1), ("2", 2), ("8", 8)]:
        monkeypatch.setenv("HIPEP_HOST_DEVICES", text)
        assert runtime.device_count(b"host") == count
        assert runtime.backend_problem(b"host") == b""
    first, second = runtime.open(ordinal=0), runtime.open(ordinal=1)
    assert first != second
    assert runtime.info(second).ordinal == 1


@pytest.mark.parametrize("text", ["0", "9", "-1", "two", "1.5", " 1", "11"])
def test_bad_device_count_is_refused(runtime, monkeypatch, text):
    monkeypatch.setenv("HIPEP_HOST_DEVICES", text)
    assert runtime.device_count(b"host") == 0
    problem = runtime.backend_problem(b"host").decode()
    assert "HIPEP_HOST_DEVICES" in problem
    assert f"'{text}'" in problem
    assert "1 to 8" in problem
    assert runtime.device_open(b"host", 0, SERIAL, PLAIN, byref(c_void_p())) == NO_DRIVER


def test_instruction_set_can_be_forced():
    code = "print(r.info(r.open()).arch.decode())"
    best = run(code, HIPEP_HOST_ISA="")
    levels = ["v2", "v3", "v4"]
    for level in levels[: levels.index(best[-2:]) + 1]:
        assert run(code, HIPEP_HOST_ISA=level) == f"x86-64-{level}"
    code = 'assert r.device_open(b"host", 0, 0, 0, byref(c_void_p())) == INVALID; print(r.error())'
    for level in levels[levels.index(best[-2:]) + 1 :]:
        assert f"x86-64-{level}" in run(code, HIPEP_HOST_ISA=level)
    assert "'v5': expected v2, v3 or v4" in run(code, HIPEP_HOST_ISA="v5")


@pytest.mark.parametrize("mode_name", ["SERIAL", "FAITHFUL32", "FAITHFUL64"])
def test_a_forked_child_does_not_hang(mode_name):
    code = f"""
d = c_void_p()
if r.device_open(b"host", 0, {mode_name}, GUARDED, byref(d)) == NO_DRIVER:
    print("skip"); sys.exit()
stream, event, here = r.stream(d), r.event(d), ctypes.create_string_buffer(64)
r.copy_async(stream, here, here, 64, 0)
r.event_record(event, stream)
ended = False
def churn():
    mine = r.stream(d)
    while not ended:
        r.release(d, r.memory(d, 1000, mine), 0)
        r.copy_async(mine, here, here, 64, 0)
        r.stream_synchronize(mine)
thread = threading.Thread(target=churn, daemon=True)
thread.start()
for _ in range(20):
    if os.fork() == 0:
        signal.alarm(20)
        r.release(d, r.memory(d, 5000), 0)
        results = [r.copy_async(stream, here, here, 64, 0), r.stream_synchronize(stream)]
        assert results == [OK, OK] or "fork" in r.error(), r.error()
        r.stream_destroy(stream)
        fresh = r.stream(d)
        r.check(r.copy_async(fresh, here, here, 64, 0))
        r.check(r.stream_synchronize(fresh))
        os._exit(0)
    assert os.wait()[1] == 0
ended = True
thread.join()
"""
    if run(code) == "skip":
        pytest.skip("built without this host mode")


def test_exit_with_everything_open(runtime, mode):
    code = f"""
import atexit
d = r.open({mode}, GUARDED)
stream, block = r.stream(d), r.memory(d, 1000)
here = ctypes.create_string_buffer(64)
r.set_current_stream(stream)
atexit.register(lambda: r.release(d, block, 0))
r.copy_async(stream, block, here, 64, 0)
"""
    run(code)
