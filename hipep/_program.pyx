"""A compiled group: its nodes lowered, its constants on the device, its values' lifetimes known."""
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, strdup

from hipep._graph cimport Graph, Node, Value
from hipep._kernels cimport *
from hipep._lowering cimport ROW_SHAPE_ONLY, ROW_VIEW, find_row

import threading

cdef enum:
    HOST_CONSTANT_BYTES = 8192  # constants up to this size may decide shapes

cdef int64_t _next_uid = 1
_uid_lock = threading.Lock()


cdef void* _array(size_t count, size_t size) except NULL:
    cdef void* memory = calloc(count + 1, size)
    if memory == NULL:
        raise MemoryError
    return memory


cdef int _index_values(Graph graph, list input_names, dict index, list values) except -1:
    """Number every value of the group: inputs first, then constants and outputs as they occur."""
    cdef Node node
    cdef Value value
    inputs = {name for name in input_names if name is not None}
    for node in graph.nodes:
        for value in node.inputs + node.outputs:
            if value is not None and value.name not in index:
                index[value.name] = len(values)
                values.append(value)
    for name in inputs:
        if name not in index:
            continue
        value = values[index[name]]
        value.is_constant = False  # it is fed after all
    return 0


cdef int _upload_constant(Program* program, ProgramValue* slot, Value value,
                          hipep_stream* stream) except -1:
    cdef void* memory = NULL
    cdef int32_t i
    cdef size_t size = <size_t>value.data_bytes
    slot.constant.dtype = value.dtype
    slot.constant.rank = value.rank
    for i in range(value.rank):
        slot.constant.dims[i] = value.dims[i]
    if size <= HOST_CONSTANT_BYTES:
        slot.host_data = <const uint8_t*>malloc(size + 1)
        if slot.host_data == NULL:
            raise MemoryError
        if size:  # no data may be NULL
            memcpy(<void*>slot.host_data, value.data, size)
    if hipep_allocate(program.device, size, HIPEP_KIND_DEVICE, stream, &memory) != HIPEP_OK:
        raise MemoryError(f"constant '{value.name}': {hipep_last_error().decode()}")
    slot.device_data = memory
    if hipep_copy_async(stream, memory, value.data, size, HIPEP_COPY_PLAIN) != HIPEP_OK:
        raise RuntimeError(f"constant '{value.name}': {hipep_last_error().decode()}")
    return 0


cdef int _lower_node(Program* program, int32_t position, Node node, dict index,
                     int32_t* links) except -1:
    cdef ProgramNode* lowered = &program.nodes[position]
    cdef Value value
    cdef int32_t i
    name = (node.name or node.op_type).encode()
    lowered.name = strdup(name)
    lowered.row = find_row(node)
    if lowered.row == NULL:
        raise RuntimeError(f"{node.op_type} '{node.name}' was grouped but no row claims it")
    lowered.input_count = <int32_t>len(node.inputs)
    lowered.output_count = <int32_t>len(node.outputs)
    lowered.inputs = links
    lowered.outputs = links + lowered.input_count
    for i, value in enumerate(node.inputs):
        lowered.inputs[i] = -1 if value is None else index[value.name]
    for i, value in enumerate(node.outputs):
        lowered.outputs[i] = -1 if value is None else index[value.name]
    lowered.params = _array(lowered.row.params_bytes + 1, 1)
    if lowered.row.lower != NULL:
        lowered.row.lower(node, lowered.params)
    return lowered.input_count + lowered.output_count


cdef void _find_roots(Program* program) noexcept nogil:
    """A view may share the bytes of its input: give both one root."""
    cdef int32_t n, source, view
    cdef ProgramNode* node
    for n in range(program.node_count):
        node = &program.nodes[n]
        if not node.row.flags & ROW_VIEW:
            continue
        source = node.inputs[0]
        view = node.outputs[0]
        if source >= 0 and view >= 0:
            program.values[view].root = program.values[source].root


cdef void _find_last_uses(Program* program) noexcept nogil:
    cdef int32_t n, i, v
    cdef ProgramNode* node
    for n in range(program.node_count):
        node = &program.nodes[n]
        for i in range(node.output_count):
            v = node.outputs[i]
            if v >= 0:
                program.values[program.values[v].root].last_use = n
        for i in range(node.input_count):
            v = node.inputs[i]
            if v >= 0:
                program.values[program.values[v].root].last_use = n


cdef int _list_dying(Program* program) except -1:
    cdef int32_t n, v, count = 0
    program.dying = <int32_t*>_array(program.value_count, sizeof(int32_t))
    by_node = [[] for _ in range(program.node_count)]
    for v in range(program.value_count):
        if program.values[v].kind == VALUE_LOCAL and program.values[v].root == v:
            by_node[program.values[v].last_use].append(v)
    for n in range(program.node_count):
        program.nodes[n].dying_begin = count
        for v in by_node[n]:
            program.dying[count] = v
            count += 1
        program.nodes[n].dying_end = count
    return 0


cdef void _find_targets(Program* program) noexcept nogil:
    """Let a value that only reaches an output through views be written into that output."""
    cdef int32_t o, v, root
    for o in range(program.output_count):
        v = program.outputs[o]
        if v < 0 or program.values[v].kind != VALUE_LOCAL:
            continue
        root = program.values[v].root
        if program.values[root].kind != VALUE_LOCAL or program.values[root].target >= 0:
            continue
        if root == v or program.values[root].output < 0:
            program.values[root].target = o


cdef inline bint _is_index(int32_t dtype) noexcept nogil:
    """Whether shape arithmetic is done in this type; others are computed on the device."""
    return dtype == HIPEP_INT32 or dtype == HIPEP_INT64


cdef void _find_host_values(Program* program) noexcept nogil:
    """Mark the values that decide shapes, and what they are computed from on the host."""
    cdef int32_t n, i, v
    cdef bint wanted
    cdef ProgramNode* node
    for n in range(program.node_count - 1, -1, -1):
        node = &program.nodes[n]
        wanted = False
        if node.row.evaluate != NULL and not node.row.flags & ROW_SHAPE_ONLY:
            for i in range(node.output_count):
                v = node.outputs[i]
                if v >= 0 and program.values[v].wanted_on_host:
                    wanted = True
        for i in range(node.input_count):
            v = node.inputs[i]
            if v >= 0 and (i < 32 and (node.row.host_inputs >> i) & 1 or (
                    wanted and _is_index(program.values[v].dtype))):
                program.values[v].wanted_on_host = True


cdef int _bind_names(Program* program, list names, dict index, bint outputs) except -1:
    cdef int32_t i, v
    cdef int32_t* slots = program.outputs if outputs else program.inputs
    for i, name in enumerate(names):
        v = index.get(name, -1)
        slots[i] = v
        if v < 0:
            continue
        if outputs:
            encoded = name.encode()
            program.output_names[i] = strdup(encoded)
            program.values[v].output = i
        else:
            program.values[v].input = i
            program.values[v].kind = VALUE_INPUT
    return 0


cdef Program* compile_program(
        Graph graph, list input_names, list output_names, hipep_device* device,
        hipep_stream* stream, const PlanLimits* limits) except NULL:
    """Lower a group. Inputs and outputs are matched by name: onnxruntime may drop and move them."""
    global _next_uid
    cdef Program* program = <Program*>_array(1, sizeof(Program))
    cdef ProgramValue* slot
    cdef Value value
    cdef Node node
    cdef int32_t i, link_count = 0
    index = {}
    values = []
    try:
        with _uid_lock:
            program.uid = _next_uid
            _next_uid += 1
        program.device = device
        program.limits = limits
        _index_values(graph, input_names, index, values)
        program.value_count = <int32_t>len(values)
        program.node_count = <int32_t>len(graph.nodes)
        program.input_count = <int32_t>len(input_names)
        program.output_count = <int32_t>len(output_names)
        program.values = <ProgramValue*>_array(len(values), sizeof(ProgramValue))
        program.nodes = <ProgramNode*>_array(len(graph.nodes), sizeof(ProgramNode))
        program.inputs = <int32_t*>_array(len(input_names), sizeof(int32_t))
        program.outputs = <int32_t*>_array(len(output_names), sizeof(int32_t))
        program.output_names = <const char**>_array(len(output_names), sizeof(void*))
        for node in graph.nodes:
            link_count += <int32_t>(len(node.inputs) + len(node.outputs))
        program.links = <int32_t*>_array(link_count, sizeof(int32_t))
        for i, value in enumerate(values):
            slot = &program.values[i]
            slot.kind = VALUE_CONSTANT if value.is_constant else VALUE_LOCAL
            slot.dtype = value.dtype
            slot.input = slot.output = slot.target = -1
            slot.root = i
        _bind_names(program, input_names, index, False)
        _bind_names(program, output_names, index, True)
        for i, value in enumerate(values):
            if program.values[i].kind == VALUE_CONSTANT:
                _upload_constant(program, &program.values[i], value, stream)
        link_count = 0
        for i, node in enumerate(graph.nodes):
            link_count += _lower_node(program, i, node, index, program.links + link_count)
        _find_roots(program)
        _find_last_uses(program)
        _find_targets(program)
        _find_host_values(program)
        _list_dying(program)
        if hipep_stream_synchronize(stream) != HIPEP_OK:
            raise RuntimeError(hipep_last_error().decode())
        return program
    except BaseException:
        free_program(program)
        raise


cdef void free_program(Program* program) noexcept nogil:
    cdef int32_t i
    if program == NULL:
        return
    if program.values != NULL:
        for i in range(program.value_count):
            free(<void*>program.values[i].host_data)
            hipep_release(program.device, program.values[i].device_data, HIPEP_KIND_DEVICE)
    if program.nodes != NULL:
        for i in range(program.node_count):
            free(program.nodes[i].params)
            free(<void*>program.nodes[i].name)
    if program.output_names != NULL:
        for i in range(program.output_count):
            free(<void*>program.output_names[i])
    free(program.values)
    free(program.nodes)
    free(program.output_names)
    free(program.inputs)
    free(program.outputs)
    free(program.dying)
    free(program.links)
    free(program)
