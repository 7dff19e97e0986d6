"""Shape arithmetic that several families share."""
from libc.stdint cimport int32_t, int64_t

from hipep._kernels cimport HIPEP_INT32, HIPEP_INVALID, HIPEP_OK, hipep_fail


cdef hipep_status broadcast_dims(const hipep_tensor* a, const hipep_tensor* b, int32_t* rank,
                                 int64_t* dims) noexcept nogil:
    cdef int32_t i, r = max(a.rank, b.rank)
    cdef int64_t x, y
    for i in range(r):
        x = a.dims[i - (r - a.rank)] if i >= r - a.rank else 1
        y = b.dims[i - (r - b.rank)] if i >= r - b.rank else 1
        if x != y and x != 1 and y != 1:
            return hipep_fail(
                HIPEP_INVALID, "extents %lld and %lld on axis %d cannot be broadcast",
                <long long>x, <long long>y, i)
        dims[i] = y if x == 1 else x
    rank[0] = r
    return HIPEP_OK


cdef hipep_status normalise_axis(int64_t axis, int32_t rank, int32_t* out) noexcept nogil:
    if axis < -rank or axis >= rank:
        return hipep_fail(
            HIPEP_INVALID, "axis %lld is out of range for rank %d", <long long>axis, rank)
    out[0] = <int32_t>(axis + rank if axis < 0 else axis)
    return HIPEP_OK


cdef int64_t host_integer(const void* data, int32_t dtype, int64_t index) noexcept nogil:
    if dtype == HIPEP_INT32:
        return (<const int32_t*>data)[index]
    return (<const int64_t*>data)[index]


cdef void rows_along(const hipep_tensor* x, int32_t axis, int64_t* outer, int64_t* extent,
                     int64_t* inner) noexcept nogil:
    cdef int32_t i
    outer[0] = extent[0] = inner[0] = 1
    for i in range(x.rank):
        if i < axis:
            outer[0] *= x.dims[i]
        elif i == axis:
            extent[0] = x.dims[i]
        else:
            inner[0] *= x.dims[i]
