"""Streams that run behind the caller, with kernels that the test controls."""

import ctypes
import os
import select
import shutil
import subprocess
import threading
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
    INVALID,
    PLAIN,
    SERIAL,
    UNSUPPORTED,
    Kernel,
    PlannedLaunch,
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


def planned(runtime, device, *names):
    """Launches of the stand-in's kernels, whose arguments lie one after another in words of 16."""
    launches = (PlannedLaunch * len(names))()
    kernels = [Kernel(b"test", name, 64) for name in names]
    for i, kernel in enumerate(kernels):
        entry = c_void_p()
        runtime.check(runtime.kernel_resolve(device, byref(kernel), byref(entry)))
        launches[i] = PlannedLaunch(ctypes.addressof(kernel), entry, 3, 4, 1, 1, 16 * i, 0)
    return launches, kernels


def test_a_graph_starts_its_launches_in_order(stand_in):
    runtime, device = stand_in, stand_in.open(FAITHFUL32, PLAIN)
    stream, graph = runtime.stream(device), c_void_p()
    pipes = [os.pipe() for _ in range(2)]
    launches, kernels = planned(runtime, device, b"blocked", b"blocked")
    args = b"".join(read.to_bytes(16, "little") for read, _ in pipes)
    before = runtime.counted()["launches"]
    runtime.check(runtime.graph_create(stream, launches, 2, args, byref(graph)))
    assert runtime.counted()["launches"] == before
    for _ in range(2):
        runtime.check(runtime.graph_launch(stream, graph))
    runtime.graph_destroy(graph)  # what was started goes on
    for _, write in 2 * pipes:
        os.write(write, b"x")
    runtime.check(runtime.stream_synchronize(stream))
    assert runtime.counted()["launches"] == before + 4
    assert [select.select([read], [], [], 0)[0] for read, _ in pipes] == [[], []]
    runtime.stream_destroy(stream)
    for end in (end for pipe in pipes for end in pipe):
        os.close(end)
    del kernels


def test_a_graph_ends_at_a_launch_that_fails(stand_in):
    runtime, device = stand_in, stand_in.open(FAITHFUL32, PLAIN)
    stream, graph = runtime.stream(device), c_void_p()
    launches, kernels = planned(runtime, device, b"broken", b"blocked")
    runtime.check(runtime.graph_create(stream, launches, 2, bytes(32), byref(graph)))
    runtime.check(runtime.graph_launch(stream, graph))
    assert runtime.stream_catch_up(stream) == DEVICE_ERROR
    assert "left on its stream" in runtime.error()
    assert runtime.stream_synchronize(stream) == DEVICE_ERROR
    assert runtime.error() == "kernel broken: grid 3 block 64"
    runtime.check(runtime.stream_catch_up(stream))
    other = runtime.stream(device)
    assert runtime.graph_launch(other, graph) == INVALID
    runtime.graph_destroy(graph)
    for each in (stream, other):
        runtime.stream_destroy(each)
    del kernels


def test_kernels_that_the_caller_runs_make_no_graph(stand_in):
    stream, graph = stand_in.stream(stand_in.open(SERIAL, PLAIN)), c_void_p()
    status = stand_in.graph_create(stream, (PlannedLaunch * 1)(), 1, bytes(16), byref(graph))
    assert status == UNSUPPORTED
    assert stand_in.error() == "host:0 has no graphs"
    stand_in.stream_destroy(stream)


def test_catching_up_waits_for_what_was_there(stand_in):
    runtime, device = stand_in, stand_in.open(FAITHFUL32, PLAIN)
    stream = runtime.stream(device)
    read, write = os.pipe()
    keep = [stand_in_launch(runtime, device, stream, b"blocked", c_int32(read))]
    threading.Timer(0.05, os.write, (write, b"x")).start()
    before = runtime.counted()["stream_syncs"]
    for _ in range(2):
        runtime.check(runtime.stream_catch_up(stream))
    assert select.select([read], [], [], 0)[0] == []
    assert runtime.counted()["stream_syncs"] == before + 1
    runtime.stream_destroy(stream)
    os.close(read), os.close(write), keep


def test_a_block_size_other_than_the_kernels_is_refused(stand_in):
    kernel, entry = Kernel(b"test", b"blocked", 128), c_void_p()
    device = stand_in.open(FAITHFUL32)
    assert stand_in.kernel_resolve(device, byref(kernel), byref(entry)) == INTERNAL
    assert "blocked" in stand_in.error()
    assert "128" in stand_in.error()
