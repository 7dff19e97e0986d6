"""Small integer inputs and attributes that say how a node treats its axes."""
from libc.stdint cimport int32_t, int64_t

from hipep._emit cimport host_value, input_shape, need_host
from hipep._graph cimport Node, Value
from hipep._kernels cimport *
from hipep._lowering cimport BIT_INT32, BIT_INT64, Emit, check_dtype
from hipep.ops.shape_math cimport host_integer


cdef object check_integers(Node node, int index, bint optional):
    cdef Value value = node.input(index)
    if value is None and optional:
        return None
    reason = check_dtype(node, index, BIT_INT32 | BIT_INT64)
    if reason is None and value.rank > 1:
        reason = f"input {index} ('{value.name}') is of rank {value.rank} instead of 1"
    return reason


cdef hipep_status read_integers(Emit* e, int index, int64_t* out, int32_t* count) noexcept nogil:
    cdef const hipep_tensor* given = input_shape(e, index)
    cdef const void* data
    cdef int64_t i
    count[0] = -1
    if given == NULL:
        return HIPEP_OK
    if hipep_element_count(given) > 2 * HIPEP_MAX_RANK:
        return hipep_fail(HIPEP_INVALID, "input %d has %lld elements; rank 8 needs at most 16",
                          index, <long long>hipep_element_count(given))
    data = host_value(e, index)
    if data == NULL:
        return need_host(e, index)
    count[0] = <int32_t>hipep_element_count(given)
    for i in range(count[0]):
        out[i] = host_integer(data, given.dtype, i)
    return HIPEP_OK


cdef int32_t integers_attribute(Node node, str name, int64_t* out) except -2:
    given = node.attribute_ints(name)
    if given is None:
        return -1
    if len(given) > 8:
        raise ValueError(f"{node.op_type} '{node.name}': {name} has {len(given)} elements")
    for i, value in enumerate(given):
        out[<Py_ssize_t>i] = value
    return <int32_t>len(given)
