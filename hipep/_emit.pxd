from libc.stddef cimport size_t
from libc.stdint cimport int32_t, int64_t

from hipep._kernels cimport hipep_emitter, hipep_status, hipep_tensor
from hipep._lowering cimport Emit
from hipep._plan cimport Builder

# ---- For rows: a call that may end the segment (need_host) comes before any other ------------

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

# ---- For the planner --------------------------------------------------------------------------

cdef int64_t tensor_bytes(const hipep_tensor* tensor) noexcept nogil
cdef int32_t arena_slot(const Builder* b) noexcept nogil
cdef hipep_status take_workspace(hipep_emitter* emitter, int64_t size,
                                 hipep_tensor* out) noexcept nogil
# Writes a host-known value to the device.
cdef hipep_status store_host_value(Builder* b, int32_t value) noexcept nogil
cdef size_t describe_shape(int32_t dtype, int32_t rank, const int64_t* dims, char* text,
                           size_t size) noexcept nogil
cdef void describe_inputs(Builder* b, int32_t n, char* text, size_t size) noexcept nogil
