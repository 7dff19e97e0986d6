from libc.stdint cimport int32_t, uint64_t

from hipep._kernels cimport hipep_graph, hipep_patch

cdef enum:
    MOST_GRAPHS = 4  # of one segment

cdef struct Recorded:
    hipep_graph* graph
    void** base  # of each slot
    uint64_t used  # clock of the last use

# Graphs of a segment's launches, one for each set of base addresses.
cdef struct Recordings:
    int32_t* slots  # those that the launches point into
    int32_t slot_count
    Recorded[4] graphs  # MOST_GRAPHS
    void** met  # base addresses of the last run that no graph was for
    uint64_t clock
    bint refused  # the driver could not make or start a graph

# NULL when host memory is out.
cdef Recordings* new_recordings(const hipep_patch* patches, int32_t count) noexcept nogil
cdef void free_recordings(Recordings* recordings) noexcept nogil
# The graph for these base addresses, or NULL.
cdef hipep_graph* find_graph(Recordings* recordings, void* const* base) noexcept nogil
# Whether these base addresses, which no graph is for, are those of the last such run, too.
cdef bint met_again(Recordings* recordings, void* const* base) noexcept nogil
# Keeps a graph for the addresses that were met, in the place of the least recently used.
cdef void keep_graph(Recordings* recordings, hipep_graph* graph) noexcept nogil
# Frees the graphs and makes no more.
cdef void refuse_graphs(Recordings* recordings) noexcept nogil
