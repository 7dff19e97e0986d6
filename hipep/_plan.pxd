from libc.stddef cimport size_t
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint32_t, uint64_t

from hipep._kernels cimport (
    hipep_patch, hipep_planned_launch, hipep_status, hipep_tensor)
from hipep._lowering cimport Emit
from hipep._program cimport Program

cdef enum:
    MAX_SEGMENTS = 64  # readbacks that one group may need in one run

# ---- What a row's emit and evaluate functions see -------------------------------------------

# The shape of an input; NULL if it is absent.
cdef const hipep_tensor* input_shape(Emit* e, int index) noexcept nogil
# The same with its bytes on the device.
cdef hipep_status input_tensor(Emit* e, int index, hipep_tensor* out) noexcept nogil
# The bytes of an input that is known on the host, else NULL.
cdef const void* host_value(Emit* e, int index) noexcept nogil
# Ends the segment: planning of this node starts again when the input is known on the host.
cdef hipep_status need_host(Emit* e, int index) noexcept nogil
cdef bint output_wanted(Emit* e, int index) noexcept nogil
# Declares an output; out->value is -1 if nobody reads it.
cdef hipep_status output_tensor(Emit* e, int index, int32_t dtype, int32_t rank,
                                const int64_t* dims, hipep_tensor* out) noexcept nogil
# Output 0 holds the bytes of input 0 under another shape.
cdef hipep_status output_view(Emit* e, int32_t rank, const int64_t* dims) noexcept nogil
# The buffer in which evaluate computes a host-known output; NULL when memory is out.
cdef void* output_host(Emit* e, int index, int32_t dtype, int32_t rank,
                       const int64_t* dims) noexcept nogil

# ---- Plans ------------------------------------------------------------------------------------

# Where a launch's pointer comes from: base[slot] + offset. Slots: inputs, outputs, then one arena a segment.
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
    hipep_patch* patches  # patch.value: a slot
    int32_t patch_count
    OutputShape* outputs  # whose memory is asked for before the launches
    int32_t output_count
    int64_t arena_bytes
    int32_t readback_value  # -1: the group is done
    int32_t readback_slot
    int64_t readback_offset
    int64_t readback_bytes
    ValueState* states  # of all values at the end, if something is read back
    uint8_t* host_bytes  # the host-known values
    int64_t host_used
    char* texts  # per launch, 256 bytes, when debugging
    uint8_t* memory  # holds all of the above
    int64_t capacity

cdef struct Cache:
    int64_t program_uid
    Entry** entries
    int32_t count
    int32_t capacity
    int64_t bytes
    uint64_t clock
    uint64_t next_uid

cdef struct Builder

cdef void describe_inputs(Builder* b, int32_t n, char* text, size_t size) noexcept nogil
cdef Builder* new_builder() noexcept nogil
cdef void free_builder(Builder* builder) noexcept nogil
cdef Entry* find_entry(Cache* cache, const uint8_t* key, int64_t key_bytes,
                       uint64_t hash) noexcept nogil
cdef hipep_status build_entry(
    Builder* builder, Program* program, Cache* cache, const Entry* parent, const uint8_t* key,
    int64_t key_bytes, uint64_t hash, const hipep_tensor* inputs, const uint8_t* const* host_inputs,
    const uint8_t* readback, bint aligned, Entry** out, int32_t* failed_node) noexcept nogil
cdef uint64_t hash_bytes(const uint8_t* bytes, int64_t count) noexcept nogil
cdef void free_cache(Cache* cache) noexcept nogil
