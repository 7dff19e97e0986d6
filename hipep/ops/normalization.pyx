"""Normalisations of trailing dimensions, with their residual forms, and of any axes."""
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memset

from hipep._graph cimport Node, Value
from hipep._kernels cimport *
from hipep._lowering cimport *
from hipep._emit cimport *
from hipep.ops.shape_math cimport normalise_axis, rows_along

cdef extern from "hipep/normalization.h" nogil:
    enum:
        HIPEP_AFFINE_ELEMENT
    ctypedef struct hipep_normalization:
        int64_t rows
        int64_t extent
        double epsilon
        int32_t centered
        int32_t affine
        int64_t period
        int64_t run
        const hipep_tensor* x
        const hipep_tensor* skip
        const hipep_tensor* bias
        const hipep_tensor* scale
        const hipep_tensor* shift
        const hipep_tensor* y
        const hipep_tensor* sum
        const hipep_tensor* mean
        const hipep_tensor* inverse
    hipep_status hipep_plan_normalize(hipep_emitter*, const hipep_normalization*)
    hipep_status hipep_plan_layer_normalization(
        hipep_emitter*, int32_t, int32_t, double, const hipep_tensor*, const hipep_tensor*,
        const hipep_tensor*, const hipep_tensor*, const hipep_tensor*, const hipep_tensor*)
    hipep_status hipep_plan_mean_variance_normalization(
        hipep_emitter*, const int32_t*, int32_t, const hipep_tensor*, const hipep_tensor*)
    hipep_status hipep_plan_lp_normalization(
        hipep_emitter*, int32_t, int64_t, int64_t, int64_t, const hipep_tensor*,
        const hipep_tensor*)

cdef struct LayerParams:
    int64_t axis
    double epsilon
    int32_t mean_type  # of output 1
    int32_t inverse_type  # of output 2, or of 1 without a mean

cdef struct LpParams:
    int64_t axis
    int32_t p

cdef struct AxesParams:
    int64_t[8] axes
    int32_t count


# ---- Trailing dimensions ----------------------------------------------------------------------

cdef object _claim_operands(Node node):
    cdef Value operand, scale = node.input(1)
    cdef int i
    reason = check_dtype(node, 1, FLOATS)
    for i in range(2, len(node.inputs)):
        operand = node.input(i)
        if reason is None and operand is not None and operand.dtype != scale.dtype:
            reason = f"'{operand.name}' and '{scale.name}' are of different types"
    for operand in node.outputs[1:]:
        if reason is None and operand is not None and not (FLOATS >> operand.dtype) & 1:
            reason = f"the type of '{operand.name}' is not handled or not known"
    return reason


cdef int32_t _type_of(Node node, int output):
    cdef Value value = node.output(output)
    return HIPEP_FLOAT if value is None else value.dtype


cdef int _lower_layer(Node node, void* params) except -1:
    cdef LayerParams* layer = <LayerParams*>params
    layer.axis = node.attribute_int("axis", -1)
    layer.epsilon = node.attribute_float("epsilon", 1e-5)
    layer.mean_type = _type_of(node, 1)
    layer.inverse_type = _type_of(node, 2)
    return 0


cdef hipep_status _statistic(Emit* e, int output, int32_t dtype, const hipep_tensor* x,
                             int32_t axis, hipep_tensor* out) noexcept nogil:
    """An output of one element for each row."""
    cdef hipep_tensor shape = x[0]
    cdef int32_t i
    for i in range(axis, x.rank):
        shape.dims[i] = 1
    return output_tensor(e, output, dtype, shape.rank, shape.dims, out)


cdef hipep_status _layer(Emit* e, bint centered, int inverse_output) noexcept nogil:
    cdef const LayerParams* params = <const LayerParams*>e.params
    cdef hipep_tensor x, scale, shift, y, mean, inverse
    cdef int32_t axis = 0
    cdef int32_t inverse_type = params.mean_type if inverse_output == 1 else params.inverse_type
    cdef hipep_status status = normalise_axis(params.axis, input_shape(e, 0).rank, &axis)
    shift.value = mean.value = -1
    if status == HIPEP_OK:
        status = input_tensor(e, 0, &x)
    if status == HIPEP_OK:
        status = input_tensor(e, 1, &scale)
    if status == HIPEP_OK and centered:
        status = input_tensor(e, 2, &shift)
    if status == HIPEP_OK:
        status = output_tensor(e, 0, scale.dtype, x.rank, x.dims, &y)
    if status == HIPEP_OK and inverse_output == 2:
        status = _statistic(e, 1, params.mean_type, &x, axis, &mean)
    if status == HIPEP_OK:
        status = _statistic(e, inverse_output, inverse_type, &x, axis, &inverse)
    if status != HIPEP_OK:
        return status
    return hipep_plan_layer_normalization(e.emitter, axis, centered, params.epsilon, &x, &scale,
                                          &shift, &y, &mean, &inverse)


cdef hipep_status _layer_normalization(Emit* e) noexcept nogil:
    return _layer(e, True, 2)


cdef hipep_status _rms_normalization(Emit* e) noexcept nogil:
    return _layer(e, False, 1)


# ---- The sum of two inputs, normalised along the last dimension -------------------------------

cdef object _claim_skip(Node node):
    cdef Value x = node.input(0), operand
    for operand in node.inputs[1:]:
        if operand is not None and operand.dtype != x.dtype:
            return f"'{operand.name}' and '{x.name}' are of different types"
    if node.input(1) is None or node.input(2) is None:
        return "skip or gamma is absent"
    return None


cdef int _lower_skip(Node node, void* params) except -1:
    cdef LayerParams* layer = <LayerParams*>params
    layer.epsilon = node.attribute_float("epsilon", 1e-12)
    return 0


cdef hipep_status _skip(Emit* e, bint centered) noexcept nogil:
    cdef const LayerParams* params = <const LayerParams*>e.params
    cdef const hipep_tensor* shape = input_shape(e, 0)
    cdef hipep_tensor x, skip, bias, scale, shift, y, total, mean, inverse
    cdef hipep_normalization what
    cdef int32_t i, axis = shape.rank - 1
    cdef hipep_status status = HIPEP_OK
    if shape.rank < 1:
        return hipep_fail(HIPEP_INVALID, "the input is a scalar: it has no rows")
    shift.value = -1
    status = input_tensor(e, 0, &x)
    if status == HIPEP_OK:
        status = input_tensor(e, 1, &skip)
    if status == HIPEP_OK:
        status = input_tensor(e, 2, &scale)
    if status == HIPEP_OK and centered:
        status = input_tensor(e, 3, &shift)
    if status == HIPEP_OK:
        status = input_tensor(e, 4 if centered else 3, &bias)
    if status == HIPEP_OK:
        status = output_tensor(e, 0, x.dtype, x.rank, x.dims, &y)
    if status == HIPEP_OK:
        status = _statistic(e, 1, HIPEP_FLOAT, &x, axis, &mean)
    if status == HIPEP_OK:
        status = _statistic(e, 2, HIPEP_FLOAT, &x, axis, &inverse)
    if status == HIPEP_OK:
        status = output_tensor(e, 3, x.dtype, x.rank, x.dims, &total)
    if status != HIPEP_OK:
        return status
    for i in range(skip.rank):  # rows that begin again: leading dimensions are absent or 1
        if (i + x.rank < skip.rank or skip.dims[i] != x.dims[i + x.rank - skip.rank]) and not (
                skip.dims[i] == 1 and i == 0):
            return hipep_fail(HIPEP_INVALID, "skip does not repeat along the first dimension of "
                              "the input: extent %lld on axis %d", <long long>skip.dims[i], i)
    memset(&what, 0, sizeof(what))
    what.rows = 1
    for i in range(axis):
        what.rows *= x.dims[i]
    what.extent = x.dims[axis]
    what.epsilon = params.epsilon
    what.centered = centered
    what.affine = HIPEP_AFFINE_ELEMENT
    what.x = &x
    what.skip = &skip
    what.bias = &bias
    what.scale = &scale
    what.shift = &shift
    what.y = &y
    what.sum = &total
    what.mean = &mean
    what.inverse = &inverse
    return hipep_plan_normalize(e.emitter, &what)


cdef hipep_status _skip_layer(Emit* e) noexcept nogil:
    return _skip(e, True)


cdef hipep_status _skip_simplified(Emit* e) noexcept nogil:
    return _skip(e, False)


# ---- Any axis, and any set of axes ------------------------------------------------------------

cdef object _claim_lp(Node node):
    p = node.attribute_int("p", 2)
    return None if p in (1, 2) else f"p is {p}; the norms of 1 and 2 are computed"


cdef int _lower_lp(Node node, void* params) except -1:
    cdef LpParams* lp = <LpParams*>params
    lp.axis = node.attribute_int("axis", -1)
    lp.p = <int32_t>node.attribute_int("p", 2)
    return 0


cdef hipep_status _lp(Emit* e) noexcept nogil:
    cdef const LpParams* params = <const LpParams*>e.params
    cdef hipep_tensor x, y
    cdef int64_t outer = 1, extent = 1, inner = 1
    cdef int32_t axis = 0
    cdef hipep_status status = normalise_axis(params.axis, input_shape(e, 0).rank, &axis)
    if status == HIPEP_OK:
        status = input_tensor(e, 0, &x)
    if status == HIPEP_OK:
        status = output_tensor(e, 0, x.dtype, x.rank, x.dims, &y)
    if status != HIPEP_OK or y.value < 0:
        return status
    rows_along(&x, axis, &outer, &extent, &inner)
    return hipep_plan_lp_normalization(e.emitter, params.p, outer, extent, inner, &x, &y)


cdef object _claim_axes(Node node):
    axes = node.attribute_ints("axes")
    if axes is not None and len(axes) > 8:
        return f"{len(axes)} axes; up to 8 are handled"
    return None


cdef int _lower_axes(Node node, void* params) except -1:
    cdef AxesParams* given = <AxesParams*>params
    axes = node.attribute_ints("axes")
    axes = [0, 2, 3] if axes is None else axes
    given.count = <int32_t>len(axes)
    for i, axis in enumerate(axes):
        given.axes[<Py_ssize_t>i] = axis
    return 0


cdef hipep_status _mean_variance(Emit* e) noexcept nogil:
    cdef const AxesParams* params = <const AxesParams*>e.params
    cdef hipep_tensor x, y
    cdef int32_t[8] axes
    cdef int32_t i
    cdef hipep_status status = HIPEP_OK
    for i in range(params.count):
        if status == HIPEP_OK:
            status = normalise_axis(params.axes[i], input_shape(e, 0).rank, &axes[i])
    if status == HIPEP_OK:
        status = input_tensor(e, 0, &x)
    if status == HIPEP_OK:
        status = output_tensor(e, 0, x.dtype, x.rank, x.dims, &y)
    if status != HIPEP_OK or y.value < 0:
        return status
    return hipep_plan_mean_variance_normalization(e.emitter, axes, params.count, &x, &y)


# ---- Rows -------------------------------------------------------------------------------------

cdef int _add_layer(const char* op_type, int since, int until, emit_fn emit,
                    const char* note) except -1:
    return add_row(__name__, row(op_type, since, until, FLOATS, _claim_operands, _lower_layer,
                                 sizeof(LayerParams), emit, note))


cdef int _add_skip(const char* op_type, emit_fn emit) except -1:
    cdef Row made = row(op_type, 1, 1, BIT_FLOAT | BIT_FLOAT16 | BIT_BFLOAT16, _claim_skip,
                        _lower_skip, sizeof(LayerParams), emit,
                        b"the sum is normalised before it is rounded")
    made.domain = b"com.microsoft"
    return add_row(__name__, made)


cdef const char* COMPUTED = b"narrow floats are computed in float32, whatever stash_type says"

_add_layer(b"LayerNormalization", 1, 17, _layer_normalization, COMPUTED)
_add_layer(b"RMSNormalization", 23, 23, _rms_normalization, COMPUTED)
_add_layer(b"SimplifiedLayerNormalization", 1, 1, _rms_normalization, COMPUTED)
_add_skip(b"SkipLayerNormalization", _skip_layer)
_add_skip(b"SkipSimplifiedLayerNormalization", _skip_simplified)
add_row(__name__, row(b"LpNormalization", 1, 1, FLOATS_BEFORE_BFLOAT16, _claim_lp, _lower_lp,
                      sizeof(LpParams), _lp, b"0 where the norm is 0"))
add_row(__name__, row(b"LpNormalization", 22, 22, FLOATS, _claim_lp, _lower_lp,
                      sizeof(LpParams), _lp, b"0 where the norm is 0"))
add_row(__name__, row(b"MeanVarianceNormalization", 9, 9, FLOATS_BEFORE_BFLOAT16, _claim_axes,
                      _lower_axes, sizeof(AxesParams), _mean_variance,
                      b"narrow floats are computed in float32"))
add_row(__name__, row(b"MeanVarianceNormalization", 13, 13, FLOATS, _claim_axes, _lower_axes,
                      sizeof(AxesParams), _mean_variance,
                      b"narrow floats are computed in float32"))
