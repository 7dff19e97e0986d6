"""Elementwise arithmetic with numpy broadcasting, and Cast."""
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memcpy

from hipep._graph cimport Node, Value
from hipep._kernels cimport *
from hipep._lowering cimport *
from hipep._emit cimport *
from hipep.ops.shape_math cimport broadcast_dims, host_integer

cdef extern from "hipep/elementwise.h" nogil:
    enum:
        HIPEP_UNARY_RELU
        HIPEP_UNARY_NEG
        HIPEP_UNARY_ABS
        HIPEP_BINARY_ADD
        HIPEP_BINARY_SUB
        HIPEP_BINARY_MUL
        HIPEP_BINARY_DIV
        HIPEP_BINARY_MIN
        HIPEP_BINARY_MAX
    int32_t hipep_cast_supports(int32_t source, int32_t to)
    hipep_status hipep_plan_unary(hipep_emitter*, int32_t, const hipep_tensor*,
                                  const hipep_tensor*)
    hipep_status hipep_plan_binary(hipep_emitter*, int32_t, const hipep_tensor*,
                                   const hipep_tensor*, const hipep_tensor*)
    hipep_status hipep_plan_cast(hipep_emitter*, const hipep_tensor*, const hipep_tensor*,
                                 int32_t)

cdef extern from "hipep/movement.h" nogil:
    hipep_status hipep_plan_copy(hipep_emitter*, const hipep_tensor*, const hipep_tensor*)

cdef struct Op:
    int32_t code

cdef struct CastParams:
    int32_t to
    int32_t saturate


# ---- One input --------------------------------------------------------------------------------

cdef hipep_status _unary(Emit* e, int32_t code) noexcept nogil:
    cdef hipep_tensor x, y
    cdef hipep_status status = input_tensor(e, 0, &x)
    if status == HIPEP_OK:
        status = output_tensor(e, 0, x.dtype, x.rank, x.dims, &y)
    if status != HIPEP_OK or y.value < 0:
        return status
    return hipep_plan_unary(e.emitter, code, &x, &y)


cdef hipep_status _relu(Emit* e) noexcept nogil:
    return _unary(e, HIPEP_UNARY_RELU)


cdef hipep_status _neg(Emit* e) noexcept nogil:
    return _unary(e, HIPEP_UNARY_NEG)


cdef hipep_status _abs(Emit* e) noexcept nogil:
    return _unary(e, HIPEP_UNARY_ABS)


# ---- Two inputs -------------------------------------------------------------------------------

cdef hipep_status _binary(Emit* e, int32_t code) noexcept nogil:
    cdef hipep_tensor a, b, y
    cdef int64_t[8] dims
    cdef int32_t rank = 0
    cdef hipep_status status = broadcast_dims(input_shape(e, 0), input_shape(e, 1), &rank, dims)
    if status == HIPEP_OK:
        status = input_tensor(e, 0, &a)
    if status == HIPEP_OK:
        status = input_tensor(e, 1, &b)
    if status == HIPEP_OK:
        status = output_tensor(e, 0, a.dtype, rank, dims, &y)
    if status != HIPEP_OK or y.value < 0:
        return status
    return hipep_plan_binary(e.emitter, code, &a, &b, &y)


cdef hipep_status _add_op(Emit* e) noexcept nogil:
    return _binary(e, HIPEP_BINARY_ADD)


cdef hipep_status _sub(Emit* e) noexcept nogil:
    return _binary(e, HIPEP_BINARY_SUB)


cdef hipep_status _mul(Emit* e) noexcept nogil:
    return _binary(e, HIPEP_BINARY_MUL)


cdef hipep_status _div(Emit* e) noexcept nogil:
    return _binary(e, HIPEP_BINARY_DIV)


# ---- Any number of inputs ---------------------------------------------------------------------

cdef hipep_status _temporary(Emit* e, int32_t dtype, int32_t rank, const int64_t* dims,
                             hipep_tensor* out) noexcept nogil:
    cdef hipep_tensor shape
    cdef hipep_status status
    shape.dtype = dtype
    shape.rank = rank
    memcpy(shape.dims, dims, rank * sizeof(int64_t))
    status = e.emitter.workspace(
        e.emitter, hipep_element_count(&shape) * <int64_t>hipep_dtype_size(dtype), out)
    out.dtype = dtype
    out.rank = rank
    memcpy(out.dims, dims, rank * sizeof(int64_t))
    return status


cdef hipep_status _variadic(Emit* e, int32_t code) noexcept nogil:
    """Fold the inputs from the left; each step has the shape that its operands ask for."""
    cdef hipep_tensor so_far, operand, y, partial
    cdef int64_t[8] dims
    cdef int32_t i, rank = 0, count = 0
    cdef hipep_status status
    cdef hipep_tensor shape = input_shape(e, 0)[0]
    while input_shape(e, count) != NULL:
        status = broadcast_dims(&shape, input_shape(e, count), &shape.rank, dims)
        if status != HIPEP_OK:
            return status
        memcpy(shape.dims, dims, shape.rank * sizeof(int64_t))
        count += 1
    status = input_tensor(e, 0, &so_far)
    if status == HIPEP_OK:
        status = output_tensor(e, 0, so_far.dtype, shape.rank, shape.dims, &y)
    if status != HIPEP_OK or y.value < 0:
        return status
    if count == 1:
        return hipep_plan_copy(e.emitter, &so_far, &y)
    for i in range(1, count):
        status = input_tensor(e, i, &operand)
        if status == HIPEP_OK:
            status = broadcast_dims(&so_far, &operand, &rank, dims)
        if status != HIPEP_OK:
            return status
        if i + 1 < count:
            status = _temporary(e, so_far.dtype, rank, dims, &partial)
            if status != HIPEP_OK:
                return status
        else:
            partial = y
        status = hipep_plan_binary(e.emitter, code, &so_far, &operand, &partial)
        if status != HIPEP_OK:
            return status
        so_far = partial
    return HIPEP_OK


cdef hipep_status _min(Emit* e) noexcept nogil:
    return _variadic(e, HIPEP_BINARY_MIN)


cdef hipep_status _max(Emit* e) noexcept nogil:
    return _variadic(e, HIPEP_BINARY_MAX)


# ---- On the host: shape arithmetic ------------------------------------------------------------

cdef int64_t _combine(int32_t code, int64_t a, int64_t b) noexcept nogil:
    if code == HIPEP_BINARY_ADD:
        return <int64_t>(<uint64_t>a + <uint64_t>b)
    if code == HIPEP_BINARY_SUB:
        return <int64_t>(<uint64_t>a - <uint64_t>b)
    if code == HIPEP_BINARY_MUL:
        return <int64_t>(<uint64_t>a * <uint64_t>b)
    if code == HIPEP_BINARY_MIN:
        return min(a, b)
    if code == HIPEP_BINARY_MAX:
        return max(a, b)
    if b == 0:
        return 0
    if b == -1:
        return <int64_t>(-<uint64_t>a)
    return _truncating_quotient(a, b)


cdef extern from *:
    """
    static inline int64_t hipep_truncating_quotient(int64_t a, int64_t b) { return a / b; }
    """
    int64_t _truncating_quotient "hipep_truncating_quotient"(int64_t, int64_t) nogil


cdef inline void _write(void* out, int32_t dtype, int64_t index, int64_t value) noexcept nogil:
    if dtype == HIPEP_INT32:
        (<int32_t*>out)[index] = <int32_t>value
    else:
        (<int64_t*>out)[index] = value


cdef int64_t _source_index(const hipep_tensor* tensor, const int64_t* dims, int32_t rank,
                           int64_t index) noexcept nogil:
    """The element of a broadcast operand that belongs to element index of the result."""
    cdef int64_t at = 0, step = 1, position
    cdef int32_t d, own
    for d in range(rank - 1, -1, -1):
        position = index % dims[d]
        index //= dims[d]
        own = d - (rank - tensor.rank)
        if own >= 0:
            if tensor.dims[own] != 1:
                at += position * step
            step *= tensor.dims[own]
    return at


cdef hipep_status _evaluate(Emit* e, int32_t code, emit_fn on_device) noexcept nogil:
    cdef const hipep_tensor* x = input_shape(e, 0)
    cdef const hipep_tensor* operand
    cdef int64_t[8] dims
    cdef int64_t i, value, count = 1
    cdef int32_t n, d, rank = x.rank
    cdef hipep_tensor shape = x[0]
    cdef hipep_status status
    cdef void* out
    if (x.dtype != HIPEP_INT64 and x.dtype != HIPEP_INT32) or not output_wanted(e, 0):
        return on_device(e)
    memcpy(dims, x.dims, sizeof(dims))
    n = 1
    while input_shape(e, n) != NULL:
        status = broadcast_dims(&shape, input_shape(e, n), &rank, dims)
        if status != HIPEP_OK:
            return status
        shape.rank = rank
        memcpy(shape.dims, dims, rank * sizeof(int64_t))
        n += 1
    for d in range(rank):
        count *= dims[d]
    out = output_host(e, 0, x.dtype, rank, dims)
    if out == NULL:
        return on_device(e)
    for i in range(count):
        value = host_integer(host_value(e, 0), x.dtype, _source_index(x, dims, rank, i))
        for d in range(1, n):
            operand = input_shape(e, d)
            value = _combine(code, value, host_integer(
                host_value(e, d), x.dtype, _source_index(operand, dims, rank, i)))
        _write(out, x.dtype, i, value)
    return HIPEP_OK


cdef hipep_status _evaluate_add(Emit* e) noexcept nogil:
    return _evaluate(e, HIPEP_BINARY_ADD, _add_op)


cdef hipep_status _evaluate_sub(Emit* e) noexcept nogil:
    return _evaluate(e, HIPEP_BINARY_SUB, _sub)


cdef hipep_status _evaluate_mul(Emit* e) noexcept nogil:
    return _evaluate(e, HIPEP_BINARY_MUL, _mul)


cdef hipep_status _evaluate_div(Emit* e) noexcept nogil:
    return _evaluate(e, HIPEP_BINARY_DIV, _div)


cdef hipep_status _evaluate_min(Emit* e) noexcept nogil:
    return _evaluate(e, HIPEP_BINARY_MIN, _min)


cdef hipep_status _evaluate_max(Emit* e) noexcept nogil:
    return _evaluate(e, HIPEP_BINARY_MAX, _max)


# ---- Cast -------------------------------------------------------------------------------------

cdef object _claim_cast(Node node):
    cdef Value x = node.input(0)
    cdef int64_t to = node.attribute_int("to", 0)
    if to <= 0 or to >= HIPEP_DTYPE_END or not hipep_cast_supports(x.dtype, <int32_t>to):
        return (f"a cast from {hipep_dtype_name(x.dtype).decode()} to "
                f"{hipep_dtype_name(<int32_t>to).decode()}")
    return None


cdef int _lower_cast(Node node, void* params) except -1:
    (<CastParams*>params).to = <int32_t>node.attribute_int("to", 0)
    (<CastParams*>params).saturate = <int32_t>node.attribute_int("saturate", 1)
    return 0


cdef hipep_status _cast(Emit* e) noexcept nogil:
    cdef const CastParams* cast = <const CastParams*>e.params
    cdef hipep_tensor x, y
    cdef hipep_status status = input_tensor(e, 0, &x)
    if status == HIPEP_OK:
        status = output_tensor(e, 0, cast.to, x.rank, x.dims, &y)
    if status != HIPEP_OK or y.value < 0:
        return status
    if x.dtype == y.dtype:
        return hipep_plan_copy(e.emitter, &x, &y)
    return hipep_plan_cast(e.emitter, &x, &y, cast.saturate)


cdef hipep_status _evaluate_cast(Emit* e) noexcept nogil:
    cdef const CastParams* cast = <const CastParams*>e.params
    cdef const hipep_tensor* x = input_shape(e, 0)
    cdef void* out
    cdef int64_t i
    if ((x.dtype != HIPEP_INT64 and x.dtype != HIPEP_INT32) or not output_wanted(e, 0)
            or (cast.to != HIPEP_INT64 and cast.to != HIPEP_INT32)):
        return _cast(e)
    out = output_host(e, 0, cast.to, x.rank, x.dims)
    if out == NULL:
        return _cast(e)
    for i in range(hipep_element_count(x)):
        _write(out, cast.to, i, host_integer(host_value(e, 0), x.dtype, i))
    return HIPEP_OK


cdef int _add_one(const char* op_type, int since, int until, uint64_t dtypes, emit_fn emit,
                  emit_fn evaluate, const char* note) except -1:
    cdef Row made = row(op_type, since, until, dtypes, NULL, NULL, 0, emit, note)
    made.evaluate = evaluate
    return add_row(__name__, made)


cdef enum:
    LARGE_INTEGERS = BIT_INT32 | BIT_INT64 | BIT_UINT32 | BIT_UINT64

_add_one(b"Relu", 6, 13, FLOATS, _relu, NULL, b"NaN stays NaN")
_add_one(b"Relu", 14, 14, FLOATS | SIGNED_INTEGERS, _relu, NULL, b"NaN stays NaN")
_add_one(b"Neg", 6, 13, FLOATS | SIGNED_INTEGERS, _neg, NULL, b"integers wrap")
_add_one(b"Abs", 6, 13, NUMBERS, _abs, NULL, b"integers wrap")
_add_one(b"Add", 7, 13, FLOATS | LARGE_INTEGERS, _add_op, _evaluate_add, b"broadcasts to rank 8")
_add_one(b"Add", 14, 14, NUMBERS, _add_op, _evaluate_add, b"broadcasts to rank 8")
_add_one(b"Sub", 7, 13, FLOATS | LARGE_INTEGERS, _sub, _evaluate_sub, b"broadcasts to rank 8")
_add_one(b"Sub", 14, 14, NUMBERS, _sub, _evaluate_sub, b"broadcasts to rank 8")
_add_one(b"Mul", 7, 13, FLOATS | LARGE_INTEGERS, _mul, _evaluate_mul, b"broadcasts to rank 8")
_add_one(b"Mul", 14, 14, NUMBERS, _mul, _evaluate_mul, b"broadcasts to rank 8")
_add_one(b"Div", 7, 13, FLOATS | LARGE_INTEGERS, _div, _evaluate_div,
         b"integers truncate toward zero, x / 0 is 0")
_add_one(b"Div", 14, 14, NUMBERS, _div, _evaluate_div,
         b"integers truncate toward zero, x / 0 is 0")
_add_one(b"Min", 8, 11, FLOATS_BEFORE_BFLOAT16, _min, NULL, b"NaN if an operand is NaN")
_add_one(b"Min", 12, 13, NUMBERS, _min, _evaluate_min, b"NaN if an operand is NaN")
_add_one(b"Max", 8, 11, FLOATS_BEFORE_BFLOAT16, _max, NULL, b"NaN if an operand is NaN")
_add_one(b"Max", 12, 13, NUMBERS, _max, _evaluate_max, b"NaN if an operand is NaN")

cdef Row _cast_row = row(
    b"Cast", 6, 25, PLAIN_TYPES, _claim_cast, _lower_cast, sizeof(CastParams), _cast,
    b"a float outside of the integer's range gives the nearest end, NaN gives 0")
_cast_row.evaluate = _evaluate_cast
add_row(__name__, _cast_row)
