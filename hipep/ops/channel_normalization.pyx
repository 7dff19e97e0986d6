"""Normalisations whose parameters belong to channels, the second dimension."""
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memset

from hipep._graph cimport Node, Value
from hipep._kernels cimport *
from hipep._lowering cimport *
from hipep._emit cimport *

cdef extern from "hipep/normalization.h" nogil:
    enum:
        HIPEP_AFFINE_CHANNEL
    ctypedef struct hipep_normalization:
        int64_t rows
        int64_t extent
        double epsilon
        int32_t centered
        int32_t affine
        int64_t period
        int64_t run
        const hipep_tensor* x
        const hipep_tensor* scale
        const hipep_tensor* shift
        const hipep_tensor* y
    hipep_status hipep_plan_normalize(hipep_emitter*, const hipep_normalization*)
    hipep_status hipep_plan_batch_normalization(
        hipep_emitter*, double, const hipep_tensor*, const hipep_tensor*, const hipep_tensor*,
        const hipep_tensor*, const hipep_tensor*, const hipep_tensor*)
    hipep_status hipep_plan_local_response(
        hipep_emitter*, int64_t, double, double, double, const hipep_tensor*,
        const hipep_tensor*)

cdef struct BatchParams:
    double epsilon

cdef struct GroupParams:
    double epsilon
    int64_t groups  # 0: each channel is one
    int32_t by_group  # scale and shift have an element for each group

cdef struct ResponseParams:
    double alpha
    double beta
    double bias
    int64_t size


# ---- Given statistics -------------------------------------------------------------------------

cdef object _claim_batch(Node node):
    updated = [value for value in node.outputs[1:] if value is not None]
    if updated or node.attribute_int("training_mode", 0):
        return "training mode: statistics are only read"
    if not node.attribute_int("spatial", 1):
        return "spatial is 0: statistics of each element are not handled"
    for index in range(1, 5):
        reason = check_dtype(node, index, FLOATS)
        if reason is not None:
            return reason
    return None


cdef int _lower_batch(Node node, void* params) except -1:
    (<BatchParams*>params).epsilon = node.attribute_float("epsilon", 1e-5)
    return 0


cdef hipep_status _batch(Emit* e) noexcept nogil:
    cdef const BatchParams* params = <const BatchParams*>e.params
    cdef hipep_tensor[5] inputs
    cdef hipep_tensor y
    cdef int i
    cdef hipep_status status = HIPEP_OK
    for i in range(5):
        if status == HIPEP_OK:
            status = input_tensor(e, i, &inputs[i])
    if status == HIPEP_OK:
        status = output_tensor(e, 0, inputs[0].dtype, inputs[0].rank, inputs[0].dims, &y)
    if status != HIPEP_OK or y.value < 0:
        return status
    return hipep_plan_batch_normalization(e.emitter, params.epsilon, &inputs[0], &inputs[1],
                                          &inputs[2], &inputs[3], &inputs[4], &y)


# ---- Statistics of channels and of groups of channels -----------------------------------------

cdef object _claim_group(Node node):
    cdef Value x = node.input(0), operand
    for operand in node.inputs[1:]:
        if operand is None or operand.dtype != x.dtype:
            return "scale or bias is absent or of another type than the input"
    return None


cdef int _lower_instance(Node node, void* params) except -1:
    (<GroupParams*>params).epsilon = node.attribute_float("epsilon", 1e-5)
    return 0


cdef int _lower_group(Node node, void* params) except -1:
    cdef GroupParams* group = <GroupParams*>params
    group.epsilon = node.attribute_float("epsilon", 1e-5)
    group.groups = node.attribute_int("num_groups", 0)
    group.by_group = node.since_version < 21
    if group.groups < 1:
        raise ValueError(f"{node.op_type} '{node.name}': num_groups is {group.groups}")
    return 0


cdef hipep_status _group(Emit* e) noexcept nogil:
    cdef const GroupParams* params = <const GroupParams*>e.params
    cdef hipep_tensor x, scale, shift, y
    cdef hipep_normalization what
    cdef int64_t groups
    cdef hipep_status status = input_tensor(e, 0, &x)
    if status == HIPEP_OK:
        status = input_tensor(e, 1, &scale)
    if status == HIPEP_OK:
        status = input_tensor(e, 2, &shift)
    if status == HIPEP_OK:
        status = output_tensor(e, 0, x.dtype, x.rank, x.dims, &y)
    if status != HIPEP_OK or y.value < 0:
        return status
    if x.rank < 2:
        return hipep_fail(HIPEP_INVALID, "an input of rank %d has no channels", x.rank)
    groups = params.groups if params.groups > 0 else x.dims[1]
    if groups == 0 or hipep_element_count(&x) == 0:
        return HIPEP_OK
    if x.dims[1] % groups != 0:
        return hipep_fail(HIPEP_INVALID, "%lld channels cannot be cut into %lld groups",
                          <long long>x.dims[1], <long long>groups)
    memset(&what, 0, sizeof(what))
    what.rows = x.dims[0] * groups
    what.extent = hipep_element_count(&x) // what.rows
    what.epsilon = params.epsilon
    what.centered = True
    what.affine = HIPEP_AFFINE_CHANNEL
    what.period = groups
    what.run = what.extent if params.by_group else what.extent // (x.dims[1] // groups)
    what.x = &x
    what.scale = &scale
    what.shift = &shift
    what.y = &y
    return hipep_plan_normalize(e.emitter, &what)


# ---- Windows of channels ----------------------------------------------------------------------

cdef object _claim_response(Node node):
    size = node.attribute_int("size", 0)
    return None if size >= 1 else f"size is {size}; it is at least 1"


cdef int _lower_response(Node node, void* params) except -1:
    cdef ResponseParams* response = <ResponseParams*>params
    response.alpha = node.attribute_float("alpha", 1e-4)
    response.beta = node.attribute_float("beta", 0.75)
    response.bias = node.attribute_float("bias", 1.0)
    response.size = node.attribute_int("size", 0)
    return 0


cdef hipep_status _response(Emit* e) noexcept nogil:
    cdef const ResponseParams* params = <const ResponseParams*>e.params
    cdef hipep_tensor x, y
    cdef hipep_status status = input_tensor(e, 0, &x)
    if status == HIPEP_OK:
        status = output_tensor(e, 0, x.dtype, x.rank, x.dims, &y)
    if status != HIPEP_OK or y.value < 0:
        return status
    return hipep_plan_local_response(e.emitter, params.size, params.alpha, params.beta,
                                     params.bias, &x, &y)


cdef int _add(const char* op_type, int since, int until, uint64_t dtypes, claim_fn claim,
              lower_fn lower, size_t params_bytes, emit_fn emit, const char* note) except -1:
    return add_row(__name__, row(op_type, since, until, dtypes, claim, lower, params_bytes, emit,
                                 note))


cdef const char* COMPUTED = b"narrow floats are computed in float32"

_add(b"BatchNormalization", 7, 9, FLOATS_BEFORE_BFLOAT16, _claim_batch, _lower_batch,
     sizeof(BatchParams), _batch, b"inference")
_add(b"BatchNormalization", 14, 15, FLOATS, _claim_batch, _lower_batch, sizeof(BatchParams),
     _batch, b"inference; statistics may be of another type than the input")
_add(b"InstanceNormalization", 6, 6, FLOATS_BEFORE_BFLOAT16, _claim_group, _lower_instance,
     sizeof(GroupParams), _group, COMPUTED)
_add(b"InstanceNormalization", 22, 22, FLOATS, _claim_group, _lower_instance,
     sizeof(GroupParams), _group, COMPUTED)
_add(b"GroupNormalization", 18, 18, FLOATS, _claim_group, _lower_group, sizeof(GroupParams),
     _group, b"scale and bias belong to groups")
_add(b"GroupNormalization", 21, 21, FLOATS, _claim_group, _lower_group, sizeof(GroupParams),
     _group, b"scale and bias belong to channels")
_add(b"LRN", 1, 1, FLOATS_BEFORE_BFLOAT16, _claim_response, _lower_response,
     sizeof(ResponseParams), _response, COMPUTED)
_add(b"LRN", 13, 13, FLOATS, _claim_response, _lower_response, sizeof(ResponseParams), _response,
     COMPUTED)
