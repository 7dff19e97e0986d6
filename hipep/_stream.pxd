from libc.stdint cimport int32_t, int64_t, uint8_t

from hipep._kernels cimport hipep_device, hipep_status, hipep_stream, hipep_tensor
from hipep._plan cimport MAX_SEGMENTS, Builder
from hipep._plan_cache cimport Cache
from hipep._program cimport Program

cdef enum:
    NOTE_BYTES = 64  # inputs up to this size that came from the host stay known there
    NOTE_COUNT = 16
    FETCH_COUNT = 64

# Bytes that this process wrote from host memory to device memory in one run on one stream.
cdef struct Note:
    const void* pointer
    int64_t bytes
    int64_t run
    uint8_t[64] data

cdef struct Fetch:
    void* to
    const void* source
    int64_t bytes

cdef struct StagingBlock:
    uint8_t* memory
    int64_t bytes

# What one run needs and the next one reuses: stream, arenas, plans, staging.
cdef struct StreamState:
    StreamState* next
    hipep_device* device
    hipep_stream* stream
    bint is_inline
    bint launched  # kernels were started since the last wait
    bint busy  # anything was enqueued since the last wait
    Cache** caches
    int32_t cache_count
    Builder* builder
    void* arena[64]  # one per segment
    int64_t[64] arena_bytes
    void* tickets  # see HIPEP_TICKET_COUNT; NULL where blocks run one after the other
    void** base
    int32_t base_count
    hipep_tensor* inputs
    const uint8_t** host_inputs
    const void** input_data
    int32_t input_capacity
    uint8_t* key
    int64_t key_capacity
    uint8_t* readback  # host-accessible
    int64_t readback_bytes
    Note[16] notes
    int32_t note_next
    StagingBlock[8] staging
    int32_t staging_count
    int64_t staging_used  # of the last block
    int64_t staging_total  # since the last run ended
    Fetch[64] fetches  # copied to the host's memory when the stream has been waited for
    int32_t fetch_count

# user_stream: the driver's handle of the stream to work on; NULL: one of its own.
cdef StreamState* new_stream_state(hipep_device* device, void* user_stream) noexcept nogil
cdef void free_stream_state(StreamState* state) noexcept nogil
cdef hipep_status stream_wait(StreamState* state) noexcept nogil
cdef hipep_status stream_finish(StreamState* state) noexcept nogil
# Copies host bytes to the device; the source may be overwritten when the call returns.
cdef hipep_status stream_feed(StreamState* state, void* to, const void* source, int64_t size,
                              int32_t counted_as) noexcept nogil
# Copies device bytes to the host; they are there after the next wait.
cdef hipep_status stream_fetch(StreamState* state, void* to, const void* source,
                               int64_t size) noexcept nogil
cdef void note_write(StreamState* state, const void* pointer, const void* data, int64_t size,
                     int64_t run) noexcept nogil
cdef void forget_notes(StreamState* state, const void* pointer, int64_t size) noexcept nogil
cdef const uint8_t* find_note(StreamState* state, const void* pointer, int64_t size,
                              int64_t run) noexcept nogil
cdef Cache* stream_cache(StreamState* state, Program* program) noexcept nogil
cdef hipep_status stream_arena(StreamState* state, int32_t depth, int64_t size) noexcept nogil
