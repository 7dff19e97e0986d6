"""Every variant of TopK, forced, in every host mode, against a stable sort."""

import ctypes
from ctypes import POINTER, byref, c_char_p, c_int32, c_int64, c_void_p

import numpy as np
import pytest
from helpers.data import any_bits, random
from helpers.models import dtype_of
from helpers.references import top_k
from runtime_library import (
    COPY_D2H,
    COPY_H2D,
    GUARDED,
    INVALID,
    OK,
    SERIAL,
    Emitter,
    Kernel,
    Tensor,
)

DTYPES = {
    "float32": 1,
    "uint8": 2,
    "int8": 3,
    "uint16": 4,
    "int16": 5,
    "int32": 6,
    "int64": 7,
    "float16": 10,
    "float64": 11,
    "uint32": 12,
    "uint64": 13,
    "bfloat16": 16,
}


class Geometry(ctypes.Structure):
    _fields_ = [
        ("k", c_int64),
        *((name, c_int32) for name in ("axis", "largest", "sorted", "variant")),
    ]


TICKETS_VALUE = 1 << 27  # of plan.h
TICKETS = np.zeros(4096, np.uint32)
Workspace = ctypes.CFUNCTYPE(c_int32, c_void_p, c_int64, POINTER(Tensor))


def tensor(dtype, shape, value):
    described = Tensor(dtype=DTYPES[str(dtype)], rank=len(shape), value=value, alignment=1)
    described.dims[: len(shape)] = shape
    return described


class Planner:
    """Plans TopK on a device and runs the plan on a stream."""

    def __init__(self, runtime, device, stream):
        self.runtime, self.device, self.stream = runtime, device, stream
        self.library = runtime.library
        self.library.hipep_top_k_variant_name.restype = c_char_p
        self.library.hipep_plan_top_k.argtypes = [
            *(POINTER(Emitter), POINTER(Geometry)),
            *(POINTER(Tensor), POINTER(Tensor), POINTER(Tensor)),
        ]
        self.memory = []
        self.tickets = runtime.memory(device, TICKETS.nbytes, stream)
        self.copy(self.tickets, TICKETS.ctypes.data, TICKETS.nbytes, COPY_H2D)

    def close(self):
        """Every launch has left the tickets as zeros."""
        left = np.ones_like(TICKETS)
        self.copy(left.ctypes.data, self.tickets, left.nbytes, COPY_D2H)
        self.runtime.check(self.runtime.stream_synchronize(self.stream))
        self.runtime.release(self.device, self.tickets, 0)
        assert not left.any()

    def variants(self):
        count = self.library.hipep_top_k_variant_count()
        names = [self.library.hipep_top_k_variant_name(i).decode() for i in range(count)]
        return {name: number for number, name in enumerate(names)}

    def allocate(self, size):
        self.memory.append(self.runtime.memory(self.device, size, self.stream))
        return self.memory[-1]

    def workspace(self, emitter, size, out):
        self.allocate(size)
        out[0] = Tensor(value=len(self.memory) - 1)
        return OK

    def plan(self, x, geometry, outputs, emitter):
        """The status of planning; outputs are two arrays, or None for one that is not wanted."""
        described = [tensor(x.dtype, x.shape, 0)]
        for value, output in enumerate(outputs, 1):
            described.append(
                Tensor(value=-1) if output is None else tensor(output.dtype, output.shape, value)
            )
        function = Workspace(self.workspace)
        emitter.device = self.device
        emitter.info = ctypes.cast(self.runtime.device_get_info(self.device), c_void_p)
        emitter.workspace = ctypes.cast(function, c_void_p)
        emitter.debug = 1
        return self.library.hipep_plan_top_k(
            byref(emitter), byref(geometry), *(byref(each) for each in described)
        )

    def launch(self, emitter):
        for patch in emitter.patches[: emitter.patch_count]:
            tickets = patch.value == TICKETS_VALUE
            base = self.runtime.map(
                self.device, self.tickets if tickets else self.memory[patch.value]
            )
            address = ctypes.addressof(emitter.args.contents) + patch.at
            c_int64.from_address(address).value = base + patch.offset
        for planned in emitter.launches[: emitter.launch_count]:
            kernel = ctypes.cast(planned.kernel, POINTER(Kernel))
            args = ctypes.addressof(emitter.args.contents) + planned.args_begin
            self.runtime.check(
                self.runtime.launch(
                    *(self.stream, kernel, planned.entry, planned.grid, planned.units),
                    *(planned.unit_cost, args, planned.args_bytes),
                )
            )

    def copy(self, to, source, size, kind):
        self.runtime.check(self.runtime.copy_async(self.stream, to, source, size, kind))

    def __call__(self, x, k, axis=0, largest=1, variant=0, want=(True, True)):
        """Values, indices and the description of the plan; None if the variant does not apply."""
        shape = [*x.shape[:axis], k, *x.shape[axis + 1 :]]
        outputs = [np.zeros(shape, x.dtype), np.full(shape, -1, np.int64)]
        outputs = [out if wanted else None for out, wanted in zip(outputs, want, strict=True)]
        emitter = Emitter()
        try:
            for array in (x, *outputs):
                self.allocate(0 if array is None else array.nbytes)
            self.copy(self.memory[0], x.ctypes.data, x.nbytes, COPY_H2D)
            status = self.plan(x, Geometry(k, axis, largest, 1, variant), outputs, emitter)
            if status == INVALID and "does not take" in self.runtime.error():
                return None
            self.runtime.check(status)
            self.launch(emitter)
            for memory, out in zip(self.memory[1:3], outputs, strict=True):
                if out is not None:
                    self.copy(out.ctypes.data, memory, out.nbytes, COPY_D2H)
            self.runtime.check(self.runtime.stream_synchronize(self.stream))
            return (*outputs, emitter.description.decode())
        finally:
            for memory in self.memory:
                self.runtime.release(self.device, memory, 0)
            self.memory.clear()
            self.runtime.emitter_free(emitter)


@pytest.fixture
def planner(runtime, mode):
    device = runtime.open(mode, GUARDED)
    stream = runtime.stream(device)
    planner = Planner(runtime, device, stream)
    yield planner
    planner.close()
    runtime.stream_destroy(stream)


def check(planner, x, k, axis=0, largest=1, variants=None):
    values, indices = top_k(x, k, axis, largest)
    for name, number in planner.variants().items():
        if variants is not None and name not in variants:
            continue
        result = planner(x, k, axis, largest, number)
        if result is not None:
            np.testing.assert_array_equal(result[1], indices, err_msg=result[2])
            assert result[0].tobytes() == values.tobytes(), result[2]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("largest", [0, 1])
def test_every_type_keeps_its_order_and_its_bits(planner, dtype, largest):
    x = any_bits(dtype, 600, seed=1).copy()
    x[300:] = x[5]  # ties that k cuts
    for k in (1, 70, 513):
        check(planner, x, k, 0, largest)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "float64"])
@pytest.mark.parametrize("largest", [0, 1])
def test_nan_zeros_and_infinities(planner, dtype, largest):
    special = [np.nan, -np.nan, 0.0, -0.0, np.inf, -np.inf, 1.0, -1.0]
    x = np.random.default_rng(2).choice(special, 300).astype(dtype_of(dtype))
    for row in (x, np.full(70, -np.nan, x.dtype), np.full(70, -np.inf, x.dtype)):
        for k in (1, 50):
            check(planner, row, k, 0, largest)


@pytest.mark.parametrize("extent", [1, 2, 31, 33, 64, 65, 255, 257, 513, 1025, 2049])
def test_extents_between_block_sizes(planner, extent):
    x = -abs(random("float32", (extent, 2), seed=extent)) - 1
    for k in {1, extent - 1, extent} - {0}:
        check(planner, x, k, 0)


@pytest.mark.parametrize("k", [50, 511, 513, 2048, 2049, 5000])
def test_selections_of_a_long_row(planner, mode, k):
    variants = ["choose", "top_k_huge_rows"] if mode == SERIAL else ["choose"]
    rng = np.random.default_rng(3)
    for x in (
        rng.standard_normal(9000).astype(np.float32),
        rng.integers(0, 10, 9000).astype(np.float32),
        (1 + rng.random(9000) * 2.0**-12).astype(np.float32),
        np.arange(9000, dtype=np.float32),
    ):
        check(planner, x, k, 0, 1, variants)


@pytest.mark.parametrize("k", [1, 2, 3, 5, 8, 9])
@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_inner_axis(planner, mode, dtype, k):
    wide = 1100 if mode == SERIAL else 3  # what one unit of the host's variant takes
    for shape in ((2, 9, 5), (1, 40, 8), (1, 20, wide)):
        check(planner, random(dtype, shape, seed=4, low=0, high=5), k, 1)


@pytest.mark.parametrize("want", [(True, False), (False, True), (False, False)])
def test_outputs_that_are_not_wanted(planner, want):
    x = random("float32", (3, 100), seed=5)
    expected = top_k(x, 4, 1)
    for number in planner.variants().values():
        result = planner(x, 4, 1, 1, number, want)
        for out, reference in zip(result[:2] if result else (), expected, strict=False):
            assert out is None or np.array_equal(out, reference)


@pytest.mark.parametrize(("shape", "k"), [((0, 5), 2), ((5,), 0), ((3, 0), 0)])
def test_nothing_to_do_launches_nothing(planner, counted, shape, k):
    planner(np.zeros(shape, np.float32), k, len(shape) - 1)
    assert "launches" not in counted()


def test_what_does_not_fit_is_refused(runtime, planner):
    x = np.zeros((3, 4), np.float32)
    good = [np.zeros((3, 2), np.float32), np.zeros((3, 2), np.int64)]
    for geometry, outputs, message in (
        (Geometry(5, 1, 1, 1, 0), good, "K is 5"),
        (Geometry(-1, 1, 1, 1, 0), good, "K is -1"),
        (Geometry(2, 2, 1, 1, 0), good, "axis 2"),
        (Geometry(2, 1, 1, 1, 99), good, "variant 99"),
        (Geometry(3, 1, 1, 1, 0), good, "Values"),
        (Geometry(2, 1, 1, 1, 0), [good[0], good[0]], "Indices"),
    ):
        emitter = Emitter()
        assert planner.plan(x, geometry, outputs, emitter) == INVALID
        assert message in runtime.error()
        assert emitter.launch_count == 0


def test_variants_of_the_other_mode_are_refused(runtime, planner):
    serial = runtime.info(planner.device).host_mode == SERIAL
    x = random("float32", (3, 100), seed=6)
    assert (planner(x, 4, 1, 1, planner.variants()["top_k_rows"]) is not None) == serial
    assert planner(x, 4, 1, 1, planner.variants()["top_k_one"]) is None
