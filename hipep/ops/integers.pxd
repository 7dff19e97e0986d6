from libc.stdint cimport int32_t, int64_t

from hipep._graph cimport Node
from hipep._kernels cimport hipep_status
from hipep._lowering cimport Emit

# The reason why an input that holds integers, one for each axis at most, cannot be read; or None.
cdef object check_integers(Node node, int index, bint optional)
# Reads an int32 or int64 input that has to be known on the host, ending the segment if it is not.
# An absent input leaves count at -1.
cdef hipep_status read_integers(Emit* e, int index, int64_t* out, int32_t* count) noexcept nogil
# Puts an attribute's integers, at most 8, into out; -1 if the attribute is absent.
cdef int32_t integers_attribute(Node node, str name, int64_t* out) except -2
