from libc.stddef cimport size_t
from libc.stdint cimport int32_t, uint32_t, uint64_t

from hipep._graph cimport Node
from hipep._kernels cimport hipep_emitter, hipep_status

# What a row's emit and evaluate functions see; hipep._emit has the functions that take it.
cdef struct Emit:
    hipep_emitter* emitter
    const void* params
    void* builder
    int32_t node

# None, or the reason why the node is declined.
ctypedef object (*claim_fn)(Node node)
# Writes the attributes into the row's parameter struct (zeroed, row.params_bytes long).
ctypedef int (*lower_fn)(Node node, void* params) except -1
# Output shapes and launches of one node, for the shapes at hand.
ctypedef hipep_status (*emit_fn)(Emit* e) noexcept nogil

cdef enum:
    ROW_VIEW = 1  # output 0 may share the bytes of input 0
    ROW_SHAPE_ONLY = 2  # always evaluated, from the shape of input 0: emit is NULL

cdef struct Row:
    const char* op_type
    const char* domain
    int since  # the first and the last definition (opset in which it appeared) that is handled
    int until
    uint64_t dtypes  # of input 0, a bit per ONNX type number
    claim_fn claim
    lower_fn lower
    size_t params_bytes
    emit_fn emit
    emit_fn evaluate  # computes the outputs on the host from host-known inputs; NULL: never
    uint32_t host_inputs  # bit i: the value of input i decides shapes or geometry
    uint32_t flags
    claim_fn pays_off  # NULL: never claimed where only what is faster than the CPU EP is wanted
    const char* note

cdef enum:
    BIT_FLOAT = 1 << 1
    BIT_UINT8 = 1 << 2
    BIT_INT8 = 1 << 3
    BIT_UINT16 = 1 << 4
    BIT_INT16 = 1 << 5
    BIT_INT32 = 1 << 6
    BIT_INT64 = 1 << 7
    BIT_BOOL = 1 << 9
    BIT_FLOAT16 = 1 << 10
    BIT_DOUBLE = 1 << 11
    BIT_UINT32 = 1 << 12
    BIT_UINT64 = 1 << 13
    BIT_BFLOAT16 = 1 << 16
    FLOATS_BEFORE_BFLOAT16 = BIT_FLOAT | BIT_FLOAT16 | BIT_DOUBLE
    FLOATS = FLOATS_BEFORE_BFLOAT16 | BIT_BFLOAT16
    SIGNED_INTEGERS = BIT_INT8 | BIT_INT16 | BIT_INT32 | BIT_INT64
    UNSIGNED_INTEGERS = BIT_UINT8 | BIT_UINT16 | BIT_UINT32 | BIT_UINT64
    INTEGERS = SIGNED_INTEGERS | UNSIGNED_INTEGERS
    NUMBERS = FLOATS | INTEGERS
    PLAIN_TYPES = NUMBERS | BIT_BOOL

# A row of the default domain; evaluate, host_inputs, flags and pays_off start empty.
cdef inline Row row(const char* op_type, int since, int until, uint64_t dtypes, claim_fn claim,
                    lower_fn lower, size_t params_bytes, emit_fn emit,
                    const char* note) noexcept:
    cdef Row made
    made.op_type = op_type
    made.domain = b""
    made.since = since
    made.until = until
    made.dtypes = dtypes
    made.claim = claim
    made.lower = lower
    made.params_bytes = params_bytes
    made.emit = emit
    made.evaluate = NULL
    made.host_inputs = 0
    made.flags = 0
    made.pays_off = NULL
    made.note = note
    return made

cdef int add_row(str module, Row added) except -1
cdef const Row* find_row(Node node) except? NULL
cdef object claim_node(Node node, bint pay_off)
cdef str check_dtype(Node node, int index, uint64_t mask)
