from libc.stdint cimport int32_t, int64_t

from hipep._ort_api cimport Ort, OrtGraph, OrtNode, OrtOpAttr, OrtStatus

cdef int check(const Ort* ort, OrtStatus* status) except -1

cdef class Value:
    cdef readonly str name
    cdef readonly int32_t dtype  # 0: unknown
    cdef readonly int32_t rank  # -1: unknown
    cdef int64_t[8] dims  # -1: unknown
    cdef readonly bint is_constant
    cdef readonly int64_t data_bytes
    cdef const void* data  # of a constant; valid during the callback that read the graph

    cpdef int64_t element_count(self) noexcept
    cpdef list integers(self)

cdef class Node:
    cdef const Ort* ort
    cdef const OrtNode* handle
    cdef readonly str name
    cdef readonly str op_type
    cdef readonly str domain
    cdef readonly int since_version
    cdef readonly str taken_by
    cdef readonly int subgraphs
    cdef readonly set read_below  # names that the graphs inside this node read
    cdef readonly list inputs  # Value, or None where an optional input is absent
    cdef readonly list outputs

    cdef const OrtOpAttr* _attribute(self, str name) except? NULL
    cdef Value input(self, Py_ssize_t index)
    cdef Value output(self, Py_ssize_t index)
    cdef int64_t attribute_int(self, str name, int64_t default) except? -1
    cdef double attribute_float(self, str name, double default) except? -1
    cdef list attribute_ints(self, str name)
    cdef str attribute_string(self, str name, str default)

cdef class Graph:
    cdef const OrtGraph* handle
    cdef readonly list nodes
    cdef readonly set outputs  # names
    cdef readonly str path  # "" for the main graph

cdef Graph read_graph(const Ort* ort, const OrtGraph* handle)
cdef list value_names(const Ort* ort, const OrtNode* node, bint outputs)
