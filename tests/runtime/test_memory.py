"""The pool, guarded memory, and memory that streams still use."""

import ctypes
import itertools
import signal
import threading
import time
from ctypes import byref, c_void_p

import pytest
from runtime_library import (
    DEVICE,
    GUARDED,
    HOST_ACCESSIBLE,
    INVALID,
    OUT_OF_MEMORY,
    PLAIN,
    SERIAL,
    run,
)


@pytest.mark.parametrize("kind", [DEVICE, HOST_ACCESSIBLE])
@pytest.mark.parametrize("size", [0, 1, 255, 256, 257, 5000, 200_000, 3_000_000, 20_000_000])
def test_released_memory_is_used_again(runtime, device, counted, size, kind):
    first = runtime.memory(device, size, kind=kind)
    assert counted() == {"device_allocations": 1}
    runtime.release(device, first, kind)
    assert runtime.memory(device, size, kind=kind) == first
    assert counted() == {}
    runtime.release(device, first, kind)


def test_small_blocks_share_one_driver_allocation(runtime, device, counted):
    blocks = [runtime.memory(device, 1000) for _ in range(100)]
    assert counted() == {"device_allocations": 1}
    blocks.sort()
    assert all(b - a >= 1000 for a, b in itertools.pairwise(blocks))
    for block in blocks:
        runtime.release(device, block, DEVICE)
    whole = runtime.memory(device, 100_000)
    assert counted() == {}
    runtime.release(device, whole, DEVICE)


def test_growing_shapes_cost_few_driver_allocations(runtime, device, counted):
    past = []
    for step in range(1, 1001):
        now = [runtime.memory(device, 256 * step) for _ in range(4)]
        for block in past:
            runtime.release(device, block, DEVICE)
        past = now
    for block in past:
        runtime.release(device, block, DEVICE)
    assert counted()["device_allocations"] <= 12
    assert runtime.stats(device).cached < 16 << 20


def test_large_growing_shapes_do_not_pile_up(runtime):
    device = runtime.open()
    runtime.pool_trim(device)
    past = None
    for step in range(200):
        now = runtime.memory(device, (10 << 20) + step * (1 << 20))
        runtime.release(device, past, DEVICE)
        past = now
    runtime.release(device, past, DEVICE)
    assert runtime.stats(device).cached < 3 * 2 * (210 << 20)
    runtime.pool_trim(device)


def test_statistics_and_trim(runtime, device):
    block = runtime.memory(device, 100_000)
    stats = runtime.stats(device)
    assert 100_000 <= stats.in_use <= 131_072
    assert stats.peak >= stats.in_use
    assert stats.limit == 0
    runtime.pool_trim(device)
    assert runtime.stats(device).in_use == stats.in_use
    runtime.release(device, block, DEVICE)
    runtime.pool_trim(device)
    assert (runtime.stats(device).in_use, runtime.stats(device).cached) == (0, 0)


def exhausted(runtime, device, size):
    """Ask for more than there is; the text of the error."""
    pointer = c_void_p()
    assert runtime.allocate(device, size, DEVICE, None, byref(pointer)) == OUT_OF_MEMORY
    assert runtime.last_status() == OUT_OF_MEMORY
    return runtime.error()


@pytest.fixture
def limit(runtime, device):
    """Add a limit to the device's pool; it is removed after the test."""
    added = []

    def add(size):
        runtime.pool_add_limit(device, size)
        added.append(size)

    yield add
    for size in added:
        runtime.pool_remove_limit(device, size)
    assert runtime.stats(device).limit == 0


def test_no_more_than_the_limit_is_taken(runtime, device, limit):
    limit(10_000_000)
    assert runtime.stats(device).limit == 10_000_000
    blocks = [runtime.memory(device, 3_000_000) for _ in range(3)]
    assert runtime.stats(device).in_use + runtime.stats(device).cached <= 10_000_000
    text = exhausted(runtime, device, 3_000_000)
    assert "of the 10000000 bytes that memory_limit allows" in text
    assert f"{runtime.stats(device).in_use} in use" in text
    assert "raise memory_limit" in text
    pinned = runtime.memory(device, 20_000_000, kind=HOST_ACCESSIBLE)
    runtime.release(device, pinned, HOST_ACCESSIBLE)
    runtime.release(device, blocks.pop(), DEVICE)
    blocks.append(runtime.memory(device, 2_500_000))
    for block in blocks:
        runtime.release(device, block, DEVICE)


def test_cached_blocks_are_given_back_before_the_limit_refuses(runtime, device, limit):
    limit(40_000_000)
    for size in (1000, 5_000_000, 30_000_000, 1000, 200_000, 39_000_000):
        runtime.release(device, runtime.memory(device, size), DEVICE)


@pytest.mark.parametrize("size", [256, 4096, 100_000, 300_000, 3_000_000, 20_000_000])
def test_all_of_the_limit_can_be_used(runtime, device, limit, size):
    """A segment is otherwise larger than what it is made for."""
    size = (size + 65535) // 65536 * 65536 if size > 1_000_000 else size
    limit(size + size // 4 + 256)
    block = runtime.memory(device, size)
    exhausted(runtime, device, 2 * size)
    runtime.release(device, block, DEVICE)


def test_the_smallest_limit_holds(runtime, device, limit):
    block = runtime.memory(device, 1_000_000)
    for size in (5_000_000, 500_000, 3_000_000):
        limit(size)
    assert runtime.stats(device).limit == 500_000
    exhausted(runtime, device, 5_000_000)
    runtime.release(device, block, DEVICE)
    runtime.pool_remove_limit(device, 500_000)
    assert runtime.stats(device).limit == 3_000_000
    runtime.release(device, runtime.memory(device, 2_000_000), DEVICE)


def test_a_limit_gives_cached_blocks_back_at_once(runtime, device, limit):
    runtime.release(device, runtime.memory(device, 20_000_000), DEVICE)
    assert runtime.stats(device).cached > 20_000_000
    limit(1_000_000)
    assert runtime.stats(device).cached <= 1_000_000


def test_modes_of_the_host_share_its_memory(runtime, mode):
    first = runtime.open(SERIAL, GUARDED)
    block = runtime.memory(runtime.open(mode, GUARDED), 5_000_000)
    in_use = runtime.stats(first).in_use
    assert in_use >= 5_000_000
    runtime.release(first, block, DEVICE)
    assert runtime.stats(first).in_use < in_use


def test_bad_requests_and_releases(runtime, device):
    pointer = c_void_p()
    assert runtime.allocate(device, 1 << 60, DEVICE, None, byref(pointer)) == OUT_OF_MEMORY
    assert "1152921504606846976 bytes" in runtime.error()
    assert runtime.allocate(device, 1 << 47, DEVICE, None, byref(pointer)) == OUT_OF_MEMORY
    assert runtime.allocate(device, 16, 2, None, byref(pointer)) == INVALID
    runtime.release(device, None, DEVICE)
    runtime.release(device, 4096, DEVICE)
    block = runtime.memory(device, 64)
    runtime.release(device, block, DEVICE)
    runtime.release(device, block, DEVICE)
    assert runtime.stats(device).in_use == 0


def test_many_threads_get_memory_of_their_own(runtime, device):
    wrong = []

    def work(tag):
        for i in range(300):
            size = 256 * (1 + i % 40)
            block = runtime.memory(device, size)
            mapped = runtime.map(device, block)
            ctypes.memset(mapped, tag, size)
            time.sleep(0)
            if ctypes.string_at(mapped, size) != bytes([tag]) * size:
                wrong.append(block)
            runtime.release(device, block, DEVICE)

    threads = [threading.Thread(target=work, args=(tag,)) for tag in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert runtime.stats(device).in_use == 0


def test_guarded_memory_is_mapped_elsewhere(runtime, mode):
    device = runtime.open(mode, GUARDED)
    block = runtime.memory(device, 64)
    assert runtime.map(device, block) != block
    assert runtime.map(device, block + 63) == runtime.map(device, block) + 63
    assert not runtime.host_readable(device, block)
    assert not runtime.host_readable(device, block + 63)
    # Any device maps any pointer.
    assert runtime.map(runtime.open(mode, PLAIN), block) == runtime.map(device, block)
    runtime.release(device, block, DEVICE)

    here = ctypes.create_string_buffer(8)
    assert runtime.map(device, ctypes.addressof(here)) == ctypes.addressof(here)
    assert runtime.host_readable(device, ctypes.addressof(here))
    pinned = runtime.memory(device, 64, kind=HOST_ACCESSIBLE)
    assert runtime.map(device, pinned) == pinned
    assert runtime.host_readable(device, pinned)
    runtime.release(device, pinned, HOST_ACCESSIBLE)


def test_fresh_guarded_memory_is_poisoned_and_given_back(runtime):
    device = runtime.open(SERIAL, GUARDED)
    runtime.pool_trim(device)
    block = runtime.memory(device, 20 << 20)
    assert ctypes.string_at(runtime.map(device, block), 4096) == b"\xcd" * 4096
    runtime.release(device, block, DEVICE)
    mapped = runtime.map(device, block)
    runtime.pool_trim(device)
    assert ctypes.string_at(mapped, 4096) == bytes(4096)


@pytest.mark.parametrize("access", ["string_at(block, 1)", "memset(block, 0, 1)"])
def test_guarded_memory_faults_from_outside(access):
    code = f"block = r.memory(r.open(SERIAL, GUARDED), 64)\nctypes.{access}"
    run(code, expect=-signal.SIGSEGV)
