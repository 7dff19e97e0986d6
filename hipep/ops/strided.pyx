"""What ops share whose output is a strided copy of an input."""
from libc.stdint cimport int32_t, int64_t

from hipep._emit cimport *
from hipep._kernels cimport *
from hipep._lowering cimport Emit


cdef void dense_strides(int32_t rank, const int64_t* dims, int64_t* strides) noexcept nogil:
    cdef int64_t stride = 1
    cdef int32_t axis
    for axis in range(rank - 1, -1, -1):
        strides[axis] = stride
        stride *= dims[axis]


cdef void whole_output(hipep_strided* copy) noexcept nogil:
    copy.x_offset = copy.y_offset = 0
    dense_strides(copy.rank, copy.dims, copy.y_strides)


cdef hipep_status emit_strided(Emit* e, int32_t rank, const int64_t* dims,
                               const hipep_strided* copy, bint on_host) noexcept nogil:
    cdef hipep_tensor x, y
    cdef hipep_status status
    cdef int32_t dtype = input_shape(e, 0).dtype
    cdef void* out
    if on_host:
        out = output_host(e, 0, dtype, rank, dims)
        if out != NULL:
            hipep_run_strided(copy, host_value(e, 0), out, hipep_dtype_size(dtype))
            return HIPEP_OK
    status = input_tensor(e, 0, &x)
    if status == HIPEP_OK:
        status = output_tensor(e, 0, dtype, rank, dims, &y)
    if status != HIPEP_OK or y.value < 0:
        return status
    return hipep_plan_strided(e.emitter, copy, &x, &y)
