from libc.stdint cimport int32_t, int64_t

from hipep._kernels cimport hipep_status, hipep_tensor

# Numpy broadcasting of two shapes; HIPEP_INVALID names both where they do not fit.
cdef hipep_status broadcast_dims(const hipep_tensor* a, const hipep_tensor* b, int32_t* rank,
                                 int64_t* dims) noexcept nogil
# An axis as the node gives it, counted from the front; HIPEP_INVALID names it and the rank.
cdef hipep_status normalise_axis(int64_t axis, int32_t rank, int32_t* out) noexcept nogil
# Reads a host-known int32 or int64 tensor.
cdef int64_t host_integer(const void* data, int32_t dtype, int64_t index) noexcept nogil
# A shape seen as [outer, extent, inner] with the extent of one axis.
cdef void rows_along(const hipep_tensor* x, int32_t axis, int64_t* outer, int64_t* extent,
                     int64_t* inner) noexcept nogil
