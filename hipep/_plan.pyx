"""Shape-specialised plans: segments of launches, arena offsets by liveness, host-known values."""
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcpy, memset

from hipep._arena cimport arena_free, arena_give, arena_reserve, arena_reset, arena_take_fresh
from hipep._emit cimport arena_slot, store_host_value, take_workspace, tensor_bytes
from hipep._kernels cimport *
from hipep._lowering cimport ROW_SHAPE_ONLY
from hipep._plan_cache cimport take_entry
from hipep._program cimport VALUE_INPUT, VALUE_LOCAL, ProgramNode, ProgramValue

cdef enum:
    HOST_BYTES = 1 << 20  # all host-known values of one segment


cdef Builder* new_builder() noexcept nogil:
    cdef Builder* b = <Builder*>calloc(1, sizeof(Builder))
    if b != NULL:
        b.emitter.workspace = take_workspace
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


cdef void _release_dying(Builder* b, int32_t n) noexcept nogil:
    cdef ProgramNode* node = &b.program.nodes[n]
    cdef ValueState* state
    cdef int32_t i
    for i in range(node.dying_begin, node.dying_end):
        state = &b.states[b.program.dying[i]]
        if state.slot == arena_slot(b):
            arena_give(&b.arena, state.arena_offset, state.arena_bytes)
    for i in range(b.workspace_count):
        arena_give(&b.arena, b.workspace_offset[i], b.workspace_bytes[i])
    b.workspace_count = 0


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
            status = store_host_value(b, v)
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
            state.arena_bytes = tensor_bytes(&state.tensor)
            state.arena_offset = arena_take_fresh(&b.arena, state.arena_bytes)
            state.slot = arena_slot(b)


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
            state.host = _keep_host(b, host_inputs[facts.input], tensor_bytes(&state.tensor))
        else:
            state.slot = SLOT_CONSTANT
            state.tensor.alignment = 256
            state.host = facts.host_data


cdef void _move_host_values(ValueState* states, int32_t count, const uint8_t* old, int64_t size,
                            const uint8_t* new) noexcept nogil:
    """Let states that pointed into one block of host-known values point into its copy."""
    cdef int32_t v
    for v in range(count):
        if old <= states[v].host < old + size:
            states[v].host = new + (states[v].host - old)


cdef hipep_status _resume(Builder* b, const Entry* parent,
                          const uint8_t* readback) noexcept nogil:
    cdef ValueState* state
    b.depth = parent.depth + 1
    if b.depth == MAX_SEGMENTS:
        return hipep_fail(
            HIPEP_UNSUPPORTED, "more than %d values are read back in one run of one group",
            <int>MAX_SEGMENTS - 1)
    memcpy(b.states, parent.states, b.program.value_count * sizeof(ValueState))
    memcpy(b.host, parent.host, parent.host_used)
    _move_host_values(b.states, b.program.value_count, parent.host, parent.host_used, b.host)
    b.host_used = parent.host_used
    state = &b.states[parent.readback_value]
    state.host = _keep_host(b, readback, parent.readback_bytes)
    if state.host == NULL:
        return hipep_fail(
            HIPEP_UNSUPPORTED, "%lld bytes decide shapes; %d are handled",
            <long long>(b.host_used + parent.readback_bytes), <int>HOST_BYTES)
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
        if patch.value == HIPEP_TICKETS_VALUE:
            patch.value = b.program.input_count + b.program.output_count + MAX_SEGMENTS
        elif patch.value >= WORKSPACE_VALUE:
            patch.offset += <int64_t>(patch.value - WORKSPACE_VALUE) * 256
            patch.value = arena_slot(b)
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


cdef inline void _copy(void* to, const void* source, int64_t size) noexcept nogil:
    if size:  # an array of nothing may be NULL
        memcpy(to, source, size)


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
    cdef Entry* entry = take_entry(cache, b.program, used, parent)
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
    _copy(entry.launches, b.emitter.launches,
          b.emitter.launch_count * sizeof(hipep_planned_launch))
    entry.args = memory + at_args
    entry.args_bytes = b.emitter.args_bytes
    _copy(entry.args, b.emitter.args, b.emitter.args_bytes)
    entry.patches = <hipep_patch*>(memory + at_patches)
    entry.outputs = <OutputShape*>(memory + at_outputs)
    entry.output_count = b.output_count
    _copy(entry.outputs, b.outputs, b.output_count * sizeof(OutputShape))
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
    entry.readback_bytes = tensor_bytes(tensor)
    entry.states = <ValueState*>states
    memcpy(states, b.states, b.program.value_count * sizeof(ValueState))
    memcpy(host, b.host, b.host_used)
    entry.host = host
    entry.host_used = b.host_used
    _move_host_values(entry.states, b.program.value_count, b.host, b.host_used, host)
