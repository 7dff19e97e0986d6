"""From the runtime's status codes to onnxruntime's."""
from libc.stdio cimport snprintf

from hipep._kernels cimport HIPEP_INVALID, HIPEP_OUT_OF_MEMORY, HIPEP_UNSUPPORTED, hipep_last_error
from hipep._ort_api cimport CreateStatus

# EP_FAIL (11) is never used: the Python session would rebuild itself on the CPU and try again.
cdef enum:
    ORT_FAIL = 1
    ORT_INVALID_ARGUMENT = 2
    ORT_NOT_IMPLEMENTED = 9


cdef OrtStatus* failure(const Ort* ort, hipep_status status, const char* doing) noexcept nogil:
    cdef char[1024] text
    cdef int code = ORT_FAIL
    if status == HIPEP_INVALID:
        code = ORT_INVALID_ARGUMENT
    elif status == HIPEP_UNSUPPORTED:
        code = ORT_NOT_IMPLEMENTED
    snprintf(text, sizeof(text), "hipep: %s: %s%s", doing,
             b"out of memory: " if status == HIPEP_OUT_OF_MEMORY else b"", hipep_last_error())
    return CreateStatus(ort, code, text)
