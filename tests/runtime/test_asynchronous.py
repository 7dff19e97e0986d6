"""Streams that run behind the caller, with kernels that the test controls."""

import ctypes
import os
import shutil
import subprocess
import time
from ctypes import byref, c_int32, c_void_p

import pytest
from runtime_library import (
    COPY_PLAIN,
    DEVICE,
    DEVICE_ERROR,
    FAITHFUL32,
    GUARDED,
    INTERNAL,
    PLAIN,
    Kernel,
    Runtime,
    kernels_library,
)

# Stands in for libhipep_faithful32.so: "blocked" runs until a byte arrives, "broken" fails.
STAND_IN = r"""
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>
struct entry { const char* name; void (*entry)(const void*); uint32_t block; };
static void blocked(const void* args) {
  char byte;
  while (read(*(const int*)args, &byte, 1) < 0) {}
}
static void broken(const void* args) { (void)args; }
static const struct entry rows[] = {{"blocked", blocked, 64}, {"broken", broken, 64}};
const struct entry* hipep_faithful_table(size_t* count) { *count = 2; return rows; }
int hipep_faithful_launch(void (*entry)(const void*), uint32_t grid, uint32_t block,
                          const void* args, char* error, size_t error_bytes) {
  entry(args);
  if (entry == broken) snprintf(error, error_bytes, "grid %u block %u", grid, block);
  return entry == broken;
}
"""


@pytest.fixture(scope="module")
def stand_in(tmp_path_factory):
    """A runtime of its own whose faithful kernels are those of STAND_IN."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    folder = tmp_path_factory.mktemp("stand_in")
    (folder / "kernels.c").write_text(STAND_IN)
    command = [compiler, "-shared", "-fPIC", "kernels.c", "-o", "libhipep_faithful32.so"]
    subprocess.run(command, cwd=folder, check=True)
    return Runtime(shutil.copy(kernels_library(), folder))


def stand_in_launch(runtime, device, stream, name, args=None):
    kernel, entry = Kernel(b"test", name, 64), c_void_p()
    runtime.check(runtime.kernel_resolve(device, byref(kernel), byref(entry)))
    size = ctypes.sizeof(args) if args is not None else 0
    argument = None if args is None else byref(args)
    runtime.check(runtime.launch(stream, byref(kernel), entry, 3, 1, 1, argument, size))
    return kernel


def test_memory_in_use_on_another_stream_is_not_handed_out(stand_in):
    runtime, device = stand_in, stand_in.open(FAITHFUL32, GUARDED)
    busy, free = runtime.stream(device), runtime.stream(device)
    read, write = os.pipe()
    kernel = stand_in_launch(runtime, device, busy, b"blocked", c_int32(read))
    block = runtime.memory(device, 5000, busy)
    runtime.set_current_stream(busy)
    runtime.release(device, block, DEVICE)
    others = [runtime.memory(device, 5000, s) for s in (free, None, free)]
    assert block not in others
    assert runtime.memory(device, 5000, busy) == block  # ordered after the work that uses it
    runtime.release(device, block, DEVICE)
    runtime.pool_trim(device)
    assert runtime.stats(device).cached > 0  # it may not go back to the driver either
    runtime.set_current_stream(None)
    os.write(write, b"x")
    runtime.check(runtime.stream_synchronize(busy))
    for other in others:
        runtime.release(device, other, DEVICE)
    again = [runtime.memory(device, 5000, free) for _ in range(4)]
    assert sorted(again) == sorted([block, *others])
    for other in again:
        runtime.release(device, other, DEVICE)
    for stream in (busy, free):
        runtime.stream_destroy(stream)
    os.close(read), os.close(write), kernel


def test_launches_are_asynchronous_and_waits_see_their_errors(stand_in):
    runtime, device = stand_in, stand_in.open(FAITHFUL32, PLAIN)
    stream, other, event = runtime.stream(device), runtime.stream(device), runtime.event(device)
    before = runtime.counted()
    read, write = os.pipe()
    here, there, last = (ctypes.create_string_buffer(8) for _ in range(3))
    here.value = b"after"
    keep = [stand_in_launch(runtime, device, stream, b"blocked", c_int32(read))]
    runtime.check(runtime.copy_async(stream, there, here, 8, COPY_PLAIN))
    runtime.check(runtime.event_record(event, stream))
    runtime.check(runtime.event_wait(event, other))
    runtime.check(runtime.copy_async(other, last, there, 8, COPY_PLAIN))
    time.sleep(0.05)
    assert there.value == last.value == b""
    os.write(write, b"x")
    runtime.check(runtime.stream_synchronize(other))
    assert there.value == last.value == b"after"

    keep.append(stand_in_launch(runtime, device, stream, b"broken"))
    runtime.check(runtime.copy_async(stream, there, ctypes.create_string_buffer(8), 8, COPY_PLAIN))
    assert runtime.stream_synchronize(stream) == DEVICE_ERROR
    assert runtime.error() == "kernel broken: grid 3 block 64"
    assert there.value == b"after"  # nothing runs on what a failed kernel left
    runtime.check(runtime.stream_synchronize(stream))
    after = runtime.counted()
    assert after["launches"] - before["launches"] == 2
    assert after["stream_syncs"] - before["stream_syncs"] == 2
    runtime.event_destroy(event)
    for each in (stream, other):
        runtime.stream_destroy(each)
    os.close(read), os.close(write), keep


def test_a_block_size_other_than_the_kernels_is_refused(stand_in):
    kernel, entry = Kernel(b"test", b"blocked", 128), c_void_p()
    device = stand_in.open(FAITHFUL32)
    assert stand_in.kernel_resolve(device, byref(kernel), byref(entry)) == INTERNAL
    assert "blocked" in stand_in.error()
    assert "128" in stand_in.error()
