"""Python's view of the runtime library: backends and devices."""
from libc.stdint cimport uintptr_t

from hipep._kernels cimport *

import logging
import os

logger = logging.getLogger("hipep")

BACKENDS = ("amd", "nvidia", "host")


def backends():
    """Return for each backend "" if it can be used, else the reason why not."""
    return {name: hipep_backend_problem(name.encode()).decode() for name in BACKENDS}


def device_id(backend, ordinal):
    """Return the id of a device: "amd:0"; the first host device is "host"."""
    return "host" if backend == "host" and ordinal == 0 else f"{backend}:{ordinal}"


def devices():
    """Return a dictionary for each device, GPUs first.

    Returns
    -------
    list of dict
        ``id``, ``backend``, ``ordinal``, ``name``, ``arch``, ``memory_bytes`` (bytes),
        ``compute_units``, ``warp_size`` (threads), ``integrated``.
    """
    found, skipped = _scan()
    for name, reason in skipped.items():  # the others can still be used
        logger.warning("%s: %s", name, reason)
    return found


def skipped_devices():
    """Return the devices that are there and cannot be used: the reason by id."""
    return _scan()[1]


def _scan():
    found, skipped = [], {}
    for backend in BACKENDS:
        for ordinal in range(hipep_device_count(backend.encode())):
            try:
                found.append(_describe(backend, ordinal))
            except RuntimeError as error:
                skipped[device_id(backend, ordinal)] = str(error)
    return found, skipped


def _describe(backend, ordinal):
    cdef hipep_device* device = NULL
    cdef const hipep_device_info* info
    name = backend.encode()
    if hipep_device_open(name, ordinal, HIPEP_MODE_SERIAL, HIPEP_MEMORY_PLAIN,
                         &device) != HIPEP_OK:
        raise RuntimeError(hipep_last_error().decode())
    info = hipep_device_get_info(device)
    return {
        "id": device_id(backend, ordinal),
        "backend": backend,
        "ordinal": ordinal,
        "name": info.name.decode(),
        "arch": info.arch.decode(),
        "memory_bytes": info.memory_bytes,
        "compute_units": info.compute_units,
        "warp_size": info.warp_size,
        "integrated": bool(info.integrated),
    }


cdef hipep_status _wait_for_all(hipep_device* device, hipep_stream* stream) noexcept nogil:
    """Wait for the stream, also for work of which only the driver knows."""
    cdef void* memory = NULL
    cdef hipep_status status = hipep_allocate(device, 512, HIPEP_KIND_DEVICE, stream, &memory)
    if status == HIPEP_OK:
        status = hipep_copy_async(stream, memory, <char*>memory + 256, 256, HIPEP_COPY_PLAIN)
    if status == HIPEP_OK:
        status = hipep_stream_synchronize(stream)
    hipep_release(device, memory, HIPEP_KIND_DEVICE)
    return status


def call_ordered(backend, ordinal, function):
    """Call a function with the handle of a stream, and wait for what it lets the stream wait for.

    Parameters
    ----------
    backend : str
    ordinal : int
    function : callable
        Takes the driver's handle as an int.

    Returns
    -------
    object
        What the function returned.
    """
    cdef hipep_device* device = NULL
    cdef hipep_stream* stream = NULL
    cdef hipep_status status
    if hipep_device_open(backend.encode(), ordinal, HIPEP_MODE_SERIAL, HIPEP_MEMORY_PLAIN,
                         &device) != HIPEP_OK or hipep_stream_create(device, &stream) != HIPEP_OK:
        raise RuntimeError(f"{backend}:{ordinal}: {hipep_last_error().decode()}")
    try:
        result = function(<uintptr_t>hipep_stream_get_handle(stream))
        with nogil:
            status = _wait_for_all(device, stream)
        if status != HIPEP_OK:
            raise RuntimeError(f"{backend}:{ordinal}: {hipep_last_error().decode()}")
        return result
    finally:
        hipep_stream_destroy(stream)


def last_error():
    """Return the text of the last error of the calling thread."""
    return hipep_last_error().decode("utf-8", "replace")


def kernel_library_path():
    """Return the path of the library that holds the runtime and the planners."""
    with open("/proc/self/maps") as maps:
        for line in maps:
            if line.rstrip().endswith("libhipep_kernels.so"):
                return line.split(maxsplit=5)[5].rstrip()
    return os.path.join(os.path.dirname(__file__), "libhipep_kernels.so")
