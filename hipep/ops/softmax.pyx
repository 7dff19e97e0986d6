"""Softmax, LogSoftmax and Hardmax."""
from libc.stdint cimport int32_t, int64_t

from hipep._graph cimport Node
from hipep._kernels cimport *
from hipep._lowering cimport *
from hipep._emit cimport *
from hipep.ops.shape_math cimport normalise_axis

cdef extern from "hipep/softmax.h" nogil:
    hipep_status hipep_plan_softmax(hipep_emitter*, int32_t, int64_t, int64_t, int64_t,
                                    const hipep_tensor*, const hipep_tensor*)
    hipep_status hipep_plan_hardmax(hipep_emitter*, int64_t, int64_t, int64_t,
                                    const hipep_tensor*, const hipep_tensor*)

cdef enum Kind:
    SOFTMAX
    LOG_SOFTMAX
    HARDMAX

cdef struct SoftmaxParams:
    int64_t axis
    int32_t flattens  # to a matrix: all dimensions from the axis on are one


cdef int _lower(Node node, void* params) except -1:
    cdef SoftmaxParams* softmax = <SoftmaxParams*>params
    softmax.flattens = node.since_version < 13
    softmax.axis = node.attribute_int("axis", 1 if softmax.flattens else -1)
    return 0


cdef hipep_status _emit(Emit* e, Kind kind) noexcept nogil:
    cdef const SoftmaxParams* params = <const SoftmaxParams*>e.params
    cdef const hipep_tensor* shape = input_shape(e, 0)
    cdef hipep_tensor x, y
    cdef int64_t outer = 1, extent = 1, inner = 1
    cdef int32_t i, axis = 0
    cdef hipep_status status = HIPEP_OK
    if params.flattens and params.axis == shape.rank:
        axis = shape.rank
    elif shape.rank > 0 or params.axis < -1 or params.axis > 0:
        status = normalise_axis(params.axis, shape.rank, &axis)
    if status == HIPEP_OK:
        status = input_tensor(e, 0, &x)
    if status == HIPEP_OK:
        status = output_tensor(e, 0, x.dtype, x.rank, x.dims, &y)
    if status != HIPEP_OK or y.value < 0:
        return status
    for i in range(x.rank):
        if i < axis:
            outer *= x.dims[i]
        elif i == axis or params.flattens:
            extent *= x.dims[i]
        else:
            inner *= x.dims[i]
    if kind == HARDMAX:
        return hipep_plan_hardmax(e.emitter, outer, extent, inner, &x, &y)
    return hipep_plan_softmax(e.emitter, kind == LOG_SOFTMAX, outer, extent, inner, &x, &y)


cdef hipep_status _softmax(Emit* e) noexcept nogil:
    return _emit(e, SOFTMAX)


cdef hipep_status _log_softmax(Emit* e) noexcept nogil:
    return _emit(e, LOG_SOFTMAX)


cdef hipep_status _hardmax(Emit* e) noexcept nogil:
    return _emit(e, HARDMAX)


cdef int _add(const char* op_type, emit_fn emit, const char* note) except -1:
    add_row(__name__, row(op_type, 1, 11, FLOATS_BEFORE_BFLOAT16, NULL, _lower,
                          sizeof(SoftmaxParams), emit, note))
    return add_row(__name__, row(op_type, 13, 13, FLOATS, NULL, _lower, sizeof(SoftmaxParams),
                                 emit, note))


_add(b"Softmax", _softmax, b"narrow floats are computed in float32; before opset 13 all "
     b"dimensions from the axis on are one")
_add(b"LogSoftmax", _log_softmax, b"narrow floats are computed in float32; before opset 13 all "
     b"dimensions from the axis on are one")
_add(b"Hardmax", _hardmax, b"the first NaN, else the first greatest element")
