"""Ops whose result is the shape of their input: Shape, Size."""
from libc.stdint cimport int64_t

from hipep._graph cimport Node
from hipep._kernels cimport *
from hipep._lowering cimport *
from hipep._emit cimport *

cdef struct ShapeParams:
    int64_t start
    int64_t end


cdef int _lower_shape(Node node, void* params) except -1:
    cdef ShapeParams* shape = <ShapeParams*>params
    shape.start = node.attribute_int("start", 0)
    shape.end = node.attribute_int("end", HIPEP_MAX_RANK + 1)
    return 0


cdef inline int64_t _clamp(int64_t position, int64_t rank) noexcept nogil:
    return min(max(position + rank if position < 0 else position, 0), rank)


cdef hipep_status _no_room() noexcept nogil:
    return hipep_fail(HIPEP_OUT_OF_MEMORY, "out of room for host-known values")


cdef hipep_status _shape(Emit* e) noexcept nogil:
    cdef const hipep_tensor* x = input_shape(e, 0)
    cdef const ShapeParams* shape = <const ShapeParams*>e.params
    cdef int64_t start = _clamp(shape.start, x.rank)
    cdef int64_t count = max(_clamp(shape.end, x.rank) - start, 0)
    cdef int64_t* out
    cdef int64_t i
    if not output_wanted(e, 0):
        return HIPEP_OK
    out = <int64_t*>output_host(e, 0, HIPEP_INT64, 1, &count)
    if out == NULL:
        return _no_room()
    for i in range(count):
        out[i] = x.dims[start + i]
    return HIPEP_OK


cdef hipep_status _size(Emit* e) noexcept nogil:
    cdef int64_t* out
    if not output_wanted(e, 0):
        return HIPEP_OK
    out = <int64_t*>output_host(e, 0, HIPEP_INT64, 0, NULL)
    if out == NULL:
        return _no_room()
    out[0] = hipep_element_count(input_shape(e, 0))
    return HIPEP_OK


cdef int _add(const char* op_type, lower_fn lower, size_t params_bytes, emit_fn emit) except -1:
    cdef Row made = row(op_type, 1, 25, PLAIN_TYPES, NULL, lower, params_bytes, emit,
                        b"computed on the host, from the shape alone")
    made.flags = ROW_SHAPE_ONLY
    made.evaluate = emit
    return add_row(__name__, made)


_add(b"Shape", _lower_shape, sizeof(ShapeParams), _shape)
_add(b"Size", NULL, 0, _size)
