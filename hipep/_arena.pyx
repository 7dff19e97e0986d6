"""Arena layout: first fit over sorted holes, 256-byte granules."""
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memmove

cdef enum:
    GRANULE = 256


cdef inline int64_t _round(int64_t size) noexcept nogil:
    return (max(size, <int64_t>1) + GRANULE - 1) & ~<int64_t>(GRANULE - 1)


cdef void arena_reset(Arena* arena) noexcept nogil:
    arena.count = 0
    arena.top = 0


cdef void arena_free(Arena* arena) noexcept nogil:
    free(arena.holes)
    arena.holes = NULL
    arena.count = arena.capacity = 0


cdef void _remove_hole(Arena* arena, int32_t at) noexcept nogil:
    arena.count -= 1
    memmove(&arena.holes[at], &arena.holes[at + 1], (arena.count - at) * sizeof(ArenaHole))


cdef int64_t arena_take(Arena* arena, int64_t size) noexcept nogil:
    """Return an offset for size bytes, or -1 when host memory is out."""
    cdef int32_t i
    cdef int64_t begin
    cdef ArenaHole* grown
    size = _round(size)
    # A hole for every block that can be given back: arena_give must not fail.
    if arena.count + 2 > arena.capacity:
        grown = <ArenaHole*>realloc(arena.holes, (2 * arena.capacity + 16) * sizeof(ArenaHole))
        if grown == NULL:
            return -1
        arena.holes = grown
        arena.capacity = 2 * arena.capacity + 16
    for i in range(arena.count):
        if arena.holes[i].end - arena.holes[i].begin >= size:
            begin = arena.holes[i].begin
            arena.holes[i].begin += size
            if arena.holes[i].begin == arena.holes[i].end:
                _remove_hole(arena, i)
            return begin
    begin = arena.top
    if arena.count and arena.holes[arena.count - 1].end == arena.top:
        begin = arena.holes[arena.count - 1].begin
        arena.count -= 1
    arena.top = begin + size
    return begin


cdef int64_t arena_take_fresh(Arena* arena, int64_t size) noexcept nogil:
    """Return an offset that nothing in the segment has used before."""
    cdef int64_t begin = arena.top
    arena.top += _round(size)
    return begin


cdef void arena_give(Arena* arena, int64_t offset, int64_t size) noexcept nogil:
    cdef int64_t end = offset + _round(size)
    cdef int32_t at = 0
    while at < arena.count and arena.holes[at].begin < offset:
        at += 1
    if at > 0 and arena.holes[at - 1].end == offset:
        arena.holes[at - 1].end = end
        if at < arena.count and arena.holes[at].begin == end:
            arena.holes[at - 1].end = arena.holes[at].end
            _remove_hole(arena, at)
        return
    if at < arena.count and arena.holes[at].begin == end:
        arena.holes[at].begin = offset
        return
    if arena.count == arena.capacity:  # lost until the segment ends: never wrong
        return
    memmove(&arena.holes[at + 1], &arena.holes[at], (arena.count - at) * sizeof(ArenaHole))
    arena.holes[at].begin = offset
    arena.holes[at].end = end
    arena.count += 1


cdef int64_t arena_reserve(const Arena* arena) noexcept nogil:
    """Return the bytes that the segment needs."""
    return arena.top
