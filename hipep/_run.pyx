"""One run of a group: find or build its plan, bind pointers, start the launches."""
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t, uintptr_t
from libc.stdio cimport fprintf, stderr
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcpy

from hipep._kernels cimport *
from hipep._plan cimport MAX_SEGMENTS, build_entry
from hipep._plan_cache cimport Cache, Entry, OutputShape, find_entry, hash_bytes
from hipep._replay cimport (
    find_graph, keep_graph, met_again, new_recordings, refuse_graphs)
from hipep._session cimport current_run
from hipep._stream cimport (
    find_note, forget_notes, stream_arena, stream_cache, stream_wait)

cdef enum:
    ALIGNMENT = 16  # what wide kernels may expect of inputs and outputs
    HOST_INPUT_BYTES = 512  # inputs up to this size may decide shapes without a readback


cdef hipep_status reserve_inputs(StreamState* state, int32_t count) noexcept nogil:
    if count <= state.input_capacity:
        return HIPEP_OK
    free(state.inputs)
    free(state.host_inputs)
    free(state.input_data)
    state.inputs = <hipep_tensor*>malloc(count * sizeof(hipep_tensor))
    state.host_inputs = <const uint8_t**>malloc(count * sizeof(void*))
    state.input_data = <const void**>malloc(count * sizeof(void*))
    state.input_capacity = 0
    if state.inputs == NULL or state.host_inputs == NULL or state.input_data == NULL:
        return hipep_fail(HIPEP_OUT_OF_MEMORY, "out of host memory for %d inputs", count)
    state.input_capacity = count
    return HIPEP_OK


cdef hipep_status _reserve(StreamState* state, int32_t slots, int64_t key_bytes) noexcept nogil:
    cdef void* grown
    if slots > state.base_count:
        grown = realloc(state.base, slots * sizeof(void*))
        if grown == NULL:
            return hipep_fail(HIPEP_OUT_OF_MEMORY, "out of host memory for a run")
        state.base = <void**>grown
        state.base_count = slots
    if key_bytes > state.key_capacity:
        grown = realloc(state.key, 2 * key_bytes)
        if grown == NULL:
            return hipep_fail(HIPEP_OUT_OF_MEMORY, "out of host memory for a run")
        state.key = <uint8_t*>grown
        state.key_capacity = 2 * key_bytes
    return HIPEP_OK


cdef const uint8_t* _known_on_host(StreamState* state, const void* data,
                                   int64_t size) noexcept nogil:
    """Return the bytes of an input if they can be had without a readback."""
    if size > HOST_INPUT_BYTES:
        return NULL
    if hipep_host_readable(state.device, data) and not state.launched:
        return <const uint8_t*>data
    return find_note(state, data, size, current_run())


cdef hipep_status _make_key(Program* program, StreamState* state, bint aligned,
                            int64_t* key_bytes) noexcept nogil:
    """Key of the first segment: extents of all inputs, values of those that decide shapes."""
    cdef int64_t* key
    cdef int64_t at = 1, size
    cdef int32_t i, d
    cdef hipep_tensor* tensor
    cdef hipep_status status = _reserve(
        state, program.input_count + program.output_count + MAX_SEGMENTS + 1,
        16 + program.input_count * (10 * 8 + HOST_INPUT_BYTES))
    if status != HIPEP_OK:
        return status
    key = <int64_t*>state.key
    key[0] = aligned
    for i in range(program.input_count):
        tensor = &state.inputs[i]
        key[at] = tensor.rank
        at += 1
        for d in range(tensor.rank):
            key[at] = tensor.dims[d]
            at += 1
        state.host_inputs[i] = NULL
        if program.inputs[i] < 0 or not program.values[program.inputs[i]].wanted_on_host:
            continue
        size = hipep_element_count(tensor) * <int64_t>hipep_dtype_size(tensor.dtype)
        state.host_inputs[i] = _known_on_host(state, state.input_data[i], size)
        key[at] = state.host_inputs[i] != NULL
        at += 1
        if state.host_inputs[i] != NULL:
            key[at + size // 8] = 0  # the padding of a partial word
            memcpy(&key[at], state.host_inputs[i], size)
            state.host_inputs[i] = <const uint8_t*>&key[at]
            at += (size + 7) // 8
    key_bytes[0] = at * 8
    return HIPEP_OK


cdef bint _inputs_aligned(Program* program, StreamState* state) noexcept nogil:
    cdef int32_t i
    for i in range(program.input_count):
        if <uintptr_t>state.input_data[i] % ALIGNMENT:
            return False
    return True


cdef hipep_status _bind_outputs(Program* program, StreamState* state, Entry* entry,
                                output_fn output, void* context, bint* aligned) noexcept nogil:
    cdef int32_t i
    cdef OutputShape* shape
    cdef void* memory
    cdef hipep_status status
    cdef int64_t size, d
    for i in range(entry.output_count):
        shape = &entry.outputs[i]
        memory = NULL
        status = output(context, shape.index, shape.dims, shape.rank, &memory)
        if status != HIPEP_OK:
            return status
        if <uintptr_t>memory % ALIGNMENT:
            aligned[0] = False
        size = <int64_t>hipep_dtype_size(shape.dtype)
        for d in range(shape.rank):
            size *= shape.dims[d]
        forget_notes(state, memory, size)
        state.base[program.input_count + shape.index] = hipep_map(state.device, memory)
    return HIPEP_OK


cdef bint _started_as_graph(StreamState* state, Entry* entry) noexcept nogil:
    """Start the segment by one call if its last runs had the same pointers.

    The arguments are patched if False is returned. A driver that fails at it is not asked again.
    """
    cdef hipep_graph* graph = NULL
    if entry.recordings == NULL:
        entry.recordings = new_recordings(entry.patches, entry.patch_count)
    if entry.recordings != NULL and not entry.recordings.refused:
        graph = find_graph(entry.recordings, state.base)
    if graph == NULL:
        _patch(state, entry)
        if entry.recordings == NULL or entry.recordings.refused or not met_again(
                entry.recordings, state.base):
            return False
        if hipep_graph_create(state.stream, entry.launches, entry.launch_count, entry.args,
                              &graph) != HIPEP_OK:
            refuse_graphs(entry.recordings)
            return False
        keep_graph(entry.recordings, graph)
    if hipep_graph_launch(state.stream, graph) == HIPEP_OK:
        return True
    refuse_graphs(entry.recordings)
    _patch(state, entry)
    return False


cdef void _patch(StreamState* state, Entry* entry) noexcept nogil:
    cdef int32_t i
    for i in range(entry.patch_count):
        (<void**>(entry.args + entry.patches[i].at))[0] = (
            <uint8_t*>state.base[entry.patches[i].value] + entry.patches[i].offset)


cdef bint _wants_graph(Program* program, StreamState* state, Entry* entry) noexcept nogil:
    cdef int32_t least = program.limits.graph_launches
    entry.runs += 1
    return (0 < least <= entry.launch_count and entry.runs > 1 and entry.texts == NULL
            and not state.is_inline)


cdef hipep_status _launch(Program* program, StreamState* state, Entry* entry) noexcept nogil:
    if not _wants_graph(program, state, entry):
        _patch(state, entry)
    elif _started_as_graph(state, entry):
        state.launched = state.busy = True
        return HIPEP_OK
    return _launch_each(program, state, entry)


cdef hipep_status _launch_each(Program* program, StreamState* state,
                               Entry* entry) noexcept nogil:
    cdef int32_t i
    cdef hipep_planned_launch* launch
    cdef hipep_status status
    cdef uint8_t* args = entry.args
    for i in range(entry.launch_count):
        launch = &entry.launches[i]
        if entry.texts != NULL:
            fprintf(stderr, b"hipep: %s '%s': %s; %s grid=%u block=%u units=%lld\n",
                    program.nodes[launch.node].row.op_type, program.nodes[launch.node].name,
                    entry.texts + 256 * i, launch.kernel.name, launch.grid, launch.kernel.block,
                    <long long>launch.units)
        status = hipep_launch(
            state.stream, launch.kernel, launch.entry, launch.grid, launch.units,
            launch.unit_cost, args + launch.args_begin, launch.args_bytes)
        if status != HIPEP_OK:
            return status
    if entry.launch_count and not state.is_inline:
        state.launched = state.busy = True
    return HIPEP_OK


cdef hipep_status _read_back(StreamState* state, Entry* entry) noexcept nogil:
    """Bring the value that ended the segment to the host: one ordered copy, one wait."""
    cdef void* memory = NULL
    cdef hipep_status status
    cdef int64_t size = entry.readback_bytes
    if size > state.readback_bytes or state.readback == NULL:
        status = hipep_allocate(
            state.device, 2 * size, HIPEP_KIND_HOST_ACCESSIBLE, state.stream, &memory)
        if status != HIPEP_OK:
            return status
        hipep_release(state.device, state.readback, HIPEP_KIND_HOST_ACCESSIBLE)
        state.readback = <uint8_t*>memory
        state.readback_bytes = 2 * size
    status = hipep_copy_async(
        state.stream, state.readback,
        <uint8_t*>state.base[entry.readback_slot] + entry.readback_offset, size,
        HIPEP_COPY_READBACK)
    if status != HIPEP_OK:
        return status
    return stream_wait(state)


cdef hipep_status _next_segment(Program* program, StreamState* state, Cache* cache, Entry* parent,
                                bint aligned, Entry** entry, int32_t* failed_node) noexcept nogil:
    cdef int64_t size = parent.readback_bytes, key_bytes = 16 + size
    cdef uint64_t hash
    cdef hipep_status status = _reserve(state, 0, key_bytes)
    if status != HIPEP_OK:
        return status
    (<int64_t*>state.key)[0] = -1
    (<uint64_t*>state.key)[1] = parent.uid
    memcpy(state.key + 16, state.readback, size)
    hash = hash_bytes(state.key, key_bytes)
    entry[0] = find_entry(cache, state.key, key_bytes, hash)
    if entry[0] != NULL:
        return HIPEP_OK
    return build_entry(
        state.builder, program, cache, parent, state.key, key_bytes, hash, state.inputs,
        state.host_inputs, state.readback, aligned, entry, failed_node)


cdef hipep_status _first_segment(Program* program, StreamState* state, Cache* cache, bint aligned,
                                 Entry** entry, int32_t* failed_node) noexcept nogil:
    cdef int64_t key_bytes = 0
    cdef uint64_t hash
    cdef hipep_status status = _make_key(program, state, aligned, &key_bytes)
    if status != HIPEP_OK:
        return status
    hash = hash_bytes(state.key, key_bytes)
    entry[0] = find_entry(cache, state.key, key_bytes, hash)
    if entry[0] != NULL:
        return HIPEP_OK
    return build_entry(
        state.builder, program, cache, NULL, state.key, key_bytes, hash, state.inputs,
        state.host_inputs, NULL, aligned, entry, failed_node)


cdef hipep_status _run_from(Program* program, StreamState* state, Cache* cache, bint aligned,
                            output_fn output, void* context, int32_t* failed_node,
                            bint* misaligned) noexcept nogil:
    cdef Entry* entry = NULL
    cdef bint still_aligned = aligned
    cdef int32_t slot
    cdef hipep_status status = _first_segment(
        program, state, cache, aligned, &entry, failed_node)
    while status == HIPEP_OK:
        failed_node[0] = -1
        status = stream_arena(state, entry.depth, entry.arena_bytes)
        if status != HIPEP_OK:
            return status
        slot = program.input_count + program.output_count + entry.depth
        state.base[slot] = hipep_map(state.device, state.arena[entry.depth])
        status = _bind_outputs(program, state, entry, output, context, &still_aligned)
        if status != HIPEP_OK:
            return status
        if aligned and not still_aligned:
            misaligned[0] = True
            return HIPEP_OK
        status = _launch(program, state, entry)
        if status != HIPEP_OK or entry.readback_value < 0:
            return status
        status = _read_back(state, entry)
        if status == HIPEP_OK:
            status = _next_segment(
                program, state, cache, entry, aligned, &entry, failed_node)
    return status


cdef hipep_status run_program(Program* program, StreamState* state, output_fn output,
                              void* context, int32_t* failed_node) noexcept nogil:
    cdef Cache* cache = stream_cache(state, program)
    cdef bint misaligned = False, aligned = _inputs_aligned(program, state)
    cdef int32_t i
    cdef hipep_status status
    failed_node[0] = -1
    if cache == NULL:
        return hipep_fail(HIPEP_OUT_OF_MEMORY, "out of host memory for a run")
    status = _reserve(state, program.input_count + program.output_count + MAX_SEGMENTS + 1, 0)
    if status != HIPEP_OK:
        return status
    state.base[program.input_count + program.output_count + MAX_SEGMENTS] = hipep_map(
        state.device, state.tickets)
    for i in range(program.input_count):
        state.base[i] = hipep_map(state.device, state.input_data[i])
    status = _run_from(
        program, state, cache, aligned, output, context, failed_node, &misaligned)
    if status == HIPEP_OK and misaligned:
        # Once more with plans for narrow access; asking for an output twice gives the same memory.
        misaligned = False
        status = _run_from(
            program, state, cache, False, output, context, failed_node, &misaligned)
    return status
