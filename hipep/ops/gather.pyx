"""Gather."""
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memcpy

from hipep._graph cimport Node, Value
from hipep._kernels cimport *
from hipep._lowering cimport *
from hipep._emit cimport *
from hipep.ops.shape_math cimport host_integer, normalise_axis

cdef extern from "hipep/movement.h" nogil:
    hipep_status hipep_plan_gather(hipep_emitter*, int32_t, const hipep_tensor*,
                                   const hipep_tensor*, const hipep_tensor*)

cdef struct GatherParams:
    int64_t axis


cdef object _claim(Node node):
    cdef Value data = node.input(0)
    cdef Value indices = node.input(1)
    reason = check_dtype(node, 1, BIT_INT32 | BIT_INT64)
    if reason is None and data.rank > 0 and indices.rank >= 0 and (
            data.rank - 1 + indices.rank > HIPEP_MAX_RANK):
        reason = f"the result is of rank {data.rank - 1 + indices.rank}; up to 8 is handled"
    return reason


cdef int _lower(Node node, void* params) except -1:
    (<GatherParams*>params).axis = node.attribute_int("axis", 0)
    return 0


cdef hipep_status _shape(Emit* e, int32_t* axis, int32_t* rank, int64_t* dims) noexcept nogil:
    cdef const hipep_tensor* data = input_shape(e, 0)
    cdef const hipep_tensor* indices = input_shape(e, 1)
    cdef int32_t i
    cdef hipep_status status = normalise_axis(
        (<const GatherParams*>e.params).axis, data.rank, axis)
    if status != HIPEP_OK:
        return status
    rank[0] = data.rank - 1 + indices.rank
    if rank[0] > HIPEP_MAX_RANK:
        return hipep_fail(HIPEP_INVALID, "the result is of rank %d; up to 8 is handled", rank[0])
    for i in range(rank[0]):
        if i < axis[0]:
            dims[i] = data.dims[i]
        elif i < axis[0] + indices.rank:
            dims[i] = indices.dims[i - axis[0]]
        else:
            dims[i] = data.dims[i - indices.rank + 1]
    return HIPEP_OK


cdef hipep_status _gather(Emit* e) noexcept nogil:
    cdef hipep_tensor data, indices, y
    cdef int64_t[8] dims
    cdef int32_t axis = 0, rank = 0
    cdef hipep_status status = _shape(e, &axis, &rank, dims)
    if status == HIPEP_OK:
        status = input_tensor(e, 0, &data)
    if status == HIPEP_OK:
        status = input_tensor(e, 1, &indices)
    if status == HIPEP_OK:
        status = output_tensor(e, 0, data.dtype, rank, dims, &y)
    if status != HIPEP_OK or y.value < 0:
        return status
    return hipep_plan_gather(e.emitter, axis, &data, &indices, &y)


cdef hipep_status _evaluate(Emit* e) noexcept nogil:
    """A vector of extents, indexed: the usual way to one extent of a shape."""
    cdef const hipep_tensor* data = input_shape(e, 0)
    cdef const hipep_tensor* indices = input_shape(e, 1)
    cdef const uint8_t* source = <const uint8_t*>host_value(e, 0)
    cdef int64_t[8] dims
    cdef int64_t i, index, count = hipep_element_count(indices)
    cdef int64_t size = <int64_t>hipep_dtype_size(data.dtype)
    cdef int32_t axis = 0, rank = 0
    cdef uint8_t* out
    cdef hipep_status status
    if data.rank != 1 or not output_wanted(e, 0):
        return _gather(e)
    status = _shape(e, &axis, &rank, dims)
    if status != HIPEP_OK:
        return status
    out = <uint8_t*>output_host(e, 0, data.dtype, rank, dims)
    if out == NULL:
        return _gather(e)
    for i in range(count):
        index = host_integer(host_value(e, 1), indices.dtype, i)
        index += data.dims[0] if index < 0 else 0
        if index < 0 or index >= data.dims[0]:
            return hipep_fail(
                HIPEP_INVALID, "index %lld is out of range for %lld elements", <long long>index,
                <long long>data.dims[0])
        memcpy(out + i * size, source + index * size, size)
    return HIPEP_OK


cdef Row _made = row(b"Gather", 1, 13, PLAIN_TYPES, _claim, _lower, sizeof(GatherParams), _gather,
                     b"an index out of range gives zeros on a device")
_made.evaluate = _evaluate
add_row(__name__, _made)
