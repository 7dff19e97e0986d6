"""The state that one run at a time owns: stream, arenas, plan caches, staging memory, notes."""
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t
from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memcpy

from hipep._kernels cimport *
from hipep._plan cimport free_builder, new_builder
from hipep._plan_cache cimport free_cache

cdef enum:
    STAGING_BYTES = 1 << 16
    STAGED_FETCH_BYTES = 1 << 20  # larger outputs are left to the driver's own staging


cdef uint32_t[HIPEP_TICKET_COUNT] _no_tickets  # zeros


cdef StreamState* new_stream_state(hipep_device* device, void* user_stream) noexcept nogil:
    """Return NULL with the thread's error text set if there is no stream to be had."""
    cdef StreamState* state = <StreamState*>calloc(1, sizeof(StreamState))
    cdef const hipep_device_info* info = hipep_device_get_info(device)
    if state == NULL:
        hipep_fail(HIPEP_OUT_OF_MEMORY, "out of host memory for a stream")
        return NULL
    state.device = device
    state.is_inline = info.warp_size == 1
    state.builder = new_builder()
    if (state.builder == NULL
            or hipep_stream_wrap(device, user_stream, &state.stream) != HIPEP_OK
            or _make_tickets(state) != HIPEP_OK):
        free_stream_state(state)
        return NULL
    return state


cdef hipep_status _make_tickets(StreamState* state) noexcept nogil:
    cdef hipep_status status
    if state.is_inline:
        return HIPEP_OK
    status = hipep_allocate(
        state.device, sizeof(_no_tickets), HIPEP_KIND_DEVICE, state.stream, &state.tickets)
    if status == HIPEP_OK:
        status = hipep_copy_async(
            state.stream, state.tickets, _no_tickets, sizeof(_no_tickets), HIPEP_COPY_PLAIN)
    if status == HIPEP_OK:
        status = hipep_stream_synchronize(state.stream)
    return status


cdef void free_stream_state(StreamState* state) noexcept nogil:
    cdef int32_t i
    if state == NULL:
        return
    hipep_stream_destroy(state.stream)
    for i in range(MAX_SEGMENTS):
        hipep_release(state.device, state.arena[i], HIPEP_KIND_DEVICE)
    for i in range(state.staging_count):
        hipep_release(state.device, state.staging[i].memory, HIPEP_KIND_HOST_ACCESSIBLE)
    hipep_release(state.device, state.readback, HIPEP_KIND_HOST_ACCESSIBLE)
    hipep_release(state.device, state.tickets, HIPEP_KIND_DEVICE)
    for i in range(state.cache_count):
        free_cache(state.caches[i])
    free(state.caches)
    free_builder(state.builder)
    free(state.base)
    free(state.inputs)
    free(state.host_inputs)
    free(state.input_data)
    free(state.key)
    free(state)


cdef hipep_status stream_wait(StreamState* state) noexcept nogil:
    """Wait for everything enqueued, within a run."""
    cdef hipep_status status = hipep_stream_synchronize(state.stream)
    cdef int32_t i
    if status == HIPEP_OK:
        for i in range(state.fetch_count):
            memcpy(state.fetches[i].to, state.fetches[i].source, state.fetches[i].bytes)
    state.fetch_count = 0
    state.launched = False
    state.busy = False
    return status


cdef hipep_status stream_finish(StreamState* state) noexcept nogil:
    """Wait at the end of a run, and leave one block of staging memory that holds the next."""
    cdef hipep_status status = stream_wait(state)
    cdef void* memory = NULL
    cdef int32_t i
    if state.staging_count > 1:
        for i in range(state.staging_count):
            hipep_release(state.device, state.staging[i].memory, HIPEP_KIND_HOST_ACCESSIBLE)
        state.staging_count = 0
        if hipep_allocate(state.device, state.staging_total, HIPEP_KIND_HOST_ACCESSIBLE,
                          state.stream, &memory) == HIPEP_OK:
            state.staging[0].memory = <uint8_t*>memory
            state.staging[0].bytes = state.staging_total
            state.staging_count = 1
    state.staging_used = state.staging_total = 0
    return status


cdef hipep_status _take_staging(StreamState* state, int64_t size, uint8_t** out) noexcept nogil:
    cdef StagingBlock* block
    cdef int64_t wanted
    cdef void* memory = NULL
    cdef hipep_status status
    size = (size + 63) & ~<int64_t>63
    block = &state.staging[state.staging_count - 1] if state.staging_count else NULL
    if block == NULL or state.staging_used + size > block.bytes:
        if state.staging_count == 8:
            status = stream_finish(state)
            if status != HIPEP_OK:
                return status
            return _take_staging(state, size, out)
        wanted = max(size, STAGING_BYTES if block == NULL else block.bytes + block.bytes // 2)
        status = hipep_allocate(
            state.device, wanted, HIPEP_KIND_HOST_ACCESSIBLE, state.stream, &memory)
        if status != HIPEP_OK:
            return status
        block = &state.staging[state.staging_count]
        block.memory = <uint8_t*>memory
        block.bytes = wanted
        state.staging_count += 1
        state.staging_used = 0
    out[0] = block.memory + state.staging_used
    state.staging_used += size
    state.staging_total += size
    return HIPEP_OK


cdef hipep_status stream_feed(StreamState* state, void* to, const void* source, int64_t size,
                              int32_t counted_as) noexcept nogil:
    cdef uint8_t* staged = NULL
    cdef hipep_status status
    if state.is_inline or size == 0:
        return hipep_copy_async(state.stream, to, source, size, counted_as)
    if not state.busy and hipep_host_readable(state.device, to):  # mapped, and nobody uses it
        memcpy(to, source, size)
        hipep_thread_counters().h2d_copies += 1
        hipep_thread_counters().h2d_bytes += size
        return HIPEP_OK
    status = _take_staging(state, size, &staged)
    if status != HIPEP_OK:
        return status
    memcpy(staged, source, size)
    state.busy = True
    return hipep_copy_async(state.stream, to, staged, size, counted_as)


cdef hipep_status stream_fetch(StreamState* state, void* to, const void* source,
                               int64_t size) noexcept nogil:
    cdef uint8_t* staged = NULL
    cdef Fetch* fetch
    cdef hipep_status status
    cdef bint mapped = not state.is_inline and hipep_host_readable(state.device, source)
    if state.is_inline or size == 0 or (size > STAGED_FETCH_BYTES and not mapped):
        state.busy = True
        return hipep_copy_async(state.stream, to, source, size, HIPEP_COPY_D2H)
    if state.fetch_count == FETCH_COUNT:
        status = stream_wait(state)
        if status != HIPEP_OK:
            return status
    if mapped:  # a wait and a memcpy
        staged = <uint8_t*>source
        hipep_thread_counters().d2h_copies += 1
        hipep_thread_counters().d2h_bytes += size
    else:
        status = _take_staging(state, size, &staged)
        if status == HIPEP_OK:
            state.busy = True
            status = hipep_copy_async(state.stream, staged, source, size, HIPEP_COPY_D2H)
        if status != HIPEP_OK:
            return status
    fetch = &state.fetches[state.fetch_count]
    state.fetch_count += 1
    fetch.to = to
    fetch.source = staged
    fetch.bytes = size
    return HIPEP_OK


cdef void note_write(StreamState* state, const void* pointer, const void* data, int64_t size,
                     int64_t run) noexcept nogil:
    cdef Note* note
    forget_notes(state, pointer, size)
    if run == 0 or size > NOTE_BYTES:
        return
    note = &state.notes[state.note_next]
    state.note_next = (state.note_next + 1) % NOTE_COUNT
    note.pointer = pointer
    note.bytes = size
    note.run = run
    if size:  # no data may be NULL
        memcpy(note.data, data, size)


cdef void forget_notes(StreamState* state, const void* pointer, int64_t size) noexcept nogil:
    """Forget what was known of memory that is about to be written."""
    cdef int32_t i
    cdef const uint8_t* begin = <const uint8_t*>pointer
    cdef const uint8_t* noted
    for i in range(NOTE_COUNT):
        noted = <const uint8_t*>state.notes[i].pointer
        if noted != NULL and noted < begin + size and begin < noted + state.notes[i].bytes:
            state.notes[i].pointer = NULL


cdef const uint8_t* find_note(StreamState* state, const void* pointer, int64_t size,
                              int64_t run) noexcept nogil:
    cdef int32_t i
    cdef Note* note
    for i in range(NOTE_COUNT):
        note = &state.notes[i]
        if note.pointer == pointer and note.bytes == size and note.run == run and run != 0:
            return note.data
    return NULL


cdef Cache* stream_cache(StreamState* state, Program* program) noexcept nogil:
    """Return this stream's plans of a group; NULL when host memory is out."""
    cdef int32_t i
    cdef Cache** grown
    cdef Cache* cache
    for i in range(state.cache_count):
        if state.caches[i].program_uid == program.uid:
            return state.caches[i]
    grown = <Cache**>realloc(state.caches, (state.cache_count + 1) * sizeof(Cache*))
    if grown == NULL:
        return NULL
    state.caches = grown
    cache = <Cache*>calloc(1, sizeof(Cache))
    if cache == NULL:
        return NULL
    cache.program_uid = program.uid
    cache.next_uid = 1
    state.caches[state.cache_count] = cache
    state.cache_count += 1
    return cache


cdef hipep_status stream_arena(StreamState* state, int32_t depth, int64_t size) noexcept nogil:
    """Make the arena of a segment at least size bytes large, growing by half again."""
    cdef void* memory = NULL
    cdef int64_t needed = size
    cdef hipep_status status
    if size <= state.arena_bytes[depth]:
        return HIPEP_OK
    if state.arena_bytes[depth]:
        size = max(size, state.arena_bytes[depth] + state.arena_bytes[depth] // 2)
    status = hipep_allocate(state.device, size, HIPEP_KIND_DEVICE, state.stream, &memory)
    if status == HIPEP_OUT_OF_MEMORY and state.arena_bytes[depth]:  # no room for both at a time
        status = stream_wait(state)
        hipep_release(state.device, state.arena[depth], HIPEP_KIND_DEVICE)
        state.arena[depth] = NULL
        state.arena_bytes[depth] = 0
        if status == HIPEP_OK:
            size = needed
            status = hipep_allocate(state.device, size, HIPEP_KIND_DEVICE, state.stream, &memory)
    if status != HIPEP_OK:
        return hipep_fail(status, "values between nodes: %s", hipep_last_error())
    hipep_release(state.device, state.arena[depth], HIPEP_KIND_DEVICE)
    state.arena[depth] = memory
    state.arena_bytes[depth] = size
    return HIPEP_OK
