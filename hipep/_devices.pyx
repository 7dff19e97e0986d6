"""The devices that hipep offers to onnxruntime."""
from libc.stddef cimport size_t
from libc.stdint cimport int32_t

from hipep._graph cimport check
from hipep._kernels cimport *
from hipep._memory cimport (
    AMD, GPU, MAX_DEVICES, MEMORY_DEFAULT, MEMORY_HOST_ACCESSIBLE)
from hipep._ort_api cimport *

import logging

from hipep._runtime import device_id

logger = logging.getLogger("hipep")

cdef enum:
    # Device ids of memory. Providers that give memory the same vendor and id share one allocator,
    # the first one's, and AMD's own providers count from 0.
    AMD_MEMORY_IDS = 32
    NVIDIA_MEMORY_IDS = 64
    HOST_MEMORY_IDS = 100


cdef dict _metadata(hipep_device* device):
    cdef const hipep_device_info* info = hipep_device_get_info(device)
    backend = info.backend.decode()
    memory = "guarded" if info.host_memory == HIPEP_MEMORY_GUARDED else "plain"
    return {
        "hipep.device": device_id(backend, info.ordinal),
        "hipep.memory": memory if backend == "host" else "device",
        "hipep.arch": info.arch.decode(),
        "hipep.name": info.name.decode(),
    }


cdef OrtKeyValuePairs* _pairs(const Ort* ort, dict items) except NULL:
    cdef OrtKeyValuePairs* pairs = NULL
    CreateKeyValuePairs(ort, &pairs)
    for key, value in items.items():
        AddKeyValuePair(ort, pairs, key.encode(), value.encode())
    return pairs


cdef const OrtHardwareDevice* _virtual_gpu(const Ort* ort, hipep_device* device,
                                           int32_t memory_id) except NULL:
    """Describe a device that onnxruntime did not find by itself."""
    cdef OrtHardwareDevice* hardware = NULL
    cdef OrtKeyValuePairs* pairs = _pairs(ort, {"is_virtual": "1", **_metadata(device)})
    try:
        check(ort, CreateHardwareDevice(ort, GPU, AMD, memory_id, "AMD", pairs, &hardware))
    finally:
        ReleaseKeyValuePairs(ort, pairs)
    return hardware


cdef int _add_memory(const Ort* ort, DeviceList* devices, OfferedDevice* offered,
                     int32_t memory_id) except -1:
    check(ort, CreateMemoryInfo_V2(
        ort, "hipep", GPU, AMD, memory_id, MEMORY_DEFAULT, 0, 0, &offered.memory))
    check(ort, CreateMemoryInfo_V2(
        ort, "hipep", GPU, AMD, memory_id, MEMORY_HOST_ACCESSIBLE, 0, 0,
        &offered.host_accessible))
    devices.copies.items[devices.copies.count].memory_id = memory_id
    devices.copies.items[devices.copies.count].device = offered.device
    devices.copies.count += 1
    return 0


cdef int _add(const Ort* ort, DeviceList* devices, backend, int32_t ordinal, int32_t memory,
              int32_t memory_id, const OrtHardwareDevice* hardware) except -1:
    """Open a device and add it to the list; hardware is NULL if onnxruntime does not know it."""
    cdef OfferedDevice* offered = &devices.items[devices.count]
    name = backend.encode()
    if hipep_device_open(name, ordinal, HIPEP_MODE_SERIAL, memory, &offered.device) != HIPEP_OK:
        raise RuntimeError(f"{backend}:{ordinal}: {hipep_last_error().decode()}")
    offered.hardware = hardware
    if hardware == NULL:
        offered.hardware = _virtual_gpu(ort, offered.device, memory_id)
    if memory == HIPEP_MEMORY_GUARDED:
        _add_memory(ort, devices, offered, memory_id)
    offered.only_registered = backend != "amd"
    devices.count += 1
    return 0


cdef const OrtHardwareDevice* _amd_gpu(const Ort* ort, const OrtHardwareDevice* const* hardware,
                                       size_t count, int32_t ordinal) noexcept:
    cdef size_t i
    for i in range(count):
        if HardwareDevice_Type(ort, hardware[i]) == GPU and (
                HardwareDevice_VendorId(ort, hardware[i]) == AMD):
            if ordinal == 0:
                return hardware[i]
            ordinal -= 1
    return NULL


cdef int _add_gpus(const Ort* ort, DeviceList* devices, backend, int32_t first_memory_id,
                   const OrtHardwareDevice* const* hardware, size_t hardware_count) except -1:
    cdef int32_t ordinal
    for ordinal in range(hipep_device_count(backend.encode())):
        if devices.count + 2 >= MAX_DEVICES:
            logger.warning("%s:%d is not offered: onnxruntime takes %d devices of a provider",
                           backend, ordinal, <int>MAX_DEVICES)
            continue
        try:
            _add(ort, devices, backend, ordinal, HIPEP_MEMORY_GUARDED, first_memory_id + ordinal,
                 _amd_gpu(ort, hardware, hardware_count, ordinal) if backend == "amd" else NULL)
        except RuntimeError as error:  # the others can still be used
            logger.warning("%s", error)
    return 0


cdef int find_devices(const Ort* ort, DeviceList* devices,
                      const OrtHardwareDevice* const* hardware, size_t hardware_count) except -1:
    """Open GPUs first, then the host as far as onnxruntime's limit on devices leaves room."""
    cdef int32_t ordinal
    if devices.count:
        return 0
    if hipep_backend_problem("host")[0]:
        raise RuntimeError(hipep_backend_problem("host").decode())
    _add_gpus(ort, devices, "amd", AMD_MEMORY_IDS, hardware, hardware_count)
    _add_gpus(ort, devices, "nvidia", NVIDIA_MEMORY_IDS, hardware, hardware_count)
    for ordinal in range(min(hipep_device_count("host"), (MAX_DEVICES - devices.count) // 2)):
        _add(ort, devices, "host", ordinal, HIPEP_MEMORY_PLAIN, HOST_MEMORY_IDS + ordinal, NULL)
        _add(ort, devices, "host", ordinal, HIPEP_MEMORY_GUARDED, HOST_MEMORY_IDS + ordinal, NULL)
    return 0


cdef int describe_device(const Ort* ort, OrtEpFactory* factory, OfferedDevice* offered,
                         OrtEpDevice** out) except -1:
    cdef OrtKeyValuePairs* pairs = _pairs(ort, _metadata(offered.device))
    try:
        check(ort, CreateEpDevice(ort, factory, offered.hardware, pairs, NULL, out))
    finally:
        ReleaseKeyValuePairs(ort, pairs)
    if offered.memory != NULL:
        check(ort, EpDevice_AddAllocatorInfo(ort, out[0], offered.memory))
        check(ort, EpDevice_AddAllocatorInfo(ort, out[0], offered.host_accessible))
    return 0
