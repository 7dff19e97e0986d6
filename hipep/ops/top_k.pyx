"""TopK: K static goes by value; otherwise it is known on the host, or read back."""
from libc.stdint cimport int32_t, int64_t
from libc.stdio cimport snprintf
from libc.string cimport memcpy, strlen

from hipep._graph cimport Node, Value
from hipep._kernels cimport *
from hipep._lowering cimport *
from hipep._emit cimport *
from hipep.ops.shape_math cimport normalise_axis

cdef extern from "hipep/top_k.h" nogil:
    ctypedef struct hipep_top_k_geometry:
        int64_t k
        int32_t axis
        int32_t largest
        int32_t sorted
        int32_t variant
    hipep_status hipep_plan_top_k(
        hipep_emitter*, const hipep_top_k_geometry*, const hipep_tensor*, const hipep_tensor*,
        const hipep_tensor*)

cdef enum:
    K_INPUT = 1

cdef struct TopK:
    int64_t axis
    int64_t static_k  # -1: known when the node runs
    int32_t largest
    int32_t sorted


cdef object _axis_extent(Value value, int64_t axis):
    """The static extent along an axis, or None."""
    if value is None or value.rank <= 0 or not -value.rank <= axis < value.rank:
        return None
    extent = value.dims[axis + value.rank if axis < 0 else axis]
    return extent if extent >= 0 else None


cdef object _static_k(Node node):
    """K as an attribute, a constant or the static extent of the result; None if it is none."""
    cdef int64_t axis = node.attribute_int("axis", -1)
    cdef Value k = node.input(K_INPUT)
    if node.since_version < 10:
        return node.attribute_int("k", -1)
    if k.is_constant and k.element_count() == 1:
        return k.integers()[0]
    for value in node.outputs:
        extent = _axis_extent(value, axis)
        if extent is not None:
            return extent
    return None


cdef object _claim(Node node):
    cdef Value x = node.input(0)
    cdef Value k = node.input(K_INPUT)
    if node.since_version >= 10:
        reason = check_dtype(node, K_INPUT, BIT_INT64)
        if reason is not None:
            return reason
        if k.element_count() not in (-1, 1):
            return f"K ('{k.name}') has {k.element_count()} elements instead of one"
    if x.rank == 0:
        return "the input is a scalar"
    return None


cdef int _check(Node node, static) except -1:
    """Refuse at load what no input can make right."""
    cdef Value x = node.input(0)
    cdef int64_t axis = node.attribute_int("axis", -1)
    if x.rank > 0 and not -x.rank <= axis < x.rank:
        raise ValueError(f"TopK '{node.name}': axis {axis} is out of range for rank {x.rank}")
    extent = _axis_extent(x, axis)
    if static is not None and (static < 0 or (extent is not None and static > extent)):
        known = "not known" if extent is None else extent
        raise ValueError(
            f"TopK '{node.name}': K is {static}, but the extent of axis {axis} is {known}")
    return 0


cdef int _lower(Node node, void* params) except -1:
    cdef TopK* top_k = <TopK*>params
    static = _static_k(node)
    _check(node, static)
    top_k.axis = node.attribute_int("axis", -1)
    top_k.largest = node.attribute_int("largest", 1) != 0
    top_k.sorted = node.attribute_int("sorted", 1) != 0
    top_k.static_k = -1 if static is None else static
    return 0


cdef hipep_status _emit(Emit* e) noexcept nogil:
    cdef const TopK* top_k = <const TopK*>e.params
    cdef const hipep_tensor* shape = input_shape(e, 0)
    cdef const int64_t* given = <const int64_t*>host_value(e, K_INPUT)
    cdef hipep_top_k_geometry geometry
    cdef hipep_tensor x, values, indices
    cdef int64_t[8] dims
    cdef hipep_status status
    geometry.k = top_k.static_k
    if geometry.k >= 0 and given != NULL and given[0] != geometry.k:
        return hipep_fail(
            HIPEP_INVALID, "K is %lld, but the extent of the result is %lld",
            <long long>given[0], <long long>geometry.k)
    if geometry.k < 0:
        if given == NULL:
            return need_host(e, K_INPUT)
        geometry.k = given[0]
    status = normalise_axis(top_k.axis, shape.rank, &geometry.axis)
    if status != HIPEP_OK:
        return status
    memcpy(dims, shape.dims, sizeof(dims))
    if geometry.k < 0 or geometry.k > dims[geometry.axis]:
        return hipep_fail(
            HIPEP_INVALID, "K is %lld, but the extent of axis %lld is %lld",
            <long long>geometry.k, <long long>top_k.axis, <long long>dims[geometry.axis])
    geometry.largest = top_k.largest
    geometry.sorted = top_k.sorted
    geometry.variant = 0
    dims[geometry.axis] = geometry.k
    status = input_tensor(e, 0, &x)
    if status == HIPEP_OK:
        status = output_tensor(e, 0, x.dtype, x.rank, dims, &values)
    if status == HIPEP_OK:
        status = output_tensor(e, 1, HIPEP_INT64, x.rank, dims, &indices)
    if status == HIPEP_OK:
        status = hipep_plan_top_k(e.emitter, &geometry, &x, &values, &indices)
    if e.emitter.debug:
        _describe_source(e, top_k.static_k >= 0)
    return status


cdef void _describe_source(Emit* e, bint static_k) noexcept nogil:
    cdef char* text = e.emitter.description
    cdef size_t used = strlen(text)
    snprintf(text + used, sizeof(e.emitter.description) - used, "%s",
             b" (K static)" if static_k else b" (K at run time)")


cdef object _pays_off(Node node):
    """From the measured table in docs/performance.md: level there is left to the CPU EP."""
    cdef Value x = node.input(0)
    cdef int64_t axis = node.attribute_int("axis", -1)
    extent = _axis_extent(x, axis)
    k = _static_k(node)
    if extent is None or k is None:
        return "K or the extent is not static: it may not be faster than the CPU EP on the host"
    least = 16384 if k < 8 else 4096 if k < 32 else 1024
    if extent < least:
        return f"K={k} of {extent} is not faster than the CPU EP on the host (from {least} on)"
    return None


cdef Row _row(int since, int until, uint64_t dtypes, const char* note) noexcept:
    cdef Row made = row(b"TopK", since, until, dtypes, _claim, _lower, sizeof(TopK), _emit, note)
    made.host_inputs = 1 << K_INPUT if since >= 10 else 0
    made.pays_off = _pays_off
    return made


add_row(__name__, _row(1, 9, FLOATS_BEFORE_BFLOAT16, b"K is an attribute"))
add_row(__name__, _row(10, 10, FLOATS_BEFORE_BFLOAT16, b"K static: by value"))
add_row(__name__, _row(11, 23, NUMBERS & ~BIT_BFLOAT16, b"K static: by value; else host-known"))
add_row(__name__, _row(24, 24, NUMBERS, b"K static: by value; else host-known"))
