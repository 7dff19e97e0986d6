from hipep._kernels cimport hipep_status
from hipep._ort cimport OrtStatus
from hipep._ort_api cimport Ort

# Turns a failed status of the runtime into one of onnxruntime:
# "hipep: <doing>: <the thread's error text>".
cdef OrtStatus* failure(const Ort* ort, hipep_status status, const char* doing) noexcept nogil
