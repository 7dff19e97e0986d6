"""Graphs of launches that were started before with the same pointers."""
from libc.stdint cimport int32_t, uint8_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy

from hipep._kernels cimport hipep_graph_destroy


cdef int32_t _find_slots(const hipep_patch* patches, int32_t count, int32_t slot_limit,
                         int32_t* slots) noexcept nogil:
    """Write the distinct slots of the patches, in order; -1 when host memory is out."""
    cdef uint8_t* seen = <uint8_t*>calloc(slot_limit + 1, 1)
    cdef int32_t i, found = 0
    if seen == NULL:
        return -1
    for i in range(count):
        seen[patches[i].value] = 1
    for i in range(slot_limit):
        if seen[i]:
            slots[found] = i
            found += 1
    free(seen)
    return found


cdef Recordings* new_recordings(const hipep_patch* patches, int32_t count) noexcept nogil:
    cdef int32_t i, slot_limit = 0
    cdef Recordings* recordings
    cdef void** bases
    for i in range(count):
        slot_limit = max(slot_limit, patches[i].value + 1)
    recordings = <Recordings*>calloc(
        1, sizeof(Recordings) + slot_limit * ((MOST_GRAPHS + 1) * sizeof(void*) + sizeof(int32_t)))
    if recordings == NULL:
        return NULL
    bases = <void**>(recordings + 1)
    for i in range(MOST_GRAPHS):
        recordings.graphs[i].base = bases + i * slot_limit
    recordings.met = bases + MOST_GRAPHS * slot_limit
    recordings.slots = <int32_t*>(bases + (MOST_GRAPHS + 1) * slot_limit)
    recordings.slot_count = _find_slots(patches, count, slot_limit, recordings.slots)
    if recordings.slot_count < 0:
        free(recordings)
        return NULL
    return recordings


cdef void free_recordings(Recordings* recordings) noexcept nogil:
    if recordings != NULL:
        refuse_graphs(recordings)
        free(recordings)


cdef bint _same(const Recordings* recordings, void* const* known, void* const* base) noexcept nogil:
    cdef int32_t i
    for i in range(recordings.slot_count):
        if known[i] != base[recordings.slots[i]]:
            return False
    return True


cdef hipep_graph* find_graph(Recordings* recordings, void* const* base) noexcept nogil:
    cdef int32_t i
    cdef Recorded* recorded
    recordings.clock += 1
    for i in range(MOST_GRAPHS):
        recorded = &recordings.graphs[i]
        if recorded.graph != NULL and _same(recordings, recorded.base, base):
            recorded.used = recordings.clock
            return recorded.graph
    return NULL


cdef bint met_again(Recordings* recordings, void* const* base) noexcept nogil:
    cdef int32_t i
    if _same(recordings, recordings.met, base):
        return True
    for i in range(recordings.slot_count):
        recordings.met[i] = base[recordings.slots[i]]
    return False


cdef void keep_graph(Recordings* recordings, hipep_graph* graph) noexcept nogil:
    cdef int32_t i
    cdef Recorded* oldest = &recordings.graphs[0]
    for i in range(1, MOST_GRAPHS):
        if recordings.graphs[i].used < oldest.used:
            oldest = &recordings.graphs[i]
    hipep_graph_destroy(oldest.graph)
    oldest.graph = graph
    oldest.used = recordings.clock
    memcpy(oldest.base, recordings.met, recordings.slot_count * sizeof(void*))


cdef void refuse_graphs(Recordings* recordings) noexcept nogil:
    cdef int32_t i
    for i in range(MOST_GRAPHS):
        hipep_graph_destroy(recordings.graphs[i].graph)
        recordings.graphs[i].graph = NULL
    recordings.refused = True
