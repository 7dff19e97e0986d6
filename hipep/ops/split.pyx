"""Split."""
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy

from hipep._graph cimport Node, Value
from hipep._kernels cimport *
from hipep._lowering cimport *
from hipep._emit cimport *
from hipep.ops.shape_math cimport host_integer, normalise_axis
from hipep.ops.strided cimport *

cdef enum:
    SPLIT_INPUT = 1
    MAX_PARTS = 256

cdef struct SplitParams:
    int64_t axis
    int64_t[256] parts  # MAX_PARTS
    int32_t part_count  # -1: in the input, or equal parts
    int32_t output_count
    int32_t uneven  # the last part may be shorter


cdef object _claim(Node node):
    cdef Value parts = node.input(SPLIT_INPUT)
    if len(node.outputs) > MAX_PARTS:
        return f"{len(node.outputs)} outputs; up to {MAX_PARTS} are handled"
    if parts is None:
        return None
    if node.since_version < 13:
        return "the parts are an input of the type of the data"
    return check_dtype(node, SPLIT_INPUT, BIT_INT64)


cdef int _lower(Node node, void* params) except -1:
    cdef SplitParams* split = <SplitParams*>params
    given = node.attribute_ints("split") if node.since_version < 13 else None
    split.axis = node.attribute_int("axis", 0)
    split.output_count = <int32_t>len(node.outputs)
    split.uneven = node.since_version >= 18
    split.part_count = -1
    if given is not None:
        if len(given) != len(node.outputs):
            raise ValueError(f"Split '{node.name}': {len(given)} parts for {len(node.outputs)} "
                             "outputs")
        split.part_count = <int32_t>len(given)
        for i, part in enumerate(given):
            split.parts[<Py_ssize_t>i] = part
    return 0


cdef hipep_status _read_parts(Emit* e, const SplitParams* split, int64_t extent,
                              int64_t* parts) noexcept nogil:
    """The extents of the outputs along the axis."""
    cdef const hipep_tensor* given = input_shape(e, SPLIT_INPUT)
    cdef int64_t each, i
    if split.part_count >= 0:
        memcpy(parts, split.parts, split.part_count * sizeof(int64_t))
        return HIPEP_OK
    if given != NULL:
        if hipep_element_count(given) != split.output_count:
            return hipep_fail(HIPEP_INVALID, "split has %lld elements for %d outputs",
                              <long long>hipep_element_count(given), split.output_count)
        if host_value(e, SPLIT_INPUT) == NULL:
            return need_host(e, SPLIT_INPUT)
        for i in range(split.output_count):
            parts[i] = host_integer(host_value(e, SPLIT_INPUT), given.dtype, i)
        return HIPEP_OK
    each = (extent + split.output_count - 1) // split.output_count
    if not split.uneven and each * split.output_count != extent:
        return hipep_fail(HIPEP_INVALID, "extent %lld is not a multiple of %d outputs",
                          <long long>extent, split.output_count)
    for i in range(split.output_count):
        parts[i] = min(each, max(extent - i * each, 0))
    return HIPEP_OK


cdef hipep_status _check_parts(const int64_t* parts, int32_t count, int64_t extent) noexcept nogil:
    cdef int64_t total = 0
    cdef int32_t i
    for i in range(count):
        if parts[i] < 0 or parts[i] > extent:
            return hipep_fail(HIPEP_INVALID, "part %d has extent %lld of %lld", i,
                              <long long>parts[i], <long long>extent)
        total += parts[i]
    if total != extent:
        return hipep_fail(HIPEP_INVALID, "the parts have %lld in all, the input's axis %lld",
                          <long long>total, <long long>extent)
    return HIPEP_OK


cdef hipep_status _part(Emit* e, int32_t index, hipep_strided* copy, bint on_host) noexcept nogil:
    cdef const hipep_tensor* shape = input_shape(e, 0)
    cdef hipep_tensor x, y
    cdef hipep_status status
    cdef void* out
    if on_host:
        out = output_host(e, index, shape.dtype, shape.rank, copy.dims)
        if out != NULL:
            hipep_run_strided(copy, host_value(e, 0), out, hipep_dtype_size(shape.dtype))
            return HIPEP_OK
    status = input_tensor(e, 0, &x)
    if status == HIPEP_OK:
        status = output_tensor(e, index, x.dtype, x.rank, copy.dims, &y)
    if status != HIPEP_OK or y.value < 0:
        return status
    return hipep_plan_strided(e.emitter, copy, &x, &y)


cdef hipep_status _split_into(Emit* e, bint on_host) noexcept nogil:
    cdef const SplitParams* split = <const SplitParams*>e.params
    cdef const hipep_tensor* x = input_shape(e, 0)
    cdef hipep_strided copy
    cdef int64_t[256] parts
    cdef int64_t offset = 0
    cdef int32_t i, axis = 0
    cdef hipep_status status = normalise_axis(split.axis, x.rank, &axis)
    if status == HIPEP_OK:
        status = _read_parts(e, split, x.dims[axis], parts)
    if status == HIPEP_OK:
        status = _check_parts(parts, split.output_count, x.dims[axis])
    if status != HIPEP_OK:
        return status
    copy.rank = x.rank
    memcpy(copy.dims, x.dims, sizeof(x.dims))
    dense_strides(x.rank, x.dims, copy.x_strides)
    for i in range(split.output_count):
        copy.dims[axis] = parts[i]
        whole_output(&copy)
        copy.x_offset = offset
        offset += parts[i] * copy.x_strides[axis]
        if output_wanted(e, i):
            status = _part(e, i, &copy, on_host)
        if status != HIPEP_OK:
            return status
    return HIPEP_OK


cdef hipep_status _split(Emit* e) noexcept nogil:
    return _split_into(e, False)


cdef hipep_status _evaluate(Emit* e) noexcept nogil:
    return _split_into(e, True)


cdef int _add(int since, int until, const char* note) except -1:
    cdef Row made = row(b"Split", since, until, PLAIN_TYPES, _claim, _lower, sizeof(SplitParams),
                        _split, note)
    made.host_inputs = 1 << SPLIT_INPUT if since >= 13 else 0
    made.evaluate = _evaluate
    return add_row(__name__, made)


_add(1, 11, b"the parts are an attribute, or equal")
_add(13, 18, b"the parts are known on the host; a launch for each output")
