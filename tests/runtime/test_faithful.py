"""Blocks of fibers: right kernels give right numbers, wrong kernels give errors, never hangs."""

import ctypes
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
COMPILER = shutil.which("g++") or shutil.which("clang++")
BLOCKS = [1, 7, 32, 33, 64, 96, 160, 256, 1000, 1024]
POISON = int.from_bytes(b"\xcb" * 8, "little", signed=True)

pytestmark = pytest.mark.skipif(COMPILER is None, reason="no C++ compiler")


class Entry(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("entry", ctypes.c_void_p), ("block", ctypes.c_uint32)]


class Case(ctypes.Structure):
    _fields_ = [
        ("input", ctypes.c_void_p),
        ("output", ctypes.c_void_p),
        ("counter", ctypes.c_void_p),
        ("count", ctypes.c_int64),
    ]


def build(folder, *flags):
    library = folder / "libfaithful_cases.so"
    runtime = ROOT / "kernels" / "runtime"
    sources = [
        ROOT / "tests" / "helpers" / "faithful_cases.hip",
        runtime / "fibers.cc",
        runtime / "os_linux.cc",
    ]
    includes = [f"-I{ROOT / 'kernels'}", f"-I{ROOT / 'kernels' / 'include'}"]
    options = ["-std=c++17", "-O2", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared"]
    command = [COMPILER, *options, *includes, *flags, "-x", "c++", *sources, "-o", library, "-ldl"]
    subprocess.run([*command, "-pthread"], check=True)
    return library


class Library:
    def __init__(self, path, warp):
        self.warp = warp
        self.library = ctypes.CDLL(str(path))
        table = self.library.hipep_faithful_table
        table.restype = ctypes.POINTER(Entry)
        count = ctypes.c_size_t()
        rows = table(ctypes.byref(count))
        self.rows = {rows[i].name.decode(): rows[i] for i in range(count.value)}

    def launch(self, name, grid, args=None, *, block=None, entry=None):
        """The error text; empty if the launch went well."""
        row = self.rows[name]
        error = ctypes.create_string_buffer(1024)
        status = self.library.hipep_faithful_launch(
            ctypes.c_void_p(row.entry if entry is None else entry),
            ctypes.c_uint32(grid),
            ctypes.c_uint32(row.block if block is None else block),
            ctypes.byref(args if args is not None else Case()),
            error,
            ctypes.c_size_t(len(error)),
        )
        text = error.value.decode()
        assert (status != 0) == (text != "")
        return text

    def run(self, name, grid, output_count, values=(0,), count=None):
        """Error text, output and counters."""
        values = np.ascontiguousarray(values, np.int64)
        output = np.full(output_count, -1, np.int64)
        counter = np.zeros(2, np.int64)
        count = len(values) if count is None else count
        args = Case(values.ctypes.data, output.ctypes.data, counter.ctypes.data, count)
        return self.launch(name, grid, args), output, counter


VARIANTS = {"32": (32, ()), "64": (64, ()), "ucontext": (64, ("-DHIPEP_UCONTEXT",))}


@pytest.fixture(scope="module", params=VARIANTS.values(), ids=VARIANTS)
def library(request, tmp_path_factory):
    warp, flags = request.param
    return Library(
        build(tmp_path_factory.mktemp("faithful"), f"-DHIPEP_FAITHFUL={warp}", *flags), warp
    )


def random_values(count):
    return np.random.default_rng(count).integers(-(2**40), 2**40, count)


@pytest.mark.parametrize("block", BLOCKS)
def test_block_reduce(library, block):
    values = random_values(3 * block)
    error, output, _ = library.run(f"reduce_{block}", 3, 2 * len(values), values)
    assert error == ""
    rows = values.reshape(3, block)
    sums = rows.sum(axis=1, keepdims=True)
    largest = (rows - sums).max(axis=1, keepdims=True)
    output = output.reshape(3, block, 2)
    assert (output[:, :, 0] == sums).all()
    assert (output[:, :, 1] == largest).all()


@pytest.mark.parametrize("block", BLOCKS)
def test_block_scan(library, block):
    values = random_values(3 * block)
    error, output, _ = library.run(f"scan_{block}", 3, 2 * len(values), values)
    assert error == ""
    rows = values.reshape(3, block)
    output = output.reshape(3, block, 2)
    assert (output[:, :, 0] == np.cumsum(rows, axis=1) - rows).all()
    assert (output[:, :, 1] == rows.sum(axis=1, keepdims=True)).all()


def test_elements_cover_every_index_once(library):
    values = random_values(10_001)
    error, output, _ = library.run("copy", 7, len(values), values)
    assert error == ""
    assert (output == values).all()


def test_shuffles(library):
    error, output, _ = library.run("shuffles", 1, 800)
    assert error == ""
    warp, count = library.warp, 100
    for thread, row in enumerate(output.reshape(count, 8).tolist()):
        first = thread // warp * warp
        lane = thread - first

        def lane_value(source, first=first):
            return first + source if first + source < count else None

        expected = [lane_value(5), lane_value(3)]
        expected.append(lane_value(lane + 2) if lane + 2 < warp else thread)
        expected.append(thread - 3 if lane >= 3 else thread)
        expected.append(lane_value(lane ^ 1))
        expected += [lane_value(2), -lane_value(2)]
        live = range(min(warp, count - first))
        votes = sum(1 << i for i in live if (first + i) % 3 == 0)
        expected.append(votes - 2**64 if votes >= 2**63 else votes)
        for column, (got, wanted) in enumerate(zip(row, expected, strict=True)):
            if wanted is not None:
                assert got == wanted, (thread, column)
        if lane + 2 < warp and thread + 2 >= count:
            assert row[2] == POISON


def test_returned_lane_gives_poison(library):
    error, output, _ = library.run("returned_lane", 1, 32)
    assert error == ""
    assert output[3] == -1
    assert (np.delete(output, 3) == POISON).all()


def test_last_block_sees_all_sums(library):
    values = random_values(1000)
    error, output, counter = library.run("ticket", 9, 128, values)
    assert error == ""
    assert counter[1] == 9
    assert (output == values.sum()).all()


def test_shared_atomics(library):
    values = random_values(5000)
    error, output, _ = library.run("histogram", 4, 8, values)
    assert error == ""
    assert (output + 1 == np.bincount(values & 7, minlength=8)).all()


def test_one_shared_array_per_declaration_and_instantiation(library):
    error, output, _ = library.run("shared_identity", 2, 192)
    assert error == ""
    assert (output.reshape(64, 3) == [11, 1, 1]).all()


def test_returned_threads_leave_barriers(library):
    values = random_values(100)
    error, output, _ = library.run("returned_threads", 1, 100, values)
    assert error == ""
    assert (output == values[::-1]).all()


def test_large_frames(library):
    error, output, _ = library.run("deep_stack", 1, 1024)
    assert error == ""
    assert (output == 4000 * 3999 // 2 + 4000 * np.arange(1024)).all()


def test_orders_are_permuted_and_repeat(library):
    error, output, _ = library.run("record_order", 16, 1024)
    assert error == ""
    assert sorted(output) == list(range(1024))
    blocks = output.reshape(16, 64) // 64
    assert (blocks == blocks[:, :1]).all()
    assert list(blocks[:, 0]) != list(range(16))
    starts = output.reshape(16, 64) % 64
    assert len(set(starts[:, 0])) > 1
    assert all(list(row) != list(range(64)) for row in starts)
    assert (library.run("record_order", 16, 1024)[1] == output).all()


def test_missing_barrier_gives_wrong_numbers(library):
    values = random_values(256)
    error, output, _ = library.run("missing_barrier", 1, 256, values)
    assert error == ""
    assert (output != np.roll(values, -1)).any()


@pytest.mark.parametrize(
    ("name", "operations"),
    [
        ("divergent_barrier", ["block_sync"]),
        ("divergent_warp", ["shuffle_xor", "block_sync"]),
        ("divergent_shuffles", ["shuffle_xor", "shuffle_up"]),
    ],
)
def test_divergence_is_an_error(library, name, operations):
    for _ in range(2):
        error, _, _ = library.run(name, 1, 96)
        assert f"kernel {name}, block 0 of 1: threads diverge" in error
        for operation in operations:
            assert f"{operation} at faithful_cases.hip:" in error
        values = random_values(768)
        assert library.run("reduce_256", 3, 1536, values)[0] == ""


@pytest.mark.parametrize(
    ("at", "where"), [(10, "beyond its end"), (25, "beyond its end"), (-1, "before its beginning")]
)
def test_shared_overrun_is_an_error(library, at, where):
    error, _, _ = library.run("overrun", 2, 1, count=at)
    assert "kernel overrun, block" in error
    assert f"shared array 'victim' (40 bytes) was written {where}" in error
    assert library.run("overrun", 2, 1, count=9)[0] == ""


def test_shared_memory_starts_poisoned(library):
    error, output, _ = library.run("uninitialised", 2, 32)
    assert error == ""
    assert (output == POISON).all()


def test_too_much_shared_memory(library):
    error = library.launch("too_much_shared", 1)
    assert "shared arrays take 70000 bytes with 'second'; a block has 65536 bytes" in error


def test_arguments_of_launch(library):
    assert library.launch("copy", 0) == ""
    assert library.launch("copy", 1, block=128) == "kernel copy has blocks of 256 threads, not 128"
    assert "not a kernel of the library" in library.launch("copy", 1, entry=1)


def test_concurrent_launches(library):
    failures = []

    def work(seed):
        values = random_values(2560 + 256 * seed)
        grid = len(values) // 256
        for _ in range(5):
            error, output, _ = library.run("reduce_256", grid, 2 * len(values), values)
            sums = values.reshape(grid, 256).sum(axis=1, keepdims=True)
            if error or (output.reshape(grid, 256, 2)[:, :, 0] != sums).any():
                failures.append((seed, error))
            if "diverge" not in library.run("divergent_barrier", 1, 64)[0]:
                failures.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


SANITIZED = """
import sys
sys.path.insert(0, {here!r})
from test_faithful import Library, random_values
library = Library({path!r}, 32)
values = random_values(768)
for _ in range(3):
    assert library.run("reduce_256", 3, 1536, values)[0] == ""
    assert library.run("deep_stack", 1, 1024)[0] == ""
    for name in ("divergent_barrier", "divergent_warp", "divergent_shuffles"):
        assert "diverge" in library.run(name, 1, 96)[0]
assert "take 70000 bytes" in library.launch("too_much_shared", 1)
print("right", flush=True)
library.run("overrun", 1, 1, count=10)
"""


def test_address_sanitizer(tmp_path):
    runtime = subprocess.run(
        [COMPILER, "-print-file-name=libasan.so"], capture_output=True, text=True, check=True
    ).stdout.strip()
    if not Path(runtime).is_absolute():
        pytest.skip("the compiler has no AddressSanitizer runtime")
    path = build(tmp_path, "-DHIPEP_FAITHFUL=32", "-fsanitize=address", "-g")
    done = subprocess.run(
        [sys.executable, "-c", SANITIZED.format(here=str(Path(__file__).parent), path=str(path))],
        check=False,
        env={"LD_PRELOAD": runtime, "ASAN_OPTIONS": "detect_leaks=0"},
        capture_output=True,
        text=True,
    )
    assert done.stdout == "right\n", done.stderr
    assert "use-after-poison" in done.stderr
