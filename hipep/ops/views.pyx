"""Ops that give the same bytes another shape: Identity, Reshape, Flatten, Squeeze, Unsqueeze."""
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memset

from hipep._graph cimport Node, Value
from hipep._kernels cimport *
from hipep._lowering cimport *
from hipep._emit cimport *
from hipep.ops.shape_math cimport host_integer, normalise_axis

cdef enum:
    SHAPE_INPUT = 1

cdef struct Axes:
    int64_t[8] axes
    int32_t count  # -1: an input holds them, or all axes of extent 1 are meant
    int32_t absent

cdef struct ReshapeParams:
    int64_t allow_zero


cdef hipep_status _identity(Emit* e) noexcept nogil:
    cdef const hipep_tensor* x = input_shape(e, 0)
    return output_view(e, x.rank, x.dims)


# ---- Reshape ----------------------------------------------------------------------------------

cdef object _claim_reshape(Node node):
    cdef Value shape = node.input(SHAPE_INPUT)
    reason = check_dtype(node, SHAPE_INPUT, BIT_INT64)
    if reason is None and shape.element_count() > 8:
        reason = f"the shape has {shape.element_count()} extents; up to 8 are handled"
    return reason


cdef int _lower_reshape(Node node, void* params) except -1:
    (<ReshapeParams*>params).allow_zero = node.attribute_int("allowzero", 0)
    return 0


cdef hipep_status _reshape(Emit* e) noexcept nogil:
    cdef const hipep_tensor* x = input_shape(e, 0)
    cdef const hipep_tensor* shape = input_shape(e, SHAPE_INPUT)
    cdef const int64_t* wanted = <const int64_t*>host_value(e, SHAPE_INPUT)
    cdef bint allow_zero = (<const ReshapeParams*>e.params).allow_zero != 0
    cdef int64_t[8] dims
    cdef int64_t known = 1, count = hipep_element_count(x)
    cdef int32_t i, inferred = -1, rank
    if wanted == NULL:
        return need_host(e, SHAPE_INPUT)
    if shape.rank != 1 or shape.dims[0] > HIPEP_MAX_RANK:
        return hipep_fail(HIPEP_INVALID, "the shape is not a vector of at most 8 extents")
    rank = <int32_t>shape.dims[0]
    for i in range(rank):
        dims[i] = wanted[i]
        if dims[i] == 0 and not allow_zero:
            if i >= x.rank:
                return hipep_fail(
                    HIPEP_INVALID, "extent %d of the shape is copied, but the input's rank is %d",
                    i, x.rank)
            dims[i] = x.dims[i]
        if dims[i] < -1 or (dims[i] == -1 and inferred >= 0):
            return hipep_fail(
                HIPEP_INVALID, "extent %d of the shape is %lld", i, <long long>dims[i])
        if dims[i] == -1:
            inferred = i
        else:
            known *= dims[i]
    if inferred >= 0:
        if known == 0 or count % known != 0:
            return hipep_fail(
                HIPEP_INVALID, "%lld elements do not divide into parts of %lld",
                <long long>count, <long long>known)
        dims[inferred] = count // known
        known *= dims[inferred]
    if known != count:
        return hipep_fail(
            HIPEP_INVALID, "the shape has %lld elements, the input %lld", <long long>known,
            <long long>count)
    return output_view(e, rank, dims)


# ---- Flatten ----------------------------------------------------------------------------------

cdef int _lower_flatten(Node node, void* params) except -1:
    (<Axes*>params).axes[0] = node.attribute_int("axis", 1)
    return 0


cdef hipep_status _flatten(Emit* e) noexcept nogil:
    cdef const hipep_tensor* x = input_shape(e, 0)
    cdef int64_t axis = (<const Axes*>e.params).axes[0]
    cdef int64_t[2] dims
    cdef int32_t i
    if axis < -x.rank or axis > x.rank:
        return hipep_fail(
            HIPEP_INVALID, "axis %lld is out of range for rank %d", <long long>axis, x.rank)
    if axis < 0:
        axis += x.rank
    dims[0] = dims[1] = 1
    for i in range(x.rank):
        dims[0 if i < axis else 1] *= x.dims[i]
    return output_view(e, 2, dims)


# ---- Squeeze, Unsqueeze -----------------------------------------------------------------------

cdef object _claim_axes(Node node):
    cdef Value axes = node.input(1)
    if node.since_version < 13 or axes is None:
        return None
    reason = check_dtype(node, 1, BIT_INT64)
    if reason is None and axes.element_count() > 8:
        reason = f"{axes.element_count()} axes; up to 8 are handled"
    return reason


cdef int _lower_axes(Node node, void* params) except -1:
    cdef Axes* axes = <Axes*>params
    given = node.attribute_ints("axes") if node.since_version < 13 else None
    axes.count = -1
    axes.absent = given is None and node.input(1) is None
    if given is not None:
        if len(given) > 8:
            raise ValueError(f"{node.op_type} '{node.name}': {len(given)} axes")
        axes.count = <int32_t>len(given)
        for i, axis in enumerate(given):
            axes.axes[<Py_ssize_t>i] = axis
    return 0


cdef hipep_status _read_axes(Emit* e, Axes* out) noexcept nogil:
    cdef const hipep_tensor* axes = input_shape(e, 1)
    cdef const void* data
    cdef int32_t i
    out[0] = (<const Axes*>e.params)[0]
    if out.count >= 0 or out.absent:
        return HIPEP_OK
    data = host_value(e, 1)
    if data == NULL:
        return need_host(e, 1)
    if hipep_element_count(axes) > HIPEP_MAX_RANK:
        return hipep_fail(HIPEP_INVALID, "more than 8 axes")
    out.count = <int32_t>hipep_element_count(axes)
    for i in range(out.count):
        out.axes[i] = host_integer(data, axes.dtype, i)
    return HIPEP_OK


cdef hipep_status _mark_axes(const Axes* axes, int32_t rank, bint* marked) noexcept nogil:
    cdef int32_t i, axis = 0
    cdef hipep_status status
    memset(marked, 0, HIPEP_MAX_RANK * sizeof(bint))
    for i in range(axes.count):
        status = normalise_axis(axes.axes[i], rank, &axis)
        if status != HIPEP_OK:
            return status
        if marked[axis]:
            return hipep_fail(HIPEP_INVALID, "axis %d is given twice", axis)
        marked[axis] = True
    return HIPEP_OK


cdef hipep_status _squeeze(Emit* e) noexcept nogil:
    cdef const hipep_tensor* x = input_shape(e, 0)
    cdef Axes axes
    cdef bint[8] marked
    cdef int64_t[8] dims
    cdef int32_t i, rank = 0
    cdef hipep_status status = _read_axes(e, &axes)
    if status == HIPEP_OK:
        status = _mark_axes(&axes, x.rank, marked)
    if status != HIPEP_OK:
        return status
    for i in range(x.rank):
        if marked[i] and x.dims[i] != 1:
            return hipep_fail(
                HIPEP_INVALID, "axis %d has extent %lld and cannot be squeezed", i,
                <long long>x.dims[i])
        if not (marked[i] or (axes.absent and x.dims[i] == 1)):
            dims[rank] = x.dims[i]
            rank += 1
    return output_view(e, rank, dims)


cdef hipep_status _unsqueeze(Emit* e) noexcept nogil:
    cdef const hipep_tensor* x = input_shape(e, 0)
    cdef Axes axes
    cdef bint[8] marked
    cdef int64_t[8] dims
    cdef int32_t i, at = 0, rank
    cdef hipep_status status = _read_axes(e, &axes)
    if status != HIPEP_OK:
        return status
    rank = x.rank + max(axes.count, 0)
    if rank > HIPEP_MAX_RANK:
        return hipep_fail(HIPEP_INVALID, "the result is of rank %d; up to 8 is handled", rank)
    status = _mark_axes(&axes, rank, marked)
    if status != HIPEP_OK:
        return status
    for i in range(rank):
        if marked[i]:
            dims[i] = 1
        else:
            dims[i] = x.dims[at]
            at += 1
    return output_view(e, rank, dims)


cdef int _add(const char* op_type, int since, int until, claim_fn claim, lower_fn lower,
              size_t params_bytes, emit_fn emit, uint32_t host_inputs) except -1:
    cdef Row made = row(op_type, since, until, PLAIN_TYPES, claim, lower, params_bytes, emit,
                        b"a view where the result is not an output of the group")
    made.flags = ROW_VIEW
    made.evaluate = emit
    made.host_inputs = host_inputs
    return add_row(__name__, made)


_add(b"Identity", 1, 25, NULL, NULL, 0, _identity, 0)
_add(b"Reshape", 5, 25, _claim_reshape, _lower_reshape, sizeof(ReshapeParams), _reshape, 2)
_add(b"Flatten", 1, 25, NULL, _lower_flatten, sizeof(Axes), _flatten, 0)
_add(b"Squeeze", 1, 25, _claim_axes, _lower_axes, sizeof(Axes), _squeeze, 2)
_add(b"Unsqueeze", 1, 25, _claim_axes, _lower_axes, sizeof(Axes), _unsqueeze, 2)
