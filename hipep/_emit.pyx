"""What rows call while a segment is planned: shapes, storage, host-known values."""
from libc.stddef cimport size_t
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t
from libc.stdio cimport snprintf
from libc.stdlib cimport realloc
from libc.string cimport memcpy, memset

from hipep._arena cimport arena_take
from hipep._kernels cimport *
from hipep._plan cimport (
    MAX_WORKSPACES, SLOT_UNSET, SLOT_WAITING, WORKSPACE_VALUE, OutputShape, ValueState)
from hipep._program cimport ProgramNode, ProgramValue

cdef extern from "hipep/movement.h" nogil:
    hipep_status hipep_plan_copy(hipep_emitter*, const hipep_tensor*, const hipep_tensor*)
    hipep_status hipep_plan_store(hipep_emitter*, const void*, size_t, const hipep_tensor*)

cdef enum:
    STORE_BYTES = 512  # of one store launch


cdef int64_t tensor_bytes(const hipep_tensor* tensor) noexcept nogil:
    return hipep_element_count(tensor) * <int64_t>hipep_dtype_size(tensor.dtype)


cdef int32_t arena_slot(const Builder* b) noexcept nogil:
    return b.program.input_count + b.program.output_count + b.depth


cdef hipep_status take_workspace(hipep_emitter* emitter, int64_t size,
                             hipep_tensor* out) noexcept nogil:
    cdef Builder* b = <Builder*>emitter
    cdef int64_t offset
    if b.workspace_count == MAX_WORKSPACES:
        return hipep_fail(HIPEP_INTERNAL, "a node asked for more than 16 workspaces")
    offset = arena_take(&b.arena, size)
    if offset < 0:
        return hipep_fail(HIPEP_OUT_OF_MEMORY, "out of host memory while planning")
    b.workspace_offset[b.workspace_count] = offset
    b.workspace_bytes[b.workspace_count] = size
    b.workspace_count += 1
    memset(out, 0, sizeof(hipep_tensor))
    out.dtype = HIPEP_UINT8
    out.rank = 1
    out.dims[0] = size
    out.value = WORKSPACE_VALUE + <int32_t>(offset // 256)
    out.alignment = 256
    return HIPEP_OK


cdef hipep_status _declare_output(Builder* b, int32_t index,
                                  const hipep_tensor* shape) noexcept nogil:
    cdef OutputShape* grown
    cdef OutputShape* output
    if b.output_count == b.output_capacity:
        grown = <OutputShape*>realloc(
            b.outputs, (2 * b.output_capacity + 8) * sizeof(OutputShape))
        if grown == NULL:
            return hipep_fail(HIPEP_OUT_OF_MEMORY, "out of host memory while planning")
        b.outputs = grown
        b.output_capacity = 2 * b.output_capacity + 8
    output = &b.outputs[b.output_count]
    b.output_count += 1
    output.index = index
    output.dtype = shape.dtype
    output.rank = shape.rank
    memcpy(output.dims, shape.dims, sizeof(output.dims))
    return HIPEP_OK


cdef hipep_status _take_arena(Builder* b, int32_t value, int64_t size) noexcept nogil:
    cdef ValueState* state = &b.states[value]
    state.arena_offset = arena_take(&b.arena, size)
    if state.arena_offset < 0:
        return hipep_fail(HIPEP_OUT_OF_MEMORY, "out of host memory while planning")
    state.arena_bytes = size
    state.slot = arena_slot(b)
    state.tensor.alignment = 256
    return HIPEP_OK


cdef hipep_status _give_storage(Builder* b, int32_t value) noexcept nogil:
    """Decide where the bytes of a value that owns them go: an output, or the arena."""
    cdef ValueState* state = &b.states[value]
    cdef ProgramValue* facts = &b.program.values[value]
    state.tensor.value = value
    state.tensor.offset = 0
    state.tensor.alignment = 16 if b.aligned else <uint32_t>hipep_dtype_size(state.tensor.dtype)
    if facts.output >= 0:
        state.slot = b.program.input_count + facts.output
        return _declare_output(b, facts.output, &state.tensor)
    if facts.target >= 0:
        state.slot = SLOT_WAITING
        state.waiting = facts.target
        return HIPEP_OK
    return _take_arena(b, value, tensor_bytes(&state.tensor))


cdef hipep_status store_host_value(Builder* b, int32_t value) noexcept nogil:
    """Write a host-known value to the device, by value in launch arguments."""
    cdef ValueState* state = &b.states[value]
    cdef hipep_tensor part
    cdef hipep_status status
    cdef int64_t done = 0, total, step
    if state.slot == SLOT_UNSET:
        status = _give_storage(b, value)
        if status != HIPEP_OK:
            return status
    state.stored = True
    part = state.tensor
    total = tensor_bytes(&state.tensor)
    part.dtype = HIPEP_UINT8
    part.rank = 1
    while done < total:
        step = min(total - done, <int64_t>STORE_BYTES)
        part.dims[0] = step
        part.offset = state.tensor.offset + done
        status = hipep_plan_store(&b.emitter, state.host + done, step, &part)
        if status != HIPEP_OK:
            return status
        done += step
    return HIPEP_OK


# ---- What rows call ---------------------------------------------------------------------------

cdef inline int32_t _input_value(Emit* e, int index) noexcept nogil:
    cdef Builder* b = <Builder*>e.builder
    cdef ProgramNode* node = &b.program.nodes[e.node]
    return node.inputs[index] if index < node.input_count else -1


cdef inline int32_t _output_value(Emit* e, int index) noexcept nogil:
    cdef Builder* b = <Builder*>e.builder
    cdef ProgramNode* node = &b.program.nodes[e.node]
    return node.outputs[index] if index < node.output_count else -1


cdef const hipep_tensor* input_shape(Emit* e, int index) noexcept nogil:
    cdef int32_t value = _input_value(e, index)
    return &(<Builder*>e.builder).states[value].tensor if value >= 0 else NULL


cdef hipep_status input_tensor(Emit* e, int index, hipep_tensor* out) noexcept nogil:
    cdef Builder* b = <Builder*>e.builder
    cdef int32_t value = _input_value(e, index)
    cdef hipep_status status
    if value < 0:
        memset(out, 0, sizeof(hipep_tensor))
        out.value = -1
        return HIPEP_OK
    if not b.states[value].stored:
        status = store_host_value(b, value)
        if status != HIPEP_OK:
            return status
    out[0] = b.states[value].tensor
    return HIPEP_OK


cdef const void* host_value(Emit* e, int index) noexcept nogil:
    cdef int32_t value = _input_value(e, index)
    return (<Builder*>e.builder).states[value].host if value >= 0 else NULL


cdef hipep_status need_host(Emit* e, int index) noexcept nogil:
    (<Builder*>e.builder).needed = _input_value(e, index)
    return HIPEP_NEEDS_HOST


cdef bint output_wanted(Emit* e, int index) noexcept nogil:
    return _output_value(e, index) >= 0


cdef void _shape(ValueState* state, int32_t value, int32_t dtype, int32_t rank,
                 const int64_t* dims) noexcept nogil:
    memset(&state.tensor, 0, sizeof(hipep_tensor))
    state.tensor.dtype = dtype
    state.tensor.rank = rank
    if rank > 0:
        memcpy(state.tensor.dims, dims, rank * sizeof(int64_t))
    state.tensor.value = value
    state.shaped = True


cdef hipep_status output_tensor(Emit* e, int index, int32_t dtype, int32_t rank,
                                const int64_t* dims, hipep_tensor* out) noexcept nogil:
    cdef Builder* b = <Builder*>e.builder
    cdef int32_t value = _output_value(e, index)
    cdef ValueState* state
    cdef hipep_status status
    if value < 0:
        memset(out, 0, sizeof(hipep_tensor))
        out.value = -1
        return HIPEP_OK
    state = &b.states[value]
    _shape(state, value, dtype, rank, dims)
    status = _give_storage(b, value)
    state.stored = True
    out[0] = state.tensor
    return status


cdef hipep_status output_view(Emit* e, int32_t rank, const int64_t* dims) noexcept nogil:
    cdef Builder* b = <Builder*>e.builder
    cdef int32_t source = _input_value(e, 0), value = _output_value(e, 0)
    cdef ValueState* state
    cdef ValueState* root
    cdef int32_t output
    cdef hipep_tensor target
    cdef hipep_tensor x
    cdef hipep_status status
    if value < 0:
        return HIPEP_OK
    state = &b.states[value]
    _shape(state, value, b.states[source].tensor.dtype, rank, dims)
    state.host = b.states[source].host
    output = b.program.values[value].output
    if not b.states[source].stored:  # known on the host only: stored when somebody reads it
        return HIPEP_OK
    x = b.states[source].tensor
    root = &b.states[x.value]
    if output >= 0 and root.slot == SLOT_WAITING and root.waiting == output:
        root.slot = b.program.input_count + output
        status = _declare_output(b, output, &state.tensor)
    elif output >= 0:
        state.tensor.alignment = 16 if b.aligned else 1
        state.slot = b.program.input_count + output
        status = _declare_output(b, output, &state.tensor)
        state.stored = True
        if status != HIPEP_OK:
            return status
        target = state.tensor
        x.rank = rank
        memcpy(x.dims, target.dims, sizeof(target.dims))
        return hipep_plan_copy(&b.emitter, &x, &target)
    else:
        status = HIPEP_OK
    state.tensor.value = x.value
    state.tensor.offset = x.offset
    state.tensor.alignment = x.alignment
    state.stored = True
    return status


cdef void* output_host(Emit* e, int index, int32_t dtype, int32_t rank,
                       const int64_t* dims) noexcept nogil:
    cdef Builder* b = <Builder*>e.builder
    cdef int32_t value = _output_value(e, index)
    cdef ValueState* state
    cdef uint8_t* buffer
    cdef int64_t size
    if value < 0:
        return NULL
    state = &b.states[value]
    _shape(state, value, dtype, rank, dims)
    size = (tensor_bytes(&state.tensor) + 15) & ~15
    if b.host_used + size > b.host_capacity:
        return NULL
    buffer = b.host + b.host_used
    b.host_used += size
    state.host = buffer
    state.slot = SLOT_UNSET
    return buffer


cdef size_t describe_shape(int32_t dtype, int32_t rank, const int64_t* dims, char* text,
                           size_t size) noexcept nogil:
    """Write "float32[2,3]" into a text of at least 64 bytes; return its length."""
    cdef size_t used = snprintf(text, size, "%s[", hipep_dtype_name(dtype))
    cdef int32_t d
    for d in range(rank):
        if used + 32 < size:
            used += snprintf(text + used, size - used, "%s%lld", b"," if d else b"",
                             <long long>dims[d])
    return used + snprintf(text + used, size - used, "]")


cdef void describe_inputs(Builder* b, int32_t n, char* text, size_t size) noexcept nogil:
    """Write the types and shapes of a node's inputs, as far as they are known."""
    cdef ProgramNode* node = &b.program.nodes[n]
    cdef const hipep_tensor* tensor
    cdef size_t used = 0
    cdef int32_t i
    text[0] = 0
    for i in range(node.input_count):
        if node.inputs[i] < 0 or used + 80 > size:
            continue
        if used:
            used += snprintf(text + used, size - used, ", ")
        tensor = &b.states[node.inputs[i]].tensor
        used += describe_shape(tensor.dtype, tensor.rank, tensor.dims, text + used, size - used)
