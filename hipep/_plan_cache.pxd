from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint64_t

from hipep._kernels cimport hipep_patch, hipep_planned_launch, hipep_tensor
from hipep._program cimport Program
from hipep._replay cimport Recordings

cdef struct OutputShape:
    int32_t index
    int32_t dtype
    int32_t rank
    int64_t[8] dims

cdef struct ValueState:
    hipep_tensor tensor  # tensor.value: the value that owns the bytes
    const uint8_t* host
    int64_t arena_offset  # of a root in an arena
    int64_t arena_bytes
    int32_t slot  # of a root; -1: no bytes yet
    int32_t waiting  # a root that waits for the shape of output target
    int8_t shaped
    int8_t stored  # the bytes are on the device

# A segment: the launches between two points where a value must be known on the host.
cdef struct Entry:
    uint64_t uid
    uint64_t hash
    uint8_t* key
    int64_t key_bytes
    uint64_t used  # clock of the last use
    int32_t depth
    int32_t end_node  # planning goes on here when a readback value is known
    hipep_planned_launch* launches
    int32_t launch_count
    uint8_t* args
    int64_t args_bytes
    # A pointer is base[patch.value] + patch.offset; slots: inputs, outputs, one arena a segment.
    hipep_patch* patches
    int32_t patch_count
    OutputShape* outputs  # whose memory is asked for before the launches
    int32_t output_count
    int64_t arena_bytes
    int32_t readback_value  # -1: the group is done
    int32_t readback_slot
    int64_t readback_offset
    int64_t readback_bytes
    ValueState* states  # of all values at the end, if something is read back
    uint8_t* host  # the host-known values among them
    int64_t host_used
    uint64_t runs
    Recordings* recordings  # NULL before the second run and where graphs do not pay
    char* texts  # per launch, 256 bytes, when debugging
    uint8_t* memory  # holds all of the above
    int64_t capacity

# The plans of one group on one stream, least recently used first to go.
cdef struct Cache:
    int64_t program_uid
    Entry** entries
    int32_t count
    int32_t capacity
    int64_t bytes
    uint64_t clock
    uint64_t next_uid

cdef Entry* find_entry(Cache* cache, const uint8_t* key, int64_t key_bytes,
                       uint64_t hash) noexcept nogil
# An entry with room for size bytes, which matches nothing yet; never takes the place of keep.
cdef Entry* take_entry(Cache* cache, Program* program, int64_t size,
                       const Entry* keep) noexcept nogil
cdef uint64_t hash_bytes(const uint8_t* bytes, int64_t count) noexcept nogil
cdef void free_cache(Cache* cache) noexcept nogil
