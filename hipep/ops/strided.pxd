from libc.stdint cimport int32_t, int64_t

from hipep._kernels cimport hipep_emitter, hipep_status, hipep_tensor
from hipep._lowering cimport Emit

cdef extern from "hipep/strided.h" nogil:
    enum:
        HIPEP_LAYOUT_RANK
    ctypedef struct hipep_strided:
        int32_t rank
        int64_t dims[16]
        int64_t x_strides[16]
        int64_t y_strides[16]
        int64_t x_offset
        int64_t y_offset
    hipep_status hipep_plan_strided(hipep_emitter*, const hipep_strided*, const hipep_tensor*,
                                    const hipep_tensor*)
    void hipep_run_strided(const hipep_strided*, const void*, void*, size_t)

# Strides of a contiguous tensor, in elements.
cdef void dense_strides(int32_t rank, const int64_t* dims, int64_t* strides) noexcept nogil
# All of a contiguous y of copy.dims, from an x of copy.x_strides: fills in the rest.
cdef void whole_output(hipep_strided* copy) noexcept nogil
# Output 0 is a strided copy of input 0; on the host or on the device.
cdef hipep_status emit_strided(Emit* e, int32_t rank, const int64_t* dims,
                               const hipep_strided* copy, bint on_host) noexcept nogil
