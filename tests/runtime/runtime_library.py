"""The C interface of the runtime library, called through ctypes."""

import ctypes
import os
import subprocess
import sys
from ctypes import POINTER, byref, c_char, c_char_p, c_int32, c_int64, c_size_t, c_uint32, c_void_p
from pathlib import Path

UNSUPPORTED = 2
OK, INVALID, OUT_OF_MEMORY, DEVICE_ERROR, NO_DRIVER, INTERNAL = 0, 1, 3, 4, 5, 6
SERIAL, FAITHFUL32, FAITHFUL64 = 0, 1, 2
PLAIN, GUARDED = 0, 1
DEVICE, HOST_ACCESSIBLE = 0, 1
COPY_PLAIN, COPY_H2D, COPY_D2H, COPY_READBACK = 0, 1, 2, 3
MICROSECOND = 1_000_000  # in picoseconds


def kernels_library():
    """The path of libhipep_kernels.so: in the package, or in the build folder beside it."""
    from hipep import _lowering

    folder = Path(_lowering.__file__).parent
    candidates = [folder, folder.parent / "kernels"]
    return next(path for c in candidates if (path := c / "libhipep_kernels.so").exists())


class Counters(ctypes.Structure):
    _fields_ = [
        (name, c_int64)
        for name in [
            "launches",
            "readbacks",
            "stream_syncs",
            "h2d_copies",
            "h2d_bytes",
            "d2h_copies",
            "d2h_bytes",
            "device_allocations",
            "plans_built",
            "plan_hits",
        ]
    ]


class DeviceInfo(ctypes.Structure):
    _fields_ = [
        ("backend", c_char * 8),
        ("ordinal", c_int32),
        ("name", c_char * 128),
        ("arch", c_char * 64),
        ("host_mode", c_int32),
        ("host_memory", c_int32),
        ("warp_size", c_int32),
        ("compute_units", c_int32),
        ("max_block", c_int32),
        ("integrated", c_int32),
        ("graph_launches", c_int32),
        ("shared_bytes", c_int64),
        ("memory_bytes", c_int64),
    ]


class PoolStats(ctypes.Structure):
    _fields_ = [(name, c_int64) for name in ("in_use", "cached", "peak", "limit")]


class Kernel(ctypes.Structure):
    _fields_ = [
        ("module", c_char_p),
        ("name", c_char_p),
        ("block", c_uint32),
        ("entry", c_void_p * 16),
    ]


class Tensor(ctypes.Structure):
    _fields_ = [
        ("dtype", c_int32),
        ("rank", c_int32),
        ("dims", c_int64 * 8),
        ("offset", c_int64),
        ("value", c_int32),
        ("alignment", c_uint32),
    ]


class Pointer(ctypes.Structure):
    _fields_ = [("member", c_uint32), ("tensor", POINTER(Tensor))]


class PlannedLaunch(ctypes.Structure):
    _fields_ = [
        ("kernel", c_void_p),
        ("entry", c_void_p),
        ("grid", c_uint32),
        ("args_bytes", c_uint32),
        ("units", c_int64),
        ("unit_cost", c_int64),
        ("args_begin", c_uint32),
        ("node", c_int32),
    ]


class Patch(ctypes.Structure):
    _fields_ = [("at", c_uint32), ("value", c_int32), ("offset", c_int64)]


class Emitter(ctypes.Structure):
    _fields_ = [
        ("device", c_void_p),
        ("info", c_void_p),
        ("launches", POINTER(PlannedLaunch)),
        ("launch_count", c_int32),
        ("launch_capacity", c_int32),
        ("args", POINTER(ctypes.c_uint8)),
        ("args_bytes", c_uint32),
        ("args_capacity", c_uint32),
        ("patches", POINTER(Patch)),
        ("patch_count", c_int32),
        ("patch_capacity", c_int32),
        ("node", c_int32),
        ("workspace", c_void_p),
        ("debug", c_int32),
        ("description", c_char * 256),
    ]


SerialEntry = ctypes.CFUNCTYPE(None, c_void_p, c_int64, c_int64)
Body = ctypes.CFUNCTYPE(None, c_void_p, c_size_t)
ParallelFor = ctypes.CFUNCTYPE(None, c_void_p, Body, c_size_t, c_void_p)

SIGNATURES = {
    "last_error": (c_char_p,),
    "last_status": (c_int32,),
    "thread_counters": (POINTER(Counters),),
    "backend_problem": (c_char_p, c_char_p),
    "device_count": (c_int32, c_char_p),
    "device_open": (c_int32, c_char_p, c_int32, c_int32, c_int32, POINTER(c_void_p)),
    "device_get_info": (POINTER(DeviceInfo), c_void_p),
    "device_free_bytes": (c_int32, c_void_p, POINTER(c_int64)),
    "allocate": (c_int32, c_void_p, c_size_t, c_int32, c_void_p, POINTER(c_void_p)),
    "release": (None, c_void_p, c_void_p, c_int32),
    "pool_trim": (None, c_void_p),
    "pool_add_limit": (None, c_void_p, c_int64),
    "pool_remove_limit": (None, c_void_p, c_int64),
    "pool_get_stats": (None, c_void_p, POINTER(PoolStats)),
    "map": (c_void_p, c_void_p, c_void_p),
    "host_readable": (c_int32, c_void_p, c_void_p),
    "stream_create": (c_int32, c_void_p, POINTER(c_void_p)),
    "stream_wrap": (c_int32, c_void_p, c_void_p, POINTER(c_void_p)),
    "stream_destroy": (None, c_void_p),
    "stream_get_handle": (c_void_p, c_void_p),
    "stream_get_device": (c_void_p, c_void_p),
    "stream_synchronize": (c_int32, c_void_p),
    "stream_catch_up": (c_int32, c_void_p),
    "set_current_stream": (None, c_void_p),
    "stream_set_parallel_for": (None, c_void_p, ParallelFor, c_void_p),
    "copy_async": (c_int32, c_void_p, c_void_p, c_void_p, c_size_t, c_int32),
    "event_create": (c_int32, c_void_p, POINTER(c_void_p)),
    "event_destroy": (None, c_void_p),
    "event_record": (c_int32, c_void_p, c_void_p),
    "event_wait": (c_int32, c_void_p, c_void_p),
    "event_synchronize": (c_int32, c_void_p),
    "kernel_resolve": (c_int32, c_void_p, POINTER(Kernel), POINTER(c_void_p)),
    "launch": (
        c_int32,
        *(c_void_p, POINTER(Kernel), c_void_p, c_uint32, c_int64, c_int64, c_void_p, c_size_t),
    ),
    "emit": (
        c_int32,
        *(POINTER(Emitter), POINTER(Kernel), c_uint32, c_int64, c_int64, c_void_p, c_size_t),
        *(POINTER(Pointer), c_int32),
    ),
    "graph_create": (
        c_int32,
        *(c_void_p, POINTER(PlannedLaunch), c_int32, c_char_p, POINTER(c_void_p)),
    ),
    "graph_launch": (c_int32, c_void_p, c_void_p),
    "graph_destroy": (None, c_void_p),
    "emitter_reset": (None, POINTER(Emitter)),
    "emitter_free": (None, POINTER(Emitter)),
    "dtype_size": (c_size_t, c_int32),
    "dtype_name": (c_char_p, c_int32),
}


class Runtime:
    """The C interface with the prefix left out, and shorthands that check the status."""

    def __init__(self, path=None):
        library = self.library = ctypes.CDLL(str(path or kernels_library()))
        for name, (result, *arguments) in SIGNATURES.items():
            function = getattr(library, "hipep_" + name)
            function.restype, function.argtypes = result, arguments
            setattr(self, name, function)

    def error(self):
        return self.last_error().decode()

    def check(self, status):
        assert status == OK, self.error()

    def open(self, mode=SERIAL, memory=PLAIN, ordinal=0, backend=b"host"):
        device = c_void_p()
        self.check(self.device_open(backend, ordinal, mode, memory, byref(device)))
        return device.value

    def info(self, device):
        return self.device_get_info(device).contents

    def stream(self, device):
        stream = c_void_p()
        self.check(self.stream_create(device, byref(stream)))
        return stream.value

    def event(self, device):
        event = c_void_p()
        self.check(self.event_create(device, byref(event)))
        return event.value

    def memory(self, device, size, stream=None, kind=DEVICE):
        pointer = c_void_p()
        self.check(self.allocate(device, size, kind, stream, byref(pointer)))
        assert pointer.value
        assert pointer.value % 256 == 0
        return pointer.value

    def stats(self, device):
        stats = PoolStats()
        self.pool_get_stats(device, byref(stats))
        return stats

    def counted(self):
        """What this thread has counted so far."""
        counters = self.thread_counters().contents
        return {name: getattr(counters, name) for name, _ in Counters._fields_}


def run(code, expect=0, **environment):
    """Run code in a fresh process with `r = Runtime()`; its output."""
    lines = [
        "import ctypes, os, signal, sys, threading",
        f"sys.path.insert(0, {str(Path(__file__).parent)!r})",
    ]
    lines += ["from runtime_library import *", "r = Runtime()", code]
    result = subprocess.run(
        [sys.executable, "-c", "\n".join(lines)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert result.returncode == expect, result.stdout + result.stderr
    return result.stdout.strip()
