"""CumSum and CumProd."""
from libc.stdint cimport int32_t, int64_t, uint64_t

from hipep._graph cimport Node
from hipep._kernels cimport *
from hipep._lowering cimport *
from hipep._emit cimport *
from hipep.ops.shape_math cimport host_integer, normalise_axis, rows_along

cdef extern from "hipep/scan.h" nogil:
    enum:
        HIPEP_SCAN_SUM
        HIPEP_SCAN_PRODUCT
    hipep_status hipep_plan_scan(hipep_emitter*, int32_t, int32_t, int32_t, int64_t, int64_t,
                                 int64_t, const hipep_tensor*, const hipep_tensor*)

cdef struct ScanParams:
    int32_t exclusive
    int32_t reverse


cdef object _claim(Node node):
    return check_dtype(node, 1, BIT_INT32 | BIT_INT64)


cdef int _lower(Node node, void* params) except -1:
    cdef ScanParams* scan = <ScanParams*>params
    scan.exclusive = node.attribute_int("exclusive", 0) != 0
    scan.reverse = node.attribute_int("reverse", 0) != 0
    return 0


cdef hipep_status _scan(Emit* e, int32_t op) noexcept nogil:
    cdef const ScanParams* params = <const ScanParams*>e.params
    cdef const hipep_tensor* given = input_shape(e, 1)
    cdef const void* data = host_value(e, 1)
    cdef hipep_tensor x, y
    cdef int64_t outer = 1, extent = 1, inner = 1
    cdef int32_t axis = 0
    cdef hipep_status status
    if data == NULL:
        return need_host(e, 1)
    if hipep_element_count(given) != 1:
        return hipep_fail(HIPEP_INVALID, "axis has %lld elements; it is one number",
                          <long long>hipep_element_count(given))
    status = normalise_axis(host_integer(data, given.dtype, 0), input_shape(e, 0).rank, &axis)
    if status == HIPEP_OK:
        status = input_tensor(e, 0, &x)
    if status == HIPEP_OK:
        status = output_tensor(e, 0, x.dtype, x.rank, x.dims, &y)
    if status != HIPEP_OK or y.value < 0:
        return status
    rows_along(&x, axis, &outer, &extent, &inner)
    return hipep_plan_scan(e.emitter, op, params.exclusive, params.reverse, outer, extent, inner,
                           &x, &y)


cdef hipep_status _cum_sum(Emit* e) noexcept nogil:
    return _scan(e, HIPEP_SCAN_SUM)


cdef hipep_status _cum_prod(Emit* e) noexcept nogil:
    return _scan(e, HIPEP_SCAN_PRODUCT)


cdef int _add(const char* op_type, int since, uint64_t dtypes, emit_fn emit) except -1:
    cdef Row made = row(op_type, since, since, dtypes, _claim, _lower, sizeof(ScanParams), emit,
                        b"floats are accumulated in float64 in a fixed order; integers wrap")
    made.host_inputs = 2
    return add_row(__name__, made)


cdef enum:
    WORDS = BIT_INT32 | BIT_INT64 | BIT_UINT32 | BIT_UINT64

_add(b"CumSum", 11, BIT_FLOAT | BIT_DOUBLE | WORDS, _cum_sum)
_add(b"CumSum", 14, FLOATS | WORDS, _cum_sum)
_add(b"CumProd", 26, FLOATS | WORDS, _cum_prod)
