"""Concat."""
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy

from hipep._graph cimport Node, Value
from hipep._kernels cimport *
from hipep._lowering cimport *
from hipep._emit cimport *
from hipep.ops.shape_math cimport normalise_axis
from hipep.ops.strided cimport *

cdef struct ConcatParams:
    int64_t axis


cdef object _claim(Node node):
    cdef Value value
    cdef int i
    for i, value in enumerate(node.inputs):
        if value is None or value.dtype != node.input(0).dtype:
            return f"input {i} is not of the type of input 0"
    return None


cdef int _lower(Node node, void* params) except -1:
    (<ConcatParams*>params).axis = node.attribute_int("axis", 1)
    return 0


cdef hipep_status _shape(Emit* e, int32_t* axis, int64_t* dims) noexcept nogil:
    cdef const hipep_tensor* first = input_shape(e, 0)
    cdef const hipep_tensor* other = first
    cdef int32_t i, d
    cdef hipep_status status = normalise_axis(
        (<const ConcatParams*>e.params).axis, first.rank, axis)
    if status != HIPEP_OK:
        return status
    memcpy(dims, first.dims, sizeof(first.dims))
    i = 1
    while input_shape(e, i) != NULL:
        other = input_shape(e, i)
        for d in range(first.rank):
            if other.rank != first.rank or (d != axis[0] and other.dims[d] != first.dims[d]):
                return hipep_fail(
                    HIPEP_INVALID, "input %d does not fit input 0: they differ on axis %d", i, d)
        dims[axis[0]] += other.dims[axis[0]]
        i += 1
    return HIPEP_OK


cdef void _place(const hipep_tensor* part, int32_t axis, int64_t begin, const int64_t* dims,
                 hipep_strided* copy) noexcept nogil:
    """Where a part goes: along the axis from begin on."""
    copy.rank = part.rank
    memcpy(copy.dims, part.dims, sizeof(part.dims))
    dense_strides(part.rank, part.dims, copy.x_strides)
    dense_strides(part.rank, dims, copy.y_strides)
    copy.x_offset = 0
    copy.y_offset = begin * copy.y_strides[axis]


cdef hipep_status _concat(Emit* e) noexcept nogil:
    cdef hipep_tensor x, y
    cdef hipep_strided copy
    cdef int64_t[8] dims
    cdef int64_t begin = 0
    cdef int32_t i = 0, axis = 0
    cdef hipep_status status = _shape(e, &axis, dims)
    while status == HIPEP_OK and input_shape(e, i) != NULL:
        status = input_tensor(e, i, &x)
        i += 1
    if status == HIPEP_OK:
        status = output_tensor(e, 0, x.dtype, x.rank, dims, &y)
    if status != HIPEP_OK or y.value < 0:
        return status
    i = 0
    while status == HIPEP_OK and input_shape(e, i) != NULL:
        status = input_tensor(e, i, &x)
        if status == HIPEP_OK:
            _place(&x, axis, begin, dims, &copy)
            status = hipep_plan_strided(e.emitter, &copy, &x, &y)
        begin += x.dims[axis]
        i += 1
    return status


cdef hipep_status _evaluate(Emit* e) noexcept nogil:
    cdef const hipep_tensor* x = input_shape(e, 0)
    cdef hipep_strided copy
    cdef int64_t[8] dims
    cdef int64_t begin = 0
    cdef int32_t i = 0, axis = 0
    cdef void* out
    cdef hipep_status status = _shape(e, &axis, dims)
    if status != HIPEP_OK:
        return status
    out = output_host(e, 0, x.dtype, x.rank, dims)
    if out == NULL:
        return _concat(e)
    while input_shape(e, i) != NULL:
        x = input_shape(e, i)
        _place(x, axis, begin, dims, &copy)
        hipep_run_strided(&copy, host_value(e, i), out, hipep_dtype_size(x.dtype))
        begin += x.dims[axis]
        i += 1
    return HIPEP_OK


cdef Row _made = row(b"Concat", 1, 13, PLAIN_TYPES, _claim, _lower, sizeof(ConcatParams), _concat,
                     b"a launch for each input that is not empty")
_made.evaluate = _evaluate
add_row(__name__, _made)
