from libc.stdint cimport int32_t

from hipep._kernels cimport hipep_device
from hipep._ort cimport (
    OrtAllocator, OrtDataTransferImpl, OrtKernelRegistry, OrtMemoryInfo)
from hipep._ort_api cimport Ort

cdef enum:
    AMD = 0x1002  # the vendor id under which onnxruntime knows our memory
    GPU = 1
    MEMORY_DEFAULT = 0
    MEMORY_HOST_ACCESSIBLE = 5
    MAX_DEVICES = 8

# The devices whose memory onnxruntime can be asked to copy, by the device id of their memory.
cdef struct CopyDevice:
    int32_t memory_id
    hipep_device* device

cdef struct CopyDevices:
    int32_t count
    CopyDevice[8] items

cdef OrtAllocator* new_allocator(
    const Ort* ort, const OrtMemoryInfo* info, hipep_device* device, int kind) noexcept nogil
cdef void free_allocator(OrtAllocator* allocator) noexcept nogil
cdef OrtDataTransferImpl* new_data_transfer(
    const Ort* ort, const CopyDevices* devices) noexcept nogil
cdef OrtKernelRegistry* new_memcpy_registry(const Ort* ort, const char* ep_name) except NULL
