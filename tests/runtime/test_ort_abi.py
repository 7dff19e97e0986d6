"""Slot numbers and signatures that hipep relies on, against the installed onnxruntime."""

import ctypes
import re
from ctypes import (
    POINTER,
    byref,
    c_bool,
    c_char_p,
    c_float,
    c_int,
    c_int32,
    c_int64,
    c_size_t,
    c_uint32,
    c_void_p,
    cast,
)
from pathlib import Path

import pytest
from helpers.models import node_model
from ort_tables import ort_tables
from programs import PREAMBLE, run_program

import hipep

DECLARATIONS = Path(__file__).parents[2] / "hipep" / "_ort_api.pxd"
KNOWN_COUNTS = {
    "1.24.4": {"OrtEpApi": 50},
    "1.29.0": {"OrtApi": 425, "OrtEpApi": 74},
    "1.30.0": {"OrtApi": 426, "OrtEpApi": 74},
    "1.31.1": {"OrtApi": 428, "OrtEpApi": 78},
    "1.32.0": {"OrtApi": 429, "OrtEpApi": 78},
}
GPU, AMD, HOST_ACCESSIBLE = 1, 0x1002, 5
FLOAT, INT64 = 1, 7
CREATE_ENVIRONMENT, CREATE_SESSION, CREATE_OPTIONS = 3, 8, 10


@pytest.fixture(scope="module")
def ort():
    return ort_tables()


def declared_slots():
    """Function name -> (table, slot), as the declarations say."""
    text = DECLARATIONS.read_text()
    functions = re.split(r"^cdef inline ", text, flags=re.MULTILINE)[1:]
    slots = {}
    for function in functions:
        name = re.search(r"(\w+)\(const Ort\* ort", function)[1]
        found = re.findall(r"ort\.(api|ep)\[(\d+)\]", function)
        assert len(found) == 1, name
        slots[name] = ("OrtApi" if found[0][0] == "api" else "OrtEpApi", int(found[0][1]))
    return slots


def test_tables_are_as_long_as_recorded(ort):
    expected = KNOWN_COUNTS.get(ort.version)
    if expected is None:
        pytest.skip(f"no record of onnxruntime {ort.version}")
    assert {name: ort.slot_count(name) for name in expected} == expected


def test_every_declared_slot_lies_in_its_table(ort):
    slots = declared_slots()
    assert len(slots) > 60
    counts = {name: ort.slot_count(name) for name in ("OrtApi", "OrtEpApi")}
    outside = {name: at for name, at in slots.items() if at[1] >= counts[at[0]]}
    assert outside == {}
    assert len(set(slots.values())) == len(slots)


def test_only_slots_of_the_oldest_supported_release_are_declared():
    limits = {"OrtApi": 416, "OrtEpApi": 50}
    assert {n: at for n, at in declared_slots().items() if at[1] >= limits[at[0]]} == {}


def test_every_supported_version_gives_the_same_table(ort):
    tables = {ort.table_of_version(version) for version in range(22, ort.minor + 1)}
    assert tables == {ort.tables["OrtApi"]}


def test_entry_points_are_exported():
    library = ctypes.CDLL(hipep.get_library_path())
    for name in ("CreateEpFactories", "ReleaseEpFactory", "PyInit__core"):
        assert getattr(library, name)


CLAIM = """
import ctypes
from ctypes import CFUNCTYPE, POINTER, byref, c_char_p, c_size_t, c_uint32, c_void_p, cast
import hipep
sys.path.insert(0, {tests!r})
from ort_tables import ort_tables

tables = ort_tables().tables
version = CFUNCTYPE(c_char_p)(lambda: {version!r})
get_api = CFUNCTYPE(c_void_p, c_uint32)(lambda number: tables["OrtApi"])
base = (c_void_p * 2)(cast(get_api, c_void_p), cast(version, c_void_p))
factory, count = c_void_p(), c_size_t()
create = ctypes.PyDLL(hipep.get_library_path()).CreateEpFactories
status = create(b"test", base, None, byref(factory), c_size_t(1), byref(count))
print(count.value, cast(factory, POINTER(c_uint32))[0] if factory else "refused")
"""


@pytest.mark.parametrize(
    ("version", "claimed"),
    [("1.24.0", "24"), ("1.26.0", "26"), ("1.31.1", "31"), ("1.40.2", "31")],
)
def test_structs_claim_no_more_than_the_running_release_knows(version, claimed):
    """Release 1.26 refuses structs of kernels that claim to be newer than it is."""
    out, _ = run_program(
        CLAIM.format(tests=str(Path(__file__).parent), version=version.encode()), preamble=PREAMBLE
    )
    assert out == f"1 {claimed}\n"


def test_status(ort):
    status = ort.make_status(2, b"a text")
    assert ort.call(1, c_int, status) == 2
    assert ort.call(2, c_char_p, status) == b"a text"
    ort.call(93, None, status)


def test_status_copies_its_text(ort):
    text = ctypes.create_string_buffer(b"first")
    status = ort.make_status(1, cast(text, c_char_p).value)
    text.value = b"other"
    assert ort.call(2, c_char_p, status) == b"first"
    ort.call(93, None, status)


def test_key_value_pairs(ort):
    pairs = c_void_p()
    ort.call(295, None, byref(pairs))
    for key, value in ((b"a", b"1"), (b"b", b"2")):
        ort.call(296, None, pairs, c_char_p(key), c_char_p(value))
    assert ort.call(297, c_char_p, pairs, c_char_p(b"b")) == b"2"
    keys, values, count = POINTER(c_char_p)(), POINTER(c_char_p)(), c_size_t()
    ort.call(298, None, pairs, byref(keys), byref(values), byref(count))
    assert {keys[i]: values[i] for i in range(count.value)} == {b"a": b"1", b"b": b"2"}
    ort.call(300, None, pairs)


def make_memory_info(ort, kind, vendor, ordinal, memory_type):
    info = c_void_p()
    ort.check(
        320, c_char_p(b"test"), c_int(kind), c_uint32(vendor), c_int32(ordinal), c_int(memory_type),
        c_size_t(0), c_int(0), byref(info),
    )  # fmt: skip
    return info


@pytest.mark.parametrize("memory_type", [0, HOST_ACCESSIBLE])
def test_memory_info(ort, memory_type):
    info = make_memory_info(ort, GPU, AMD, 3, memory_type)
    assert ort.call(322, c_uint32, info) == AMD
    assert ort.call(321, c_int, info) == memory_type
    device = c_void_p(ort.call(6, c_void_p, info, table="OrtEpApi"))
    assert ort.call(9, c_int, device, table="OrtEpApi") == GPU
    assert ort.call(10, c_int, device, table="OrtEpApi") == memory_type
    assert ort.call(11, c_uint32, device, table="OrtEpApi") == AMD
    assert ort.call(12, c_uint32, device, table="OrtEpApi") == 3
    ort.call(94, None, info)


@pytest.mark.parametrize("dims", [(), (0,), (2, 3), (1, 2, 3, 1)])
def test_tensor(ort, dims):
    info = make_memory_info(ort, 0, 0, 0, 0)
    data, shape = (c_float * 16)(), (c_int64 * len(dims))(*dims)
    count = 1
    for extent in dims:
        count *= extent
    value = c_void_p()
    ort.check(
        49, info, cast(data, c_void_p), c_size_t(4 * count), cast(shape, POINTER(c_int64)),
        c_size_t(len(dims)), c_int(FLOAT), byref(value),
    )  # fmt: skip
    dtype, read, rank = c_int(), POINTER(c_int64)(), c_size_t()
    ort.check(414, value, byref(dtype), byref(read), byref(rank))
    assert dtype.value == FLOAT
    assert tuple(read[i] for i in range(rank.value)) == dims
    for slot in (51, 378):
        pointer = c_void_p()
        ort.check(slot, value, byref(pointer))
        assert pointer.value == ctypes.addressof(data)
    size = c_size_t()
    ort.check(318, value, byref(size))
    assert size.value == 4 * count
    device = c_void_p(ort.call(7, c_void_p, value, table="OrtEpApi"))
    assert ort.call(9, c_int, device, table="OrtEpApi") == 0
    ort.call(96, None, value)
    ort.call(94, None, info)


@pytest.mark.parametrize(
    ("shape", "has_shape", "rank"), [(None, False, 0), ([], True, 0), (["n", 3], True, 2)]
)
def test_unknown_rank_and_scalar_differ(ort, shape, has_shape, rank):
    environment, options, session = c_void_p(), c_void_p(), c_void_p()
    model = node_model("Identity", {"x": ("float32", shape)}, [("y", "float32", shape)])
    ort.check(CREATE_ENVIRONMENT, c_int(3), c_char_p(b"test"), byref(environment))
    ort.check(CREATE_OPTIONS, byref(options))
    ort.check(
        CREATE_SESSION, environment, c_char_p(model), c_size_t(len(model)), options, byref(session)
    )
    described, info = c_void_p(), c_void_p()
    ort.check(33, session, c_size_t(0), byref(described))
    ort.check(55, described, byref(info))
    found = c_size_t()
    ort.check(61, info, byref(found))
    assert ort.call(390, c_bool, info) is has_shape
    assert found.value == rank
    dtype = c_int()
    ort.check(60, info, byref(dtype))
    assert dtype.value == FLOAT
    dims = (c_int64 * 8)()
    ort.check(62, info, cast(dims, POINTER(c_int64)), c_size_t(rank))
    assert list(dims[:rank]) == [-1, 3][:rank]
    for slot, item in ((98, described), (95, session), (100, options), (92, environment)):
        ort.call(slot, None, item)


def test_session_options_entries(ort):
    options, pairs, has = c_void_p(), c_void_p(), c_int()
    ort.check(CREATE_OPTIONS, byref(options))
    key, entry = c_char_p(b"ep.some.key"), c_char_p(b"some value")
    ort.check(130, options, key, entry)
    ort.check(237, options, key, byref(has))
    assert has.value == 1
    room, size = ctypes.create_string_buffer(32), c_size_t(32)
    ort.check(238, options, key, cast(room, c_char_p), byref(size))
    assert (room.value, size.value) == (b"some value", len(b"some value") + 1)
    ort.check(379, options, byref(pairs))
    assert ort.call(297, c_char_p, pairs, key) == b"some value"
    ort.call(300, None, pairs)
    ort.call(100, None, options)


def test_hardware_device_and_types(ort):
    device, pairs, dtype = c_void_p(), c_void_p(), c_void_p()
    ort.call(295, None, byref(pairs))
    ort.check(
        16, c_int(GPU), c_uint32(AMD), c_uint32(7), c_char_p(b"AMD"), pairs, byref(device),
        table="OrtEpApi",
    )  # fmt: skip
    assert ort.call(307, c_int, device) == GPU
    assert ort.call(308, c_uint32, device) == AMD
    assert ort.call(309, c_char_p, device) == b"AMD"
    assert ort.call(310, c_uint32, device) == 7
    ort.call(17, None, device, table="OrtEpApi")
    ort.call(300, None, pairs)
    ort.check(40, c_int(INT64), byref(dtype), table="OrtEpApi")
    assert dtype.value


def test_kernel_registry(ort):
    builder, definition, registry, dtype = (c_void_p() for _ in range(4))
    ep = {"table": "OrtEpApi"}
    ort.check(40, c_int(FLOAT), byref(dtype), **ep)
    types = (c_void_p * 1)(dtype)
    ort.check(21, byref(builder), **ep)
    ort.check(23, builder, c_char_p(b"MemcpyToHost"), **ep)
    ort.check(24, builder, c_char_p(b""), **ep)
    ort.check(25, builder, c_int(1), c_int(1), **ep)
    ort.check(26, builder, c_char_p(b"TestExecutionProvider"), **ep)
    ort.check(27, builder, c_size_t(0), c_int(0), **ep)
    ort.check(28, builder, c_size_t(0), c_int(-1), **ep)
    ort.check(29, builder, c_char_p(b"T"), cast(types, c_void_p), c_size_t(1), **ep)
    ort.check(32, builder, byref(definition), **ep)
    ort.check(18, byref(registry), **ep)
    assert ort.call(34, c_char_p, definition, **ep) == b"MemcpyToHost"
    ort.call(33, None, definition, **ep)
    ort.call(22, None, builder, **ep)
    ort.call(19, None, registry, **ep)
