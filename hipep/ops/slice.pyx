"""Slice."""
from libc.stdint cimport INT64_MAX, int32_t, int64_t, uint32_t
from libc.string cimport memcpy

from hipep._graph cimport Node
from hipep._kernels cimport *
from hipep._lowering cimport *
from hipep._emit cimport *
from hipep.ops.integers cimport check_integers, integers_attribute, read_integers
from hipep.ops.shape_math cimport normalise_axis
from hipep.ops.strided cimport *

cdef struct SliceParams:
    int64_t[16] starts
    int64_t[16] ends
    int64_t[16] axes
    int64_t[16] steps
    int32_t count  # of starts and ends; -1: in the inputs
    int32_t axis_count  # -1: the first axes
    int32_t step_count  # -1: steps of 1


cdef object _claim(Node node):
    cdef int i
    if node.since_version < 10:
        return None
    for i in range(1, 5):
        reason = check_integers(node, i, i > 2)
        if reason is not None:
            return reason
    return None


cdef int _lower(Node node, void* params) except -1:
    cdef SliceParams* slices = <SliceParams*>params
    slices.count = slices.axis_count = slices.step_count = -1
    if node.since_version < 10:
        slices.count = integers_attribute(node, "starts", slices.starts)
        slices.axis_count = integers_attribute(node, "axes", slices.axes)
        if slices.count < 0 or integers_attribute(node, "ends", slices.ends) != slices.count:
            raise ValueError(f"Slice '{node.name}': starts and ends differ in length")
    return 0


cdef hipep_status _read(Emit* e, SliceParams* out) noexcept nogil:
    cdef int32_t ends = 0
    cdef hipep_status status
    out[0] = (<const SliceParams*>e.params)[0]
    if out.count < 0:
        status = read_integers(e, 1, out.starts, &out.count)
        if status == HIPEP_OK:
            status = read_integers(e, 2, out.ends, &ends)
        if status == HIPEP_OK:
            status = read_integers(e, 3, out.axes, &out.axis_count)
        if status == HIPEP_OK:
            status = read_integers(e, 4, out.steps, &out.step_count)
        if status != HIPEP_OK:
            return status
        if ends != out.count:
            return hipep_fail(HIPEP_INVALID, "there are %d starts and %d ends", out.count, ends)
    if out.axis_count not in (-1, out.count) or out.step_count not in (-1, out.count):
        return hipep_fail(HIPEP_INVALID, "there are %d starts, but %d axes and %d steps", out.count,
                          out.axis_count, out.step_count)
    return HIPEP_OK


cdef inline int64_t _clamp(int64_t position, int64_t extent, int64_t least,
                           int64_t most) noexcept nogil:
    return min(max(position + extent if position < 0 else position, least), most)


cdef int64_t _range(int64_t extent, int64_t* start, int64_t end, int64_t* step) noexcept nogil:
    """The number of positions; start becomes the first of them."""
    if step[0] > 0:
        start[0] = _clamp(start[0], extent, 0, extent)
        end = _clamp(end, extent, 0, extent)
        return (end - start[0] - 1) // step[0] + 1 if end > start[0] else 0
    step[0] = max(step[0], -INT64_MAX)
    start[0] = _clamp(start[0], extent, -1, extent - 1)
    end = _clamp(end, extent, -1, extent - 1)
    return (start[0] - end - 1) // -step[0] + 1 if start[0] > end else 0


cdef hipep_status _sliced(Emit* e, bint on_host) noexcept nogil:
    cdef const hipep_tensor* x = input_shape(e, 0)
    cdef SliceParams slices
    cdef hipep_strided copy
    cdef int64_t offset = 0, step
    cdef int32_t i, axis = 0, seen = 0
    cdef hipep_status status = _read(e, &slices)
    if status != HIPEP_OK:
        return status
    copy.rank = x.rank
    memcpy(copy.dims, x.dims, sizeof(x.dims))
    dense_strides(x.rank, x.dims, copy.x_strides)
    for i in range(slices.count):
        status = normalise_axis(slices.axes[i] if slices.axis_count >= 0 else i, x.rank, &axis)
        if status != HIPEP_OK:
            return status
        step = slices.steps[i] if slices.step_count >= 0 else 1
        if step == 0:
            return hipep_fail(HIPEP_INVALID, "the step of axis %d is 0", axis)
        if (seen >> axis) & 1:
            return hipep_fail(HIPEP_INVALID, "axis %d is given twice", axis)
        seen |= 1 << axis
        copy.dims[axis] = _range(x.dims[axis], &slices.starts[i], slices.ends[i], &step)
        offset += slices.starts[i] * copy.x_strides[axis]
        if copy.dims[axis] > 1:  # the product may not fit otherwise
            copy.x_strides[axis] *= step
    whole_output(&copy)
    copy.x_offset = offset
    return emit_strided(e, copy.rank, copy.dims, &copy, on_host)


cdef hipep_status _slice(Emit* e) noexcept nogil:
    return _sliced(e, False)


cdef hipep_status _evaluate(Emit* e) noexcept nogil:
    return _sliced(e, True)


cdef int _add(int since, int until, uint32_t host_inputs, const char* note) except -1:
    cdef Row made = row(b"Slice", since, until, PLAIN_TYPES, _claim, _lower, sizeof(SliceParams),
                        _slice, note)
    made.host_inputs = host_inputs
    made.evaluate = _evaluate
    return add_row(__name__, made)


_add(1, 9, 0, b"starts, ends and axes are attributes")
_add(10, 13, 0b11110, b"any steps; starts, ends, axes and steps are known on the host")
