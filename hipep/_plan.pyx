"""Shape-specialised plans: segments of launches, arena offsets by liveness, host-known values."""
from libc.stddef cimport size_t
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdio cimport snprintf
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcmp, memcpy, memset

from hipep._arena cimport (
    Arena, arena_free, arena_give, arena_reserve, arena_reset, arena_take, arena_take_fresh)
from hipep._kernels cimport *
from hipep._lowering cimport ROW_SHAPE_ONLY
from hipep._program cimport (
    VALUE_CONSTANT, VALUE_INPUT, VALUE_LOCAL, Program, ProgramNode, ProgramValue)

cdef extern from "hipep/movement.h" nogil:
    hipep_status hipep_plan_copy(hipep_emitter*, const hipep_tensor*, const hipep_tensor*)
    hipep_status hipep_plan_store(hipep_emitter*, const void*, size_t, const hipep_tensor*)

cdef enum:
    SLOT_UNSET = -1
    SLOT_CONSTANT = -2
    SLOT_WAITING = -3  # bytes go to an output whose shape is not known yet
    STORE_BYTES = 512  # of one store launch

cdef struct Builder:
    hipep_emitter emitter  # first: the workspace callback gets back to the builder by its address
    Emit emit
    Program* program
    ValueState* states
    int32_t state_capacity
    Arena arena
    int32_t depth
    OutputShape* outputs
    int32_t output_count
    int32_t output_capacity
    uint8_t* host
    int64_t host_used
    int64_t host_capacity
    int32_t workspace_count
    int64_t[16] workspace_offset
    int64_t[16] workspace_bytes
    int32_t needed  # the value that stopped planning
    char* texts
    int32_t text_capacity
    bint aligned


cdef enum:
    HOST_BYTES = 1 << 20  # all host-known values of one segment
    WORKSPACE_VALUE = 1 << 28  # ids of workspaces start here: + arena offset / 256


cdef Builder* new_builder() noexcept nogil:
    cdef Builder* b = <Builder*>calloc(1, sizeof(Builder))
    if b != NULL:
        b.emitter.workspace = _workspace
    return b


cdef void free_builder(Builder* b) noexcept nogil:
    if b == NULL:
        return
    hipep_emitter_free(&b.emitter)
    arena_free(&b.arena)
    free(b.states)
    free(b.outputs)
    free(b.host)
    free(b.texts)
    free(b)


# ---- Storage ----------------------------------------------------------------------------------

cdef int64_t _bytes(const hipep_tensor* tensor) noexcept nogil:
    return hipep_element_count(tensor) * <int64_t>hipep_dtype_size(tensor.dtype)


cdef int32_t _arena_slot(const Builder* b) noexcept nogil:
    return b.program.input_count + b.program.output_count + b.depth


cdef hipep_status _workspace(hipep_emitter* emitter, int64_t size,
                             hipep_tensor* out) noexcept nogil:
    cdef Builder* b = <Builder*>emitter
    cdef int64_t offset
    if b.workspace_count == 16:
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
    state.slot = _arena_slot(b)
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
    return _take_arena(b, value, _bytes(&state.tensor))


cdef void _release_dying(Builder* b, int32_t n) noexcept nogil:
    cdef ProgramNode* node = &b.program.nodes[n]
    cdef ValueState* state
    cdef int32_t i
    for i in range(node.dying_begin, node.dying_end):
        state = &b.states[b.program.dying[i]]
        if state.slot == _arena_slot(b):
            arena_give(&b.arena, state.arena_offset, state.arena_bytes)
    for i in range(b.workspace_count):
        arena_give(&b.arena, b.workspace_offset[i], b.workspace_bytes[i])
    b.workspace_count = 0


cdef hipep_status _store(Builder* b, int32_t value) noexcept nogil:
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
    total = _bytes(&state.tensor)
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
        status = _store(b, value)
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
    size = (_bytes(&state.tensor) + 15) & ~15
    if b.host_used + size > b.host_capacity:
        return NULL
    buffer = b.host + b.host_used
    b.host_used += size
    state.host = buffer
    state.slot = SLOT_UNSET
    return buffer


cdef void describe_inputs(Builder* b, int32_t n, char* text, size_t size) noexcept nogil:
    """Write the types and shapes of a node's inputs, as far as they are known."""
    cdef ProgramNode* node = &b.program.nodes[n]
    cdef const hipep_tensor* tensor
    cdef size_t used = 0
    cdef int32_t i, d
    text[0] = 0
    for i in range(node.input_count):
        if node.inputs[i] < 0 or used + 64 > size:
            continue
        tensor = &b.states[node.inputs[i]].tensor
        used += snprintf(text + used, size - used, "%s%s[", b", " if used else b"",
                         hipep_dtype_name(tensor.dtype))
        for d in range(tensor.rank):
            if used + 32 < size:
                used += snprintf(text + used, size - used, "%s%lld", b"," if d else b"",
                                 <long long>tensor.dims[d])
        used += snprintf(text + used, size - used, "]")


# ---- Building a segment -----------------------------------------------------------------------

cdef bint _evaluates(Builder* b, const ProgramNode* node) noexcept nogil:
    """Whether a node's outputs are to be computed on the host now."""
    cdef int32_t i, v
    if node.row.evaluate == NULL:
        return False
    if node.row.flags & ROW_SHAPE_ONLY:
        return True
    for i in range(node.output_count):
        v = node.outputs[i]
        if v >= 0 and not b.program.values[v].wanted_on_host:
            return False
    for i in range(node.input_count):
        v = node.inputs[i]
        if v >= 0 and b.states[v].host == NULL:
            return False
    return True


cdef hipep_status _plan_node(Builder* b, int32_t n) noexcept nogil:
    cdef ProgramNode* node = &b.program.nodes[n]
    cdef hipep_status status
    cdef int32_t i, v
    b.emit.node = n
    b.emit.params = node.params
    b.emitter.node = n
    b.emitter.description[0] = 0
    if _evaluates(b, node):
        status = node.row.evaluate(&b.emit)
    else:
        status = node.row.emit(&b.emit)
    if status != HIPEP_OK:
        return status
    for i in range(node.output_count):
        v = node.outputs[i]
        if v >= 0 and b.program.values[v].output >= 0 and not b.states[v].stored:
            status = _store(b, v)
            if status != HIPEP_OK:
                return status
    _release_dying(b, n)
    return HIPEP_OK


cdef void _settle_waiting(Builder* b) noexcept nogil:
    """Values that wait for an output whose shape depends on a readback stay in the arena."""
    cdef int32_t v
    cdef ValueState* state
    for v in range(b.program.value_count):
        state = &b.states[v]
        if state.slot == SLOT_WAITING:
            # Written by launches already planned: the holes left since may overlap them in time.
            state.arena_bytes = _bytes(&state.tensor)
            state.arena_offset = arena_take_fresh(&b.arena, state.arena_bytes)
            state.slot = _arena_slot(b)


cdef hipep_status _keep_texts(Builder* b, int32_t first) noexcept nogil:
    cdef int32_t i
    cdef char* grown
    if b.emitter.launch_count > b.text_capacity:
        grown = <char*>realloc(b.texts, 2 * b.emitter.launch_count * 256)
        if grown == NULL:
            return hipep_fail(HIPEP_OUT_OF_MEMORY, "out of host memory while planning")
        b.texts = grown
        b.text_capacity = 2 * b.emitter.launch_count
    for i in range(first, b.emitter.launch_count):
        memcpy(b.texts + i * 256, b.emitter.description, 256)
    return HIPEP_OK


cdef hipep_status _plan_nodes(Builder* b, int32_t* position) noexcept nogil:
    """Plan nodes from position on; HIPEP_NEEDS_HOST leaves it at the node that cannot go on."""
    cdef int32_t launches, patches
    cdef uint32_t args
    cdef hipep_status status
    while position[0] < b.program.node_count:
        launches = b.emitter.launch_count
        patches = b.emitter.patch_count
        args = b.emitter.args_bytes
        status = _plan_node(b, position[0])
        if status == HIPEP_NEEDS_HOST:
            b.emitter.launch_count = launches
            b.emitter.patch_count = patches
            b.emitter.args_bytes = args
            return status
        if status != HIPEP_OK:
            return status
        if b.emitter.debug:
            status = _keep_texts(b, launches)
            if status != HIPEP_OK:
                return status
        position[0] += 1
    return HIPEP_OK


cdef hipep_status _prepare(Builder* b, Program* program, bint aligned) noexcept nogil:
    if program.value_count > b.state_capacity:
        free(b.states)
        b.states = <ValueState*>malloc(program.value_count * sizeof(ValueState))
        b.state_capacity = program.value_count if b.states != NULL else 0
    if b.host == NULL:
        b.host = <uint8_t*>malloc(HOST_BYTES)
        b.host_capacity = HOST_BYTES if b.host != NULL else 0
    if b.states == NULL or b.host == NULL:
        return hipep_fail(HIPEP_OUT_OF_MEMORY, "out of host memory while planning")
    hipep_emitter_reset(&b.emitter)
    arena_reset(&b.arena)
    b.program = program
    b.emitter.device = program.device
    b.emitter.info = hipep_device_get_info(program.device)
    b.emitter.debug = program.limits.debug
    b.emit.emitter = &b.emitter
    b.emit.builder = b
    b.output_count = 0
    b.host_used = 0
    b.workspace_count = 0
    b.needed = -1
    b.aligned = aligned
    return HIPEP_OK


cdef const uint8_t* _keep_host(Builder* b, const uint8_t* data, int64_t size) noexcept nogil:
    cdef uint8_t* kept = b.host + b.host_used
    if data == NULL or b.host_used + size > b.host_capacity:
        return NULL
    memcpy(kept, data, size)
    b.host_used += (size + 15) & ~<int64_t>15
    return kept


cdef void _start(Builder* b, const hipep_tensor* inputs,
                 const uint8_t* const* host_inputs) noexcept nogil:
    cdef int32_t v
    cdef ProgramValue* facts
    cdef ValueState* state
    b.depth = 0
    memset(b.states, 0, b.program.value_count * sizeof(ValueState))
    for v in range(b.program.value_count):
        facts = &b.program.values[v]
        state = &b.states[v]
        state.slot = SLOT_UNSET
        if facts.kind == VALUE_LOCAL:
            continue
        state.tensor = inputs[facts.input] if facts.kind == VALUE_INPUT else facts.constant
        state.tensor.value = v
        state.tensor.offset = 0
        state.shaped = state.stored = True
        if facts.kind == VALUE_INPUT:
            state.slot = facts.input
            state.tensor.alignment = (
                16 if b.aligned else <uint32_t>hipep_dtype_size(state.tensor.dtype))
            state.host = _keep_host(b, host_inputs[facts.input], _bytes(&state.tensor))
        else:
            state.slot = SLOT_CONSTANT
            state.tensor.alignment = 256
            state.host = facts.host_data


cdef hipep_status _resume(Builder* b, const Entry* parent,
                          const uint8_t* readback) noexcept nogil:
    cdef ValueState* state
    b.depth = parent.depth + 1
    if b.depth == MAX_SEGMENTS:
        return hipep_fail(
            HIPEP_UNSUPPORTED, "more than %d values are read back in one run of one group",
            <int>MAX_SEGMENTS - 1)
    memcpy(b.states, parent.states, b.program.value_count * sizeof(ValueState))
    state = &b.states[parent.readback_value]
    memcpy(b.host, readback, parent.readback_bytes)
    state.host = b.host
    b.host_used = (parent.readback_bytes + 15) & ~15
    return HIPEP_OK


cdef hipep_status build_entry(
        Builder* b, Program* program, Cache* cache, const Entry* parent, const uint8_t* key,
        int64_t key_bytes, uint64_t hash, const hipep_tensor* inputs,
        const uint8_t* const* host_inputs, const uint8_t* readback, bint aligned, Entry** out,
        int32_t* failed_node) noexcept nogil:
    """Plan the next segment and put it into the cache, in the place of the least recently used."""
    cdef int32_t position = 0 if parent == NULL else parent.end_node
    cdef hipep_status status = _prepare(b, program, aligned)
    cdef bint reads_back
    if status != HIPEP_OK:
        return status
    if parent == NULL:
        _start(b, inputs, host_inputs)
    else:
        status = _resume(b, parent, readback)
        if status != HIPEP_OK:
            return status
    status = _plan_nodes(b, &position)
    failed_node[0] = position
    reads_back = status == HIPEP_NEEDS_HOST
    if status != HIPEP_OK and not reads_back:
        return status
    _settle_waiting(b)
    hipep_thread_counters().plans_built += 1
    return _keep(b, cache, 0 if parent == NULL else parent.depth + 1, position, reads_back, key,
                 key_bytes, hash, parent, out)


cdef void _resolve_patches(Builder* b, Entry* entry) noexcept nogil:
    """Turn value ids into slots; pointers to constants are written once."""
    cdef int32_t i, kept = 0
    cdef hipep_patch patch
    cdef ValueState* state
    for i in range(b.emitter.patch_count):
        patch = b.emitter.patches[i]
        if patch.value >= WORKSPACE_VALUE:
            patch.offset += <int64_t>(patch.value - WORKSPACE_VALUE) * 256
            patch.value = _arena_slot(b)
        else:
            state = &b.states[patch.value]
            if state.slot == SLOT_CONSTANT:
                (<void**>(entry.args + patch.at))[0] = <uint8_t*>hipep_map(
                    b.program.device, b.program.values[patch.value].device_data) + patch.offset
                continue
            patch.offset += state.arena_offset
            patch.value = state.slot
        entry.patches[kept] = patch
        kept += 1
    entry.patch_count = kept


cdef int64_t _place(int64_t* used, int64_t size) noexcept nogil:
    cdef int64_t at = used[0]
    used[0] = (at + size + 15) & ~15
    return at


cdef hipep_status _keep(Builder* b, Cache* cache, int32_t depth, int32_t end_node, bint reads_back,
                        const uint8_t* key, int64_t key_bytes, uint64_t hash, const Entry* parent,
                        Entry** out) noexcept nogil:
    cdef int64_t used = 0
    cdef int64_t states_bytes = b.program.value_count * sizeof(ValueState) if reads_back else 0
    cdef int64_t text_bytes = b.emitter.launch_count * 256 if b.emitter.debug else 0
    cdef int64_t at_key = _place(&used, key_bytes)
    cdef int64_t at_launches = _place(
        &used, b.emitter.launch_count * sizeof(hipep_planned_launch))
    cdef int64_t at_args = _place(&used, b.emitter.args_bytes)
    cdef int64_t at_patches = _place(&used, b.emitter.patch_count * sizeof(hipep_patch))
    cdef int64_t at_outputs = _place(&used, b.output_count * sizeof(OutputShape))
    cdef int64_t at_states = _place(&used, states_bytes)
    cdef int64_t at_host = _place(&used, b.host_used if reads_back else 0)
    cdef int64_t at_texts = _place(&used, text_bytes)
    cdef Entry* entry = _take_entry(cache, b.program, used, parent)
    cdef uint8_t* memory
    if entry == NULL:
        return hipep_fail(HIPEP_OUT_OF_MEMORY, "out of host memory while planning")
    memory = entry.memory
    entry.uid = cache.next_uid
    cache.next_uid += 1
    entry.hash = hash
    entry.depth = depth
    entry.end_node = end_node
    entry.key = memory + at_key
    entry.key_bytes = key_bytes
    memcpy(entry.key, key, key_bytes)
    entry.launches = <hipep_planned_launch*>(memory + at_launches)
    entry.launch_count = b.emitter.launch_count
    memcpy(entry.launches, b.emitter.launches,
           b.emitter.launch_count * sizeof(hipep_planned_launch))
    entry.args = memory + at_args
    entry.args_bytes = b.emitter.args_bytes
    memcpy(entry.args, b.emitter.args, b.emitter.args_bytes)
    entry.patches = <hipep_patch*>(memory + at_patches)
    entry.outputs = <OutputShape*>(memory + at_outputs)
    entry.output_count = b.output_count
    memcpy(entry.outputs, b.outputs, b.output_count * sizeof(OutputShape))
    entry.arena_bytes = arena_reserve(&b.arena)
    entry.texts = <char*>(memory + at_texts) if text_bytes else NULL
    if text_bytes:
        memcpy(entry.texts, b.texts, text_bytes)
    _resolve_patches(b, entry)
    _keep_readback(b, entry, reads_back, memory + at_states, memory + at_host)
    entry.used = cache.clock
    out[0] = entry
    return HIPEP_OK


cdef void _keep_readback(Builder* b, Entry* entry, bint reads_back, uint8_t* states,
                         uint8_t* host) noexcept nogil:
    cdef int32_t v
    cdef ValueState* root
    cdef hipep_tensor* tensor
    entry.readback_value = -1
    if not reads_back:
        return
    tensor = &b.states[b.needed].tensor
    root = &b.states[tensor.value]
    entry.readback_value = b.needed
    entry.readback_slot = root.slot
    entry.readback_offset = root.arena_offset + tensor.offset
    entry.readback_bytes = _bytes(tensor)
    entry.states = <ValueState*>states
    memcpy(states, b.states, b.program.value_count * sizeof(ValueState))
    memcpy(host, b.host, b.host_used)
    for v in range(b.program.value_count):
        if b.host <= entry.states[v].host < b.host + b.host_used:
            entry.states[v].host = host + (entry.states[v].host - b.host)


# ---- The cache --------------------------------------------------------------------------------

cdef uint64_t hash_bytes(const uint8_t* bytes, int64_t count) noexcept nogil:
    cdef uint64_t h = 0x9E3779B97F4A7C15, word
    cdef int64_t i = 0
    while i + 8 <= count:
        memcpy(&word, bytes + i, 8)
        h = (h ^ word) * <uint64_t>0xFF51AFD7ED558CCD
        h ^= h >> 32
        i += 8
    while i < count:
        h = (h ^ bytes[i]) * <uint64_t>0xFF51AFD7ED558CCD
        i += 1
    return h ^ (h >> 29)


cdef Entry* find_entry(Cache* cache, const uint8_t* key, int64_t key_bytes,
                       uint64_t hash) noexcept nogil:
    cdef int32_t i
    cdef Entry* entry
    cache.clock += 1
    for i in range(cache.count):
        entry = cache.entries[i]
        if (entry.hash == hash and entry.key_bytes == key_bytes
                and memcmp(entry.key, key, key_bytes) == 0):
            entry.used = cache.clock
            hipep_thread_counters().plan_hits += 1
            return entry
    return NULL


cdef void _drop_entry(Cache* cache, int32_t at) noexcept nogil:
    cdef Entry* entry = cache.entries[at]
    cache.bytes -= entry.capacity
    free(entry.memory)
    free(entry)
    cache.count -= 1
    cache.entries[at] = cache.entries[cache.count]


cdef int32_t _oldest(Cache* cache, const Entry* keep) noexcept nogil:
    cdef int32_t i, oldest = -1
    for i in range(cache.count):
        if cache.entries[i] != keep and (
                oldest < 0 or cache.entries[i].used < cache.entries[oldest].used):
            oldest = i
    return oldest


cdef Entry* _take_entry(Cache* cache, Program* program, int64_t size,
                        const Entry* keep) noexcept nogil:
    """Return an entry with room for size bytes: the oldest one's when the cache is full."""
    cdef int32_t at
    cdef Entry* entry = NULL
    cdef Entry** grown
    cdef uint8_t* memory
    while cache.count and cache.bytes + size > program.limits.bytes:
        at = _oldest(cache, keep)
        if at < 0:
            break
        _drop_entry(cache, at)
    if cache.count >= program.limits.entries:
        at = _oldest(cache, keep)
        if at >= 0:
            entry = cache.entries[at]
    if entry == NULL:
        if cache.count == cache.capacity:
            grown = <Entry**>realloc(cache.entries, (2 * cache.capacity + 4) * sizeof(Entry*))
            if grown == NULL:
                return NULL
            cache.entries = grown
            cache.capacity = 2 * cache.capacity + 4
        entry = <Entry*>calloc(1, sizeof(Entry))
        if entry == NULL:
            return NULL
        cache.entries[cache.count] = entry
        cache.count += 1
    entry.key_bytes = -1  # matches nothing until it is filled
    if entry.capacity < size:
        memory = <uint8_t*>realloc(entry.memory, size)
        if memory == NULL:
            return NULL
        cache.bytes += size - entry.capacity
        entry.memory = memory
        entry.capacity = size
    return entry


cdef void free_cache(Cache* cache) noexcept nogil:
    if cache == NULL:
        return
    while cache.count:
        _drop_entry(cache, cache.count - 1)
    free(cache.entries)
    free(cache)
