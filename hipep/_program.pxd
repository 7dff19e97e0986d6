from libc.stdint cimport int32_t, int64_t, uint8_t

from hipep._graph cimport Graph
from hipep._kernels cimport hipep_device, hipep_stream, hipep_tensor
from hipep._lowering cimport Row

cdef enum ValueKind:
    VALUE_INPUT
    VALUE_CONSTANT
    VALUE_LOCAL

# How many plans a group keeps on each stream; may change while the session lives.
cdef struct PlanLimits:
    int64_t entries
    int64_t bytes
    bint debug
    int32_t graph_launches  # segments of so many launches are started as a graph; 0: none is

cdef struct ProgramValue:
    ValueKind kind
    int32_t dtype
    int32_t input  # index among the group's inputs, or -1
    int32_t output  # index among the group's outputs, or -1
    int32_t target  # a local value whose bytes go straight into this output's memory, or -1
    int32_t root  # the value that may own the bytes, over views
    int32_t last_use  # the last node that reads the bytes, over views; the producer if none does
    bint wanted_on_host  # some consumer decides shapes by it
    hipep_tensor constant  # dtype and extents of a constant
    void* device_data  # of a constant, mapped
    const uint8_t* host_data  # of a small constant

cdef struct ProgramNode:
    const Row* row
    void* params
    const char* name
    int32_t input_count
    int32_t output_count
    int32_t* inputs  # value indices, -1: absent
    int32_t* outputs
    int32_t dying_begin  # into Program.dying: root values last used here
    int32_t dying_end

cdef struct Program:
    int64_t uid
    hipep_device* device
    int32_t value_count
    int32_t node_count
    int32_t input_count
    int32_t output_count
    ProgramValue* values
    ProgramNode* nodes
    int32_t* inputs  # value index of each fused input, -1: not used
    int32_t* outputs
    const char** output_names
    int32_t* dying
    int32_t* links  # storage of the nodes' inputs and outputs
    const PlanLimits* limits

cdef Program* compile_program(
    Graph graph, list input_names, list output_names, hipep_device* device,
    hipep_stream* stream, const PlanLimits* limits) except NULL
cdef void free_program(Program* program) noexcept nogil
