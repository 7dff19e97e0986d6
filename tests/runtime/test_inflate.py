"""The decompressor of device code against streams that zlib makes, whole and damaged."""

import ctypes
import random
import subprocess
import zlib
from pathlib import Path

import pytest
from amd_library import compiler

HELPERS = Path(__file__).parents[1] / "helpers"
KERNELS = HELPERS.parents[1] / "kernels"
GUARD = 64

SOURCES = {
    "empty": b"",
    "byte": b"x",
    "zeros": bytes(300_000),
    "text": Path(__file__).read_bytes() * 20,
    "noise": random.Random(1).randbytes(200_000),
    "few symbols": bytes(random.Random(2).choices(range(5), k=70_000)),
    "far repeats": random.Random(3).randbytes(32_768) * 3,
    "all lengths": b"".join(bytes([n % 251]) * n for n in range(1, 600)),
}
STRATEGIES = {
    "default": zlib.Z_DEFAULT_STRATEGY,
    "fixed": zlib.Z_FIXED,
    "huffman": zlib.Z_HUFFMAN_ONLY,
    "runs": zlib.Z_RLE,
}


@pytest.fixture(scope="module")
def inflate(tmp_path_factory):
    """Return what a stream holds if it is whole; every input ends where its memory does."""
    library = tmp_path_factory.mktemp("inflate") / "inflate.so"
    command = [compiler("g++", "c++"), "-std=c++17", "-O1", "-shared", "-fPIC", f"-I{KERNELS}"]
    command += [
        "-fsanitize=bounds,shift,signed-integer-overflow",
        "-fsanitize-undefined-trap-on-error",
    ]
    sources = [HELPERS / "inflate.cc", KERNELS / "runtime" / "gpu_inflate.cc"]
    subprocess.run([*command, *sources, "-o", library], check=True)
    function = ctypes.CDLL(str(library)).inflate
    size, pointer = ctypes.c_size_t, ctypes.c_char_p
    function.argtypes = [pointer, size, pointer, size]

    def call(stream, size):
        to = ctypes.create_string_buffer(b"\xa5" * (size + GUARD), size + GUARD)
        whole = function(stream, len(stream), to, size)
        assert to.raw[size:] == b"\xa5" * GUARD
        return to.raw[:size] if whole else None

    return call


def deflated(data, level=9, strategy=zlib.Z_DEFAULT_STRATEGY, window=15):
    stream = zlib.compressobj(level, zlib.DEFLATED, window, 9, strategy)
    return stream.compress(data) + stream.flush()


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("name", SOURCES)
def test_streams_of_every_kind(inflate, name, strategy):
    data = SOURCES[name]
    for level in (0, 1, 6, 9):
        stream = deflated(data, level, STRATEGIES[strategy])
        assert inflate(stream, len(data)) == data


def test_blocks_that_are_flushed(inflate):
    stream = zlib.compressobj(9)
    parts = [SOURCES["text"], SOURCES["noise"], b"", SOURCES["zeros"]]
    packed = b"".join(stream.compress(part) + stream.flush(zlib.Z_FULL_FLUSH) for part in parts)
    assert inflate(packed + stream.flush(), sum(map(len, parts))) == b"".join(parts)


def test_a_wrong_size_is_refused(inflate):
    data = SOURCES["text"]
    for size in (0, len(data) - 1, len(data) + 1):
        assert inflate(deflated(data), size) is None


@pytest.mark.parametrize("level", [0, 9])
def test_every_truncation_is_refused(inflate, level):
    data = SOURCES["text"][:3000]
    stream = deflated(data, level)
    for size in range(len(stream)):
        assert inflate(stream[:size], len(data)) is None
    assert inflate(stream + b"\0", len(data)) is None


def zlibs_answer(stream):
    try:
        return zlib.decompress(stream)
    except zlib.error:
        return None


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_changed_bit_is_found_as_zlib_finds_it(inflate, strategy):
    data = SOURCES["text"][:2000]
    stream = deflated(data, strategy=STRATEGIES[strategy])
    found = 0
    for bit in range(8, 8 * len(stream)):
        changed = bytearray(stream)
        changed[bit // 8] ^= 1 << bit % 8
        answer = zlibs_answer(changed)
        assert inflate(bytes(changed), len(data)) == answer, bit
        found += answer is None
    assert found >= 8 * len(stream) - 20  # padding may hold anything


def test_noise_in_place_of_a_stream(inflate):
    noise = random.Random(4)
    heads = [b"\x78\xda" + bytes([kind]) for kind in range(8)]
    for _ in range(20_000):
        assert inflate(noise.choice(heads) + noise.randbytes(noise.randrange(300)), 1000) is None


@pytest.mark.parametrize(
    "stream",
    [
        b"\x78\xdb\x03\0\0\0\0\1",  # header checksum
        b"\x79\x9c\x03\0\0\0\0\1",  # method
        b"\x78\xbb\0\0\0\1\x03\0\0\0\0\1",  # preset dictionary
        b"\x78\xda\x07\0\0\0\0\1",  # block of the reserved type
    ],
)
def test_headers_that_are_refused(inflate, stream):
    assert inflate(b"\x78\xda\x03\0\0\0\0\1", 0) == b""
    assert inflate(stream, 0) is None
