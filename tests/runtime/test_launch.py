"""Kernels by name, launches, and the plans that they are emitted to."""

import ctypes
import itertools
from ctypes import byref, c_int64, c_void_p

import pytest
from runtime_library import (
    INTERNAL,
    MICROSECOND,
    Emitter,
    Kernel,
    ParallelFor,
    Pointer,
    SerialEntry,
    Tensor,
)


def launch(runtime, stream, entry, units, unit_cost, args=None):
    kernel = Kernel(b"test", b"test", 256)
    address = ctypes.cast(entry, c_void_p)
    size = ctypes.sizeof(args) if args is not None else 0
    runtime.check(runtime.launch(stream, byref(kernel), address, 1, units, unit_cost, args, size))


@pytest.fixture
def serial_stream(runtime):
    stream = runtime.stream(runtime.open())
    yield stream
    runtime.stream_destroy(stream)


def test_a_serial_launch_runs_at_once(runtime, serial_stream, counted):
    calls = []
    args = ctypes.create_string_buffer(b"argument", 16)
    entry = SerialEntry(lambda a, begin, end: calls.append((ctypes.string_at(a, 8), begin, end)))
    launch(runtime, serial_stream, entry, 1_000_000, 1_000_000, args)
    assert calls == [(b"argument", 0, 1_000_000)]
    runtime.check(runtime.stream_synchronize(serial_stream))
    assert counted() == {"launches": 1, "stream_syncs": 1}


@pytest.mark.parametrize(
    ("units", "unit_cost", "chunks"),
    [
        (1, 1 << 60, None),
        (1000, 39_000, None),
        (1000, 40_000, 2),
        (3, 30 * MICROSECOND, 3),
        (1_000_000, 1_000, 50),
        (1 << 40, 1 << 40, 64),
        (100_003, 0, None),
    ],
)
def test_long_launches_are_spread(runtime, serial_stream, counted, units, unit_cost, chunks):
    ranges, totals = [], []

    @ParallelFor
    def parallel_for(context, body, total, argument):
        assert context == 77
        totals.append(total)
        for index in reversed(range(total)):
            body(argument, index)

    runtime.stream_set_parallel_for(serial_stream, parallel_for, 77)
    entry = SerialEntry(lambda a, begin, end: ranges.append((begin, end)))
    launch(runtime, serial_stream, entry, units, unit_cost)
    runtime.stream_set_parallel_for(serial_stream, ParallelFor(), None)
    ranges.sort()
    assert ranges[0][0] == 0
    assert ranges[-1][1] == units
    assert all(a[1] == b[0] and b[0] < b[1] for a, b in itertools.pairwise(ranges))
    assert totals == ([] if chunks is None else [len(ranges)])
    assert chunks is None or chunks // 2 <= len(ranges) <= chunks
    assert counted() == {"launches": 1}


def test_unknown_kernel_is_named(runtime, device):
    kernel, entry = Kernel(b"no_module", b"no_kernel", 64), c_void_p()
    assert runtime.kernel_resolve(device, byref(kernel), byref(entry)) == INTERNAL
    assert "no_kernel" in runtime.error()
    assert "no_module" in runtime.error()
    assert not any(kernel.entry)


def resolved_kernel(name=b"known"):
    """A kernel that any host device takes for resolved."""
    kernel = Kernel(b"test", name, 64)
    for slot in range(3):
        kernel.entry[slot] = 4096 + slot
    return kernel


def test_emit_appends_launches_arguments_and_patches(runtime, device):
    emitter = Emitter(device=device)
    kernels = [resolved_kernel() for _ in range(100)]
    tensors = [Tensor(value=i, offset=10 * i) for i in range(100)]
    absent = Tensor(value=-1)
    for i, kernel in enumerate(kernels):
        args = (c_int64 * 3)(i, 1234, 5678)
        pointers = (Pointer * 3)(
            Pointer(8, ctypes.pointer(tensors[i])), Pointer(16, ctypes.pointer(absent)), Pointer(16)
        )
        emitter.node = i
        runtime.check(runtime.emit(emitter, kernel, i + 1, i + 2, 7, args, 24, pointers, 3))
    assert (emitter.launch_count, emitter.patch_count) == (100, 100)
    for i, kernel in enumerate(kernels):
        planned, patch = emitter.launches[i], emitter.patches[i]
        assert planned.kernel == ctypes.addressof(kernel)
        assert planned.entry in kernel.entry[:3]
        assert (planned.grid, planned.units, planned.unit_cost) == (i + 1, i + 2, 7)
        assert (planned.node, planned.args_bytes, planned.args_begin % 16) == (i, 24, 0)
        args = bytes(emitter.args[planned.args_begin : planned.args_begin + 24])
        assert args[:8] == i.to_bytes(8, "little")
        assert args[16:] == bytes(8)
        assert (patch.at, patch.value, patch.offset) == (planned.args_begin + 8, i, 10 * i)
    capacity = emitter.args_capacity
    runtime.emitter_reset(emitter)
    assert (emitter.launch_count, emitter.args_bytes, emitter.patch_count) == (0, 0, 0)
    assert emitter.args_capacity == capacity
    runtime.emitter_free(emitter)
    assert emitter.args_capacity == 0
    assert not emitter.args
    runtime.emitter_free(emitter)


@pytest.mark.parametrize(
    ("grid", "units", "size", "member"),
    [(0, 1, 64, 0), (1, 0, 64, 0), (1, -5, 64, 0), (1, 1, 1025, 0), (1, 1, 64, 4), (1, 1, 64, 64)],
)
def test_emit_refuses_what_cannot_be_launched(runtime, device, grid, units, size, member):
    emitter = Emitter(device=device)
    args = ctypes.create_string_buffer(2048)
    pointer = Pointer(member, ctypes.pointer(Tensor(value=0)))
    kernel = resolved_kernel(b"culprit")
    assert runtime.emit(emitter, kernel, grid, units, 1, args, size, byref(pointer), 1) == INTERNAL
    assert "culprit" in runtime.error()
    assert emitter.launch_count == 0
    runtime.emitter_free(emitter)


def test_dtypes(runtime):
    sizes = {1: 4, 2: 1, 3: 1, 4: 2, 5: 2, 6: 4, 7: 8, 9: 1, 10: 2, 11: 8, 12: 4, 13: 8, 16: 2}
    for dtype in range(-2, 40):
        assert runtime.dtype_size(dtype) == sizes.get(dtype, 0)
    names = [runtime.dtype_name(d).decode() for d in (1, 10, 11, 16, 23, 99, -1)]
    assert names[:4] == ["float32", "float16", "float64", "bfloat16"]
    assert names[4:] == ["type 23", "unknown type", "unknown type"]
