"""ArgMax, ArgMin and the reductions."""
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memset

from hipep._graph cimport Node, Value
from hipep._kernels cimport *
from hipep._lowering cimport *
from hipep._emit cimport *
from hipep.ops.shape_math cimport host_integer, normalise_axis

cdef extern from "hipep/reduce.h" nogil:
    enum:
        HIPEP_REDUCE_MAX
        HIPEP_REDUCE_MIN
        HIPEP_REDUCE_SUM
        HIPEP_REDUCE_MEAN
        HIPEP_REDUCE_PROD
        HIPEP_REDUCE_L1
        HIPEP_REDUCE_L2
        HIPEP_REDUCE_LOG_SUM
        HIPEP_REDUCE_LOG_SUM_EXP
        HIPEP_REDUCE_SUM_SQUARE
    hipep_status hipep_plan_arg_reduce(hipep_emitter*, int32_t, int32_t, int32_t,
                                       const hipep_tensor*, const hipep_tensor*)
    hipep_status hipep_plan_reduce(hipep_emitter*, int32_t, const int32_t*, int32_t,
                                   const hipep_tensor*, const hipep_tensor*)

cdef struct ArgParams:
    int64_t axis
    int32_t keepdims
    int32_t select_last

cdef struct ReduceParams:
    int64_t[8] axes
    int32_t count  # -1: in the input, or absent
    int32_t absent
    int32_t keepdims
    int32_t noop_if_empty


cdef void _reduced(const hipep_tensor* x, const bint* reduced, bint keepdims, int32_t* rank,
                   int64_t* dims) noexcept nogil:
    cdef int32_t i
    rank[0] = 0
    for i in range(x.rank):
        if reduced[i] and not keepdims:
            continue
        dims[rank[0]] = 1 if reduced[i] else x.dims[i]
        rank[0] += 1


# ---- ArgMax, ArgMin ---------------------------------------------------------------------------

cdef int _lower_arg(Node node, void* params) except -1:
    cdef ArgParams* arg = <ArgParams*>params
    arg.axis = node.attribute_int("axis", 0)
    arg.keepdims = node.attribute_int("keepdims", 1) != 0
    arg.select_last = node.attribute_int("select_last_index", 0) != 0
    return 0


cdef hipep_status _arg(Emit* e, bint find_max) noexcept nogil:
    cdef const ArgParams* arg = <const ArgParams*>e.params
    cdef hipep_tensor x, y
    cdef bint[8] reduced
    cdef int64_t[8] dims
    cdef int32_t axis = 0, rank = 0
    cdef hipep_status status = normalise_axis(arg.axis, input_shape(e, 0).rank, &axis)
    if status == HIPEP_OK:
        status = input_tensor(e, 0, &x)
    if status != HIPEP_OK:
        return status
    memset(reduced, 0, sizeof(reduced))
    reduced[axis] = True
    _reduced(&x, reduced, arg.keepdims, &rank, dims)
    if x.dims[axis] == 0 and hipep_element_count(&x) == 0:
        x.rank = rank  # nothing to choose from: an error unless the result is empty too
        for axis in range(rank):
            x.dims[axis] = dims[axis]
        if hipep_element_count(&x) != 0:
            return hipep_fail(HIPEP_INVALID, "the extent of axis %lld is 0: it has no extreme",
                              <long long>arg.axis)
        return output_tensor(e, 0, HIPEP_INT64, rank, dims, &y)
    status = output_tensor(e, 0, HIPEP_INT64, rank, dims, &y)
    if status != HIPEP_OK or y.value < 0:
        return status
    return hipep_plan_arg_reduce(e.emitter, find_max, arg.select_last, axis, &x, &y)


cdef hipep_status _arg_max(Emit* e) noexcept nogil:
    return _arg(e, True)


cdef hipep_status _arg_min(Emit* e) noexcept nogil:
    return _arg(e, False)


# ---- Reductions -------------------------------------------------------------------------------

cdef object _claim_reduce(Node node):
    cdef Value axes = node.input(1)
    if axes is None:
        return None
    reason = check_dtype(node, 1, BIT_INT64)
    if reason is None and axes.element_count() > 8:
        reason = f"{axes.element_count()} axes; up to 8 are handled"
    return reason


cdef int _lower_reduce(Node node, void* params) except -1:
    cdef ReduceParams* reduce = <ReduceParams*>params
    given = node.attribute_ints("axes")
    reduce.keepdims = node.attribute_int("keepdims", 1) != 0
    reduce.noop_if_empty = node.attribute_int("noop_with_empty_axes", 0) != 0
    reduce.count = -1
    reduce.absent = given is None and node.input(1) is None
    if given is not None:
        if len(given) > 8:
            raise ValueError(f"{node.op_type} '{node.name}': {len(given)} axes")
        reduce.count = <int32_t>len(given)
        for i, axis in enumerate(given):
            reduce.axes[<Py_ssize_t>i] = axis
    return 0


cdef hipep_status _read_axes(Emit* e, ReduceParams* out) noexcept nogil:
    cdef const hipep_tensor* axes = input_shape(e, 1)
    cdef const void* data
    cdef int32_t i
    out[0] = (<const ReduceParams*>e.params)[0]
    if out.absent:
        out.count = 0
    if out.count >= 0:
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


cdef hipep_status _reduce(Emit* e, int32_t code) noexcept nogil:
    cdef const hipep_tensor* shape = input_shape(e, 0)
    cdef ReduceParams params
    cdef hipep_tensor x, y
    cdef bint[8] reduced
    cdef int64_t[8] dims
    cdef int32_t[8] axes
    cdef int32_t i, axis = 0, rank = 0, count = 0
    cdef hipep_status status = _read_axes(e, &params)
    if status != HIPEP_OK:
        return status
    memset(reduced, 0, sizeof(reduced))
    for i in range(params.count):
        status = normalise_axis(params.axes[i], shape.rank, &axis)
        if status != HIPEP_OK:
            return status
        reduced[axis] = True
    if params.count == 0 and not params.noop_if_empty:
        for i in range(shape.rank):
            reduced[i] = True
    for i in range(shape.rank):
        if reduced[i]:
            axes[count] = i
            count += 1
    status = input_tensor(e, 0, &x)
    if status != HIPEP_OK:
        return status
    _reduced(&x, reduced, params.keepdims, &rank, dims)
    status = output_tensor(e, 0, x.dtype, rank, dims, &y)
    if status != HIPEP_OK or y.value < 0:
        return status
    return hipep_plan_reduce(e.emitter, code, axes, count, &x, &y)


cdef hipep_status _reduce_max(Emit* e) noexcept nogil:
    return _reduce(e, HIPEP_REDUCE_MAX)


cdef hipep_status _reduce_min(Emit* e) noexcept nogil:
    return _reduce(e, HIPEP_REDUCE_MIN)


cdef hipep_status _reduce_sum(Emit* e) noexcept nogil:
    return _reduce(e, HIPEP_REDUCE_SUM)


cdef hipep_status _reduce_mean(Emit* e) noexcept nogil:
    return _reduce(e, HIPEP_REDUCE_MEAN)


cdef hipep_status _reduce_prod(Emit* e) noexcept nogil:
    return _reduce(e, HIPEP_REDUCE_PROD)


cdef hipep_status _reduce_l1(Emit* e) noexcept nogil:
    return _reduce(e, HIPEP_REDUCE_L1)


cdef hipep_status _reduce_l2(Emit* e) noexcept nogil:
    return _reduce(e, HIPEP_REDUCE_L2)


cdef hipep_status _reduce_log_sum(Emit* e) noexcept nogil:
    return _reduce(e, HIPEP_REDUCE_LOG_SUM)


cdef hipep_status _reduce_log_sum_exp(Emit* e) noexcept nogil:
    return _reduce(e, HIPEP_REDUCE_LOG_SUM_EXP)


cdef hipep_status _reduce_sum_square(Emit* e) noexcept nogil:
    return _reduce(e, HIPEP_REDUCE_SUM_SQUARE)


cdef int _add_arg(const char* op_type, emit_fn emit) except -1:
    return add_row(__name__, row(
        op_type, 1, 13, NUMBERS, NULL, _lower_arg, sizeof(ArgParams), emit,
        b"the first NaN wins, as in numpy"))


cdef int _add_reduce(const char* op_type, int since, int until, uint64_t dtypes, emit_fn emit,
                     const char* note) except -1:
    cdef Row made = row(op_type, since, until, dtypes, _claim_reduce, _lower_reduce,
                        sizeof(ReduceParams), emit, note)
    made.host_inputs = 2
    return add_row(__name__, made)


cdef enum:
    REDUCED = FLOATS | BIT_INT32 | BIT_INT64 | BIT_UINT32 | BIT_UINT64
    REDUCED_WITH_BYTES = REDUCED | BIT_INT8 | BIT_UINT8

_add_arg(b"ArgMax", _arg_max)
_add_arg(b"ArgMin", _arg_min)
_add_reduce(b"ReduceMax", 1, 18, REDUCED_WITH_BYTES, _reduce_max, b"NaN if an element is NaN")
_add_reduce(b"ReduceMax", 20, 20, REDUCED_WITH_BYTES | BIT_BOOL, _reduce_max,
            b"NaN if an element is NaN")
_add_reduce(b"ReduceMin", 1, 18, REDUCED_WITH_BYTES, _reduce_min, b"NaN if an element is NaN")
_add_reduce(b"ReduceMin", 20, 20, REDUCED_WITH_BYTES | BIT_BOOL, _reduce_min,
            b"NaN if an element is NaN")
_add_reduce(b"ReduceSum", 1, 13, REDUCED, _reduce_sum, b"the same order of additions on every run")
_add_reduce(b"ReduceMean", 1, 18, REDUCED, _reduce_mean,
            b"integers truncate toward zero; of no elements NaN, or 0")
_add_reduce(b"ReduceProd", 1, 18, REDUCED, _reduce_prod, b"integers wrap")
_add_reduce(b"ReduceL1", 1, 18, REDUCED, _reduce_l1, b"integers wrap")
_add_reduce(b"ReduceL2", 1, 18, REDUCED, _reduce_l2, b"integers truncate toward zero")
_add_reduce(b"ReduceLogSum", 1, 18, REDUCED, _reduce_log_sum, b"integers truncate toward zero")
_add_reduce(b"ReduceLogSum", 28, 28, FLOATS, _reduce_log_sum, b"of no elements -infinity")
_add_reduce(b"ReduceLogSumExp", 1, 18, REDUCED, _reduce_log_sum_exp,
            b"integers truncate toward zero")
_add_reduce(b"ReduceLogSumExp", 28, 28, FLOATS, _reduce_log_sum_exp, b"of no elements -infinity")
_add_reduce(b"ReduceSumSquare", 1, 18, REDUCED, _reduce_sum_square, b"integers wrap")
