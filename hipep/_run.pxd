from libc.stdint cimport int32_t, int64_t

from hipep._kernels cimport hipep_status
from hipep._program cimport Program
from hipep._stream cimport StreamState

# Makes an output and returns its memory.
ctypedef hipep_status (*output_fn)(
    void* context, int32_t index, const int64_t* dims, int32_t rank, void** out) noexcept nogil

cdef hipep_status reserve_inputs(StreamState* state, int32_t count) noexcept nogil
# Runs a group on inputs that the caller has put into state.inputs and state.input_data.
cdef hipep_status run_program(Program* program, StreamState* state, output_fn output,
                              void* context, int32_t* failed_node) noexcept nogil
