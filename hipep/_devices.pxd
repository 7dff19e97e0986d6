from libc.stdint cimport int32_t

from hipep._kernels cimport hipep_device
from hipep._memory cimport CopyDevices
from hipep._ort_api cimport (
    Ort, OrtEpDevice, OrtEpFactory, OrtHardwareDevice, OrtMemoryInfo)

cdef struct OfferedDevice:
    hipep_device* device
    const OrtHardwareDevice* hardware
    OrtMemoryInfo* memory  # NULL: tensors stay in onnxruntime's memory
    OrtMemoryInfo* host_accessible
    bint only_registered  # offered only to hipep.register()

# The devices that are offered to one onnxruntime library; kept for ever.
cdef struct DeviceList:
    int32_t count
    OfferedDevice[8] items
    CopyDevices copies

cdef int find_devices(const Ort* ort, DeviceList* devices,
                      const OrtHardwareDevice* const* hardware, size_t hardware_count) except -1
cdef int describe_device(const Ort* ort, OrtEpFactory* factory, OfferedDevice* offered,
                         OrtEpDevice** out) except -1
