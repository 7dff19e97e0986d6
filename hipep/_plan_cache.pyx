"""The plans of one group on one stream: least recently used, bounded in number and bytes."""
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memcmp, memcpy

from hipep._kernels cimport hipep_thread_counters
from hipep._replay cimport free_recordings


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
    free_recordings(entry.recordings)
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


cdef Entry* take_entry(Cache* cache, Program* program, int64_t size,
                       const Entry* keep) noexcept nogil:
    """Return an entry with room for size bytes: the oldest one's when the cache is full."""
    cdef int32_t at
    cdef Entry* entry = NULL
    cdef Entry** grown
    cdef uint8_t* memory
    while cache.count > program.limits.entries or (
            cache.count and cache.bytes + size > program.limits.bytes):
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
    free_recordings(entry.recordings)
    entry.recordings = NULL
    entry.runs = 0
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
