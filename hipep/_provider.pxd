from hipep._ort cimport OrtEp, OrtKernelRegistry, OrtSessionOptions
from hipep._kernels cimport hipep_device
from hipep._ort_api cimport Ort
from hipep._session cimport Session

cdef struct Provider:
    OrtEp base
    const Ort* ort
    const char* name
    Session* session
    void* record  # a SessionRecord that the provider owns a reference to, or NULL
    const OrtKernelRegistry* registry  # NULL: tensors stay in onnxruntime's memory

cdef OrtEp* new_provider(
    const Ort* ort, const char* name, const OrtKernelRegistry* registry, hipep_device* device,
    dict options) except NULL
cdef void free_provider(OrtEp* provider) noexcept nogil
