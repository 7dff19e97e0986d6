from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from hipep._arena cimport Arena
from hipep._kernels cimport hipep_emitter, hipep_status, hipep_tensor
from hipep._lowering cimport Emit
from hipep._plan_cache cimport Cache, Entry, OutputShape, ValueState
from hipep._program cimport Program

cdef enum:
    MAX_SEGMENTS = 64  # readbacks that one group may need in one run

cdef enum Slot:
    SLOT_UNSET = -1
    SLOT_CONSTANT = -2
    SLOT_WAITING = -3  # bytes go to an output whose shape is not known yet

cdef enum:
    MAX_WORKSPACES = 16  # of one node
    WORKSPACE_VALUE = 1 << 28  # ids of workspaces start here: + arena offset / 256

cdef struct Builder:
    hipep_emitter emitter  # first: the workspace callback gets back to the builder by its address
    Emit emit
    Program* program
    ValueState* states
    int32_t state_capacity
    Arena arena
    int32_t depth
    OutputShape* outputs
    int32_t output_count
    int32_t output_capacity
    uint8_t* host
    int64_t host_used
    int64_t host_capacity
    int32_t workspace_count
    int64_t[16] workspace_offset  # MAX_WORKSPACES
    int64_t[16] workspace_bytes
    int32_t needed  # the value that stopped planning
    char* texts
    int32_t text_capacity
    bint aligned

cdef Builder* new_builder() noexcept nogil
cdef void free_builder(Builder* builder) noexcept nogil
cdef hipep_status build_entry(
    Builder* builder, Program* program, Cache* cache, const Entry* parent, const uint8_t* key,
    int64_t key_bytes, uint64_t hash, const hipep_tensor* inputs, const uint8_t* const* host_inputs,
    const uint8_t* readback, bint aligned, Entry** out, int32_t* failed_node) noexcept nogil
