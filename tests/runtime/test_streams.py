"""Copies, waits and events, and what of them is counted."""

import ctypes
import os

from runtime_library import (
    COPY_D2H,
    COPY_H2D,
    COPY_PLAIN,
    COPY_READBACK,
    DEVICE,
    GUARDED,
    INVALID,
    PLAIN,
)


def copy(runtime, stream, to, source, size, counted_as=COPY_PLAIN):
    runtime.check(runtime.copy_async(stream, to, source, size, counted_as))


def test_copies_arrive_and_are_counted(runtime, device, stream, counted):
    text = b"0123456789abcdef" * 4
    here = ctypes.create_string_buffer(text, 64)
    back = ctypes.create_string_buffer(64)
    block, other = runtime.memory(device, 64), runtime.memory(device, 64)
    counted()
    copy(runtime, stream, block, here, 64, COPY_H2D)
    copy(runtime, stream, other, block, 64)
    copy(runtime, stream, back, other, 64, COPY_D2H)
    copy(runtime, stream, back, other, 8, COPY_READBACK)
    copy(runtime, stream, back, other, 0, COPY_D2H)
    runtime.check(runtime.stream_synchronize(stream))
    assert back.raw == text
    expected = {"h2d_copies": 1, "h2d_bytes": 64, "d2h_copies": 1, "d2h_bytes": 64}
    assert counted() == {**expected, "readbacks": 1, "stream_syncs": 1}
    for pointer in (block, other):
        runtime.release(device, pointer, DEVICE)


def test_only_a_wait_for_something_is_counted(runtime, device, stream, counted):
    here = ctypes.create_string_buffer(64)
    runtime.check(runtime.stream_synchronize(stream))
    assert counted() == {}
    copy(runtime, stream, here, here, 64)
    runtime.check(runtime.stream_synchronize(stream))
    runtime.check(runtime.stream_synchronize(stream))
    assert counted() == {"stream_syncs": 1}


def test_events_order_streams(runtime, device, stream, counted):
    other, event = runtime.stream(device), runtime.event(device)
    source = ctypes.create_string_buffer(os.urandom(8 << 20), 8 << 20)
    middle, back = ctypes.create_string_buffer(8 << 20), ctypes.create_string_buffer(8 << 20)
    runtime.check(runtime.event_synchronize(event))  # never recorded
    assert counted() == {}
    copy(runtime, stream, middle, source, 8 << 20)
    runtime.check(runtime.event_record(event, stream))
    runtime.check(runtime.event_wait(event, other))
    copy(runtime, other, back, middle, 8 << 20)
    runtime.check(runtime.stream_synchronize(other))
    assert back.raw == source.raw
    assert counted() == {"stream_syncs": 1}
    runtime.check(runtime.event_synchronize(event))
    runtime.check(runtime.event_synchronize(event))
    runtime.check(runtime.stream_synchronize(stream))
    assert counted() == {"stream_syncs": 1}
    runtime.event_destroy(event)
    runtime.event_destroy(None)
    runtime.stream_destroy(other)
    runtime.stream_destroy(None)


def test_waiting_for_an_event_is_work_of_the_stream(runtime, device, stream, counted):
    other, event = runtime.stream(device), runtime.event(device)
    here, there = ctypes.create_string_buffer(b"x" * 64, 64), ctypes.create_string_buffer(64)
    copy(runtime, stream, there, here, 64)
    runtime.check(runtime.event_record(event, stream))
    runtime.check(runtime.event_wait(event, other))
    runtime.check(runtime.stream_synchronize(other))
    assert there.raw == here.raw
    assert counted() == {"stream_syncs": 1}
    runtime.event_destroy(event)
    runtime.stream_destroy(other)


def test_an_event_belongs_to_its_device(runtime, mode):
    event = runtime.event(runtime.open(mode, PLAIN))
    stream = runtime.stream(runtime.open(mode, GUARDED))
    assert runtime.event_record(event, stream) == INVALID
    runtime.event_destroy(event)
    runtime.stream_destroy(stream)


def test_memory_of_another_stream_is_handed_out_when_its_work_is_done(runtime, device, stream):
    other = runtime.stream(device)
    here = ctypes.create_string_buffer(64)
    block = runtime.memory(device, 30_000_000, other)
    copy(runtime, other, here, here, 64)
    runtime.set_current_stream(other)
    runtime.release(device, block, DEVICE)
    runtime.check(runtime.stream_synchronize(other))
    assert runtime.memory(device, 30_000_000, stream) == block
    copy(runtime, other, here, here, 64)
    runtime.release(device, block, DEVICE)
    runtime.stream_destroy(other)  # the block outlives its stream
    assert runtime.memory(device, 30_000_000, stream) == block
    runtime.release(device, block, DEVICE)
