from libc.stdint cimport int32_t, int64_t

# Offsets inside one block of memory, by liveness: taken and given back while a segment is planned.
cdef struct ArenaHole:
    int64_t begin
    int64_t end

cdef struct Arena:
    ArenaHole* holes  # sorted, never adjacent
    int32_t count
    int32_t capacity
    int64_t top

cdef void arena_reset(Arena* arena) noexcept nogil
cdef void arena_free(Arena* arena) noexcept nogil
cdef int64_t arena_take(Arena* arena, int64_t size) noexcept nogil
cdef int64_t arena_take_fresh(Arena* arena, int64_t size) noexcept nogil
cdef void arena_give(Arena* arena, int64_t offset, int64_t size) noexcept nogil
cdef int64_t arena_reserve(const Arena* arena) noexcept nogil
