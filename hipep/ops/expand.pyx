"""Ops that repeat their input: Expand, Tile."""
from libc.stdint cimport int32_t, int64_t

from hipep._graph cimport Node
from hipep._kernels cimport *
from hipep._lowering cimport *
from hipep._emit cimport *
from hipep.ops.integers cimport check_integers, read_integers
from hipep.ops.shape_math cimport broadcast_dims
from hipep.ops.strided cimport *

cdef enum:
    COUNTS_INPUT = 1


cdef object _claim(Node node):
    return check_integers(node, COUNTS_INPUT, False)


# ---- Expand -----------------------------------------------------------------------------------

cdef hipep_status _expanded(Emit* e, bint on_host) noexcept nogil:
    cdef const hipep_tensor* x = input_shape(e, 0)
    cdef hipep_tensor wanted
    cdef int64_t[16] shape
    cdef int64_t[8] strides
    cdef hipep_strided copy
    cdef int32_t axis, own
    cdef hipep_status status = read_integers(e, COUNTS_INPUT, shape, &wanted.rank)
    if status != HIPEP_OK:
        return status
    if wanted.rank > HIPEP_MAX_RANK:
        return hipep_fail(HIPEP_INVALID, "the shape is of rank %d; up to 8 is handled", wanted.rank)
    for axis in range(wanted.rank):
        wanted.dims[axis] = shape[axis]
        if shape[axis] < 0:
            return hipep_fail(HIPEP_INVALID, "extent %d of the shape is %lld", axis,
                              <long long>shape[axis])
    status = broadcast_dims(x, &wanted, &copy.rank, copy.dims)
    if status != HIPEP_OK:
        return status
    dense_strides(x.rank, x.dims, strides)
    for axis in range(copy.rank):
        own = axis - (copy.rank - x.rank)
        copy.x_strides[axis] = strides[own] if own >= 0 and x.dims[own] != 1 else 0
    whole_output(&copy)
    return emit_strided(e, copy.rank, copy.dims, &copy, on_host)


cdef hipep_status _expand(Emit* e) noexcept nogil:
    return _expanded(e, False)


cdef hipep_status _evaluate_expand(Emit* e) noexcept nogil:
    return _expanded(e, True)


# ---- Tile -------------------------------------------------------------------------------------

cdef hipep_status _tiled(Emit* e, bint on_host) noexcept nogil:
    cdef const hipep_tensor* x = input_shape(e, 0)
    cdef int64_t[16] repeats
    cdef int64_t[8] strides, dims
    cdef hipep_strided copy
    cdef int32_t axis, count = 0
    cdef hipep_status status = read_integers(e, COUNTS_INPUT, repeats, &count)
    if status != HIPEP_OK:
        return status
    if count != x.rank:
        return hipep_fail(
            HIPEP_INVALID, "repeats has %d elements, the input %d axes", count, x.rank)
    dense_strides(x.rank, x.dims, strides)
    copy.rank = 2 * x.rank
    for axis in range(x.rank):
        if repeats[axis] < 0:
            return hipep_fail(HIPEP_INVALID, "axis %d is repeated %lld times", axis,
                              <long long>repeats[axis])
        dims[axis] = repeats[axis] * x.dims[axis]
        copy.dims[2 * axis] = repeats[axis]
        copy.dims[2 * axis + 1] = x.dims[axis]
        copy.x_strides[2 * axis] = 0
        copy.x_strides[2 * axis + 1] = strides[axis]
    whole_output(&copy)
    return emit_strided(e, x.rank, dims, &copy, on_host)


cdef hipep_status _tile(Emit* e) noexcept nogil:
    return _tiled(e, False)


cdef hipep_status _evaluate_tile(Emit* e) noexcept nogil:
    return _tiled(e, True)


cdef int _add(const char* op_type, int since, emit_fn emit, emit_fn evaluate) except -1:
    cdef Row made = row(op_type, since, 13, PLAIN_TYPES, _claim, NULL, 0, emit,
                        b"the shape of the result is found on the host")
    made.host_inputs = 1 << COUNTS_INPUT
    made.evaluate = evaluate
    return add_row(__name__, made)


_add(b"Expand", 8, _expand, _evaluate_expand)
_add(b"Tile", 6, _tile, _evaluate_tile)
