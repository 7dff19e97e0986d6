"""Nodes and values read from an onnxruntime graph, static extents in typed memory."""
from libc.stddef cimport size_t
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, malloc

from hipep._ort_api cimport *


cdef int check(const Ort* ort, OrtStatus* status) except -1:
    """Turn a status of onnxruntime into a RuntimeError."""
    if status == NULL:
        return 0
    text = GetErrorMessage(ort, status).decode("utf-8", "replace")
    ReleaseStatus(ort, status)
    raise RuntimeError(text)


cdef class Value:
    """A value of a graph: type and shape as far as they are known, and the data of a constant."""

    cpdef int64_t element_count(self) noexcept:
        """Return the number of elements, or -1 if the shape is not known."""
        cdef int64_t count = 1
        cdef int32_t i
        if self.rank < 0:
            return -1
        for i in range(self.rank):
            if self.dims[i] < 0:
                return -1
            count *= self.dims[i]
        return count

    cpdef list integers(self):
        """Return the elements of a constant int32 or int64 tensor."""
        cdef int64_t i, count = self.element_count()
        if self.dtype == 7:
            return [(<const int64_t*>self.data)[i] for i in range(count)]
        if self.dtype == 6:
            return [(<const int32_t*>self.data)[i] for i in range(count)]
        raise TypeError(f"constant '{self.name}' is not of an integer index type")

    @property
    def shape(self):
        """Extents as a tuple, -1 where unknown; None if the rank is unknown."""
        if self.rank < 0:
            return None
        return tuple(self.dims[i] for i in range(self.rank))


cdef class Node:
    """A node with its attributes, read on demand."""

    cdef Value input(self, Py_ssize_t index):
        return self.inputs[index] if index < len(self.inputs) else None

    cdef Value output(self, Py_ssize_t index):
        return self.outputs[index] if index < len(self.outputs) else None

    cdef const OrtOpAttr* _attribute(self, str name) except? NULL:
        cdef const OrtOpAttr* attribute = NULL
        cdef OrtStatus* status = Node_GetAttributeByName(
            self.ort, self.handle, name.encode(), &attribute)
        if status != NULL:  # NOT_FOUND: the schema has no such attribute
            ReleaseStatus(self.ort, status)
            return NULL
        return attribute

    cdef int64_t attribute_int(self, str name, int64_t default) except? -1:
        cdef int64_t value = 0
        cdef size_t needed = 0
        cdef const OrtOpAttr* attribute = self._attribute(name)
        if attribute == NULL:
            return default
        check(self.ort, ReadOpAttr(self.ort, attribute, 1, &value, sizeof(value), &needed))
        return value

    cdef double attribute_float(self, str name, double default) except? -1:
        cdef float value = 0
        cdef size_t needed = 0
        cdef const OrtOpAttr* attribute = self._attribute(name)
        if attribute == NULL:
            return default
        check(self.ort, ReadOpAttr(self.ort, attribute, 3, &value, sizeof(value), &needed))
        return value

    cdef list attribute_ints(self, str name):
        """Return the integers of an attribute, or None if it is absent."""
        cdef const OrtOpAttr* attribute = self._attribute(name)
        cdef size_t needed = 0, i
        cdef OrtStatus* status
        cdef int64_t* values
        if attribute == NULL:
            return None
        status = ReadOpAttr(self.ort, attribute, 2, NULL, 0, &needed)
        if status != NULL:
            ReleaseStatus(self.ort, status)
        if needed == 0:
            return []
        values = <int64_t*>malloc(needed)
        if values == NULL:
            raise MemoryError
        try:
            check(self.ort, ReadOpAttr(self.ort, attribute, 2, values, needed, &needed))
            return [values[i] for i in range(needed // sizeof(int64_t))]
        finally:
            free(values)

    cdef str attribute_string(self, str name, str default):
        cdef const OrtOpAttr* attribute = self._attribute(name)
        cdef size_t needed = 0
        cdef OrtStatus* status
        if attribute == NULL:
            return default
        status = ReadOpAttr(self.ort, attribute, 5, NULL, 0, &needed)
        if status != NULL:
            ReleaseStatus(self.ort, status)
        buffer = bytearray(needed + 1)
        cdef char* into = buffer
        check(self.ort, ReadOpAttr(self.ort, attribute, 5, into, needed, &needed))
        return buffer[:needed].decode()


cdef class Graph:
    """A graph in topological order."""


cdef int _read_type(const Ort* ort, const OrtValueInfo* info, Value value) except -1:
    cdef const OrtTypeInfo* type_info = NULL
    cdef const OrtTensorTypeAndShapeInfo* tensor_info = NULL
    cdef OrtStatus* status
    cdef size_t rank = 0
    cdef int dtype = 0
    cdef int64_t[64] dims
    cdef size_t i
    status = GetValueInfoTypeInfo(ort, info, &type_info)
    if status != NULL:  # no type was inferred
        ReleaseStatus(ort, status)
        return 0
    if type_info == NULL:
        return 0
    check(ort, CastTypeInfoToTensorInfo(ort, type_info, &tensor_info))
    if tensor_info == NULL:  # a sequence, a map, an optional
        return 0
    check(ort, GetTensorElementType(ort, tensor_info, &dtype))
    value.dtype = dtype
    check(ort, GetDimensionsCount(ort, tensor_info, &rank))
    if rank > 64:
        return 0
    check(ort, GetDimensions(ort, tensor_info, dims, rank))
    if not _has_shape(ort, tensor_info):
        return 0
    value.rank = <int32_t>rank
    for i in range(min(rank, <size_t>8)):
        value.dims[i] = dims[i] if dims[i] >= 0 else -1
    return 0


cdef bint _has_shape(const Ort* ort, const OrtTensorTypeAndShapeInfo* info) noexcept nogil:
    return TensorTypeAndShape_HasShape(ort, info) != 0


cdef Value _read_value(const Ort* ort, const OrtValueInfo* info, dict known):
    cdef const char* name = NULL
    cdef cbool constant = 0
    cdef const OrtValue* data = NULL
    cdef size_t data_bytes = 0
    cdef Value value
    if info == NULL:
        return None
    check(ort, GetValueInfoName(ort, info, &name))
    key = name.decode()
    if not key:
        return None
    if key in known:
        return known[key]
    value = Value.__new__(Value)
    value.name = key
    value.rank = -1
    _read_type(ort, info, value)
    check(ort, ValueInfo_IsConstantInitializer(ort, info, &constant))
    if constant and value.rank >= 0 and value.rank <= 8 and value.dtype != 8:
        check(ort, ValueInfo_GetInitializerValue(ort, info, &data))
        if data != NULL:
            check(ort, GetTensorData(ort, data, &value.data))
            check(ort, GetTensorSizeInBytes(ort, data, &data_bytes))
            value.data_bytes = data_bytes
            value.is_constant = True
    known[key] = value
    return value


ctypedef OrtStatus* (*count_fn)(const Ort*, const OrtNode*, size_t*) noexcept nogil
ctypedef OrtStatus* (*values_fn)(const Ort*, const OrtNode*, const OrtValueInfo**,
                                 size_t) noexcept nogil


cdef list _read_values(const Ort* ort, const OrtNode* node, count_fn count, values_fn values,
                       dict known):
    cdef size_t i, number = 0
    cdef const OrtValueInfo** infos
    check(ort, count(ort, node, &number))
    if number == 0:
        return []
    infos = <const OrtValueInfo**>malloc(number * sizeof(void*))
    if infos == NULL:
        raise MemoryError
    try:
        check(ort, values(ort, node, infos, number))
        return [_read_value(ort, infos[i], known) for i in range(number)]
    finally:
        free(infos)


cdef list value_names(const Ort* ort, const OrtNode* node, bint outputs):
    """Return the names of a node's inputs or outputs, None for absent ones."""
    if outputs:
        values = _read_values(ort, node, Node_GetNumOutputs, Node_GetOutputs, {})
    else:
        values = _read_values(ort, node, Node_GetNumInputs, Node_GetInputs, {})
    return [None if value is None else (<Value>value).name for value in values]


cdef set _names_read_below(const Ort* ort, const OrtNode* node, size_t graph_count):
    """Names that the graphs inside a node read, those of the node's own graph among them."""
    cdef const OrtGraph** graphs = <const OrtGraph**>malloc(graph_count * sizeof(void*))
    cdef const char** attributes = <const char**>malloc(graph_count * sizeof(void*))
    cdef size_t i
    names = set()
    try:
        if graphs == NULL or attributes == NULL:
            raise MemoryError
        check(ort, Node_GetSubgraphs(ort, node, graphs, graph_count, attributes))
        for i in range(graph_count):
            names |= _names_read(ort, graphs[i])
    finally:
        free(graphs)
        free(attributes)
    return names


cdef set _names_read(const Ort* ort, const OrtGraph* graph):
    cdef const OrtNode** nodes
    cdef size_t i, number = 0, graph_count = 0
    names = _output_names(ort, graph)
    check(ort, Graph_GetNumNodes(ort, graph, &number))
    nodes = <const OrtNode**>malloc((number + 1) * sizeof(void*))
    if nodes == NULL:
        raise MemoryError
    try:
        check(ort, Graph_GetNodes(ort, graph, nodes, number))
        for i in range(number):
            names.update(value_names(ort, nodes[i], False))
            check(ort, Node_GetNumSubgraphs(ort, nodes[i], &graph_count))
            if graph_count:
                names |= _names_read_below(ort, nodes[i], graph_count)
    finally:
        free(nodes)
    return names


cdef Node _read_node(const Ort* ort, const OrtNode* handle, dict known):
    cdef Node node = Node.__new__(Node)
    cdef const char* text = NULL
    cdef int version = 0
    cdef size_t number = 0
    node.ort = ort
    node.handle = handle
    check(ort, Node_GetName(ort, handle, &text))
    node.name = text.decode()
    check(ort, Node_GetOperatorType(ort, handle, &text))
    node.op_type = text.decode()
    check(ort, Node_GetDomain(ort, handle, &text))
    node.domain = text.decode()
    if node.domain == "ai.onnx":
        node.domain = ""
    check(ort, Node_GetSinceVersion(ort, handle, &version))
    node.since_version = version
    text = NULL
    check(ort, Node_GetEpName(ort, handle, &text))
    node.taken_by = "" if text == NULL else text.decode()
    check(ort, Node_GetNumSubgraphs(ort, handle, &number))
    node.subgraphs = <int>number
    node.read_below = _names_read_below(ort, handle, number) if number else set()
    node.inputs = _read_values(ort, handle, Node_GetNumInputs, Node_GetInputs, known)
    node.outputs = _read_values(ort, handle, Node_GetNumOutputs, Node_GetOutputs, known)
    return node


cdef set _output_names(const Ort* ort, const OrtGraph* handle):
    cdef size_t i, number = 0
    cdef const OrtValueInfo** infos
    cdef const char* name = NULL
    check(ort, Graph_GetNumOutputs(ort, handle, &number))
    names = set()
    infos = <const OrtValueInfo**>malloc((number + 1) * sizeof(void*))
    if infos == NULL:
        raise MemoryError
    try:
        check(ort, Graph_GetOutputs(ort, handle, infos, number))
        for i in range(number):
            check(ort, GetValueInfoName(ort, infos[i], &name))
            names.add(name.decode())
    finally:
        free(infos)
    return names


cdef list _outline(const Ort* ort, const OrtGraph* handle):
    """Return what tells a graph from its siblings: handles are new ones for each call."""
    cdef const OrtNode** nodes
    cdef const char* name = NULL
    cdef const char* op_type = NULL
    cdef size_t i, number = 0
    check(ort, Graph_GetName(ort, handle, &name))
    outline = [name, _output_names(ort, handle)]
    check(ort, Graph_GetNumNodes(ort, handle, &number))
    nodes = <const OrtNode**>malloc((number + 1) * sizeof(void*))
    if nodes == NULL:
        raise MemoryError
    try:
        check(ort, Graph_GetNodes(ort, handle, nodes, number))
        for i in range(number):
            check(ort, Node_GetName(ort, nodes[i], &name))
            check(ort, Node_GetOperatorType(ort, nodes[i], &op_type))
            outline.append((name, op_type))
    finally:
        free(nodes)
    return outline


cdef str _graph_path(const Ort* ort, const OrtGraph* handle):
    """Return "" for the main graph, else "node/attribute" of the node that holds the graph."""
    cdef const OrtNode* parent = NULL
    cdef const char* name = NULL
    cdef const OrtGraph* graphs[16]
    cdef const char* attributes[16]
    cdef size_t i, number = 0
    check(ort, Graph_GetParentNode(ort, handle, &parent))
    if parent == NULL:
        return ""
    check(ort, Node_GetName(ort, parent, &name))
    path = name.decode()
    check(ort, Node_GetNumSubgraphs(ort, parent, &number))
    if number <= 16:
        check(ort, Node_GetSubgraphs(ort, parent, graphs, number, attributes))
        outline = _outline(ort, handle)
        for i in range(number):
            if _outline(ort, graphs[i]) == outline:
                return f"{path}/{attributes[i].decode()}"
    check(ort, Graph_GetName(ort, handle, &name))
    return f"{path}/{name.decode()}"


cdef Graph read_graph(const Ort* ort, const OrtGraph* handle):
    """Read all nodes of a graph with their values."""
    cdef Graph graph = Graph.__new__(Graph)
    cdef size_t i, number = 0
    cdef const OrtNode** handles
    known = {}
    graph.handle = handle
    graph.path = _graph_path(ort, handle)
    graph.outputs = _output_names(ort, handle)
    check(ort, Graph_GetNumNodes(ort, handle, &number))
    handles = <const OrtNode**>malloc((number + 1) * sizeof(void*))
    if handles == NULL:
        raise MemoryError
    try:
        check(ort, Graph_GetNodes(ort, handle, handles, number))
        graph.nodes = [_read_node(ort, handles[i], known) for i in range(number)]
    finally:
        free(handles)
    return graph
