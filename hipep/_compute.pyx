"""The compute callbacks of a fused group: no Python, no GIL."""
from libc.stddef cimport size_t
from libc.stdint cimport int32_t, int64_t
from libc.stdio cimport snprintf
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy

from hipep._kernels cimport *
from hipep._ort_api cimport *
from hipep._emit cimport describe_inputs, describe_shape
from hipep._program cimport ProgramNode, free_program
from hipep._run cimport reserve_inputs, run_program
from hipep._session cimport give_stream, session_release, session_retain, take_stream
from hipep._status cimport failure
from hipep._stream cimport StreamState, stream_wait

cdef struct ComputeInfo:
    OrtNodeComputeInfo base
    const Ort* ort
    Session* session
    Program* program

cdef struct OutputContext:
    const Ort* ort
    const Program* program
    OrtKernelContext* context
    OrtStatus* error  # of onnxruntime, handed on as it is

cdef struct ParallelContext:
    const Ort* ort
    OrtKernelContext* context


cdef OrtStatus* _create_state(OrtNodeComputeInfo* this, OrtNodeComputeContext* context,
                              void** state) noexcept nogil:
    state[0] = this
    return NULL


cdef void _release_state(OrtNodeComputeInfo* this, void* state) noexcept nogil:
    pass


cdef OrtStatus* _no_room(OutputContext* outputs, int32_t index, const int64_t* dims,
                         int32_t rank) noexcept nogil:
    """Name the output that has no memory, and the node that makes it."""
    cdef const Program* program = outputs.program
    cdef int32_t n, i, value = program.outputs[index]
    cdef ProgramNode* node
    cdef char[768] doing
    cdef char[256] shape
    describe_shape(program.values[value].dtype, rank, dims, shape, sizeof(shape))
    for n in range(program.node_count):
        node = &program.nodes[n]
        for i in range(node.output_count):
            if node.outputs[i] == value:
                snprintf(doing, sizeof(doing), "%s '%s', output '%s' (%s)", node.row.op_type,
                         node.name, program.output_names[index], shape)
    return failure(outputs.ort, hipep_last_status(), doing)


cdef hipep_status _output(void* context, int32_t index, const int64_t* dims, int32_t rank,
                          void** out) noexcept nogil:
    cdef OutputContext* outputs = <OutputContext*>context
    cdef OrtValue* value = NULL
    cdef int64_t count = 1
    cdef int32_t d
    outputs.error = KernelContext_GetOutput(
        outputs.ort, outputs.context, index, dims, rank, &value)
    if outputs.error == NULL:
        outputs.error = GetTensorMutableData(outputs.ort, value, out)
    if outputs.error != NULL:
        return hipep_fail(HIPEP_INTERNAL, "onnxruntime refused output %d", index)
    for d in range(rank):
        count *= dims[d]
    if count and out[0] == NULL:  # the allocator has left its reason
        outputs.error = _no_room(outputs, index, dims, rank)
        return hipep_last_status()
    return HIPEP_OK


cdef void _parallel_for(void* context, void (*body)(void*, size_t) noexcept nogil, size_t total,
                        void* argument) noexcept nogil:
    cdef ParallelContext* parallel = <ParallelContext*>context
    cdef OrtStatus* status = KernelContext_ParallelFor(
        parallel.ort, parallel.context, body, total, 0, argument)
    cdef size_t i
    if status != NULL:
        ReleaseStatus(parallel.ort, status)
        for i in range(total):
            body(argument, i)


cdef OrtStatus* _read_inputs(ComputeInfo* info, OrtKernelContext* context,
                             StreamState* state) noexcept nogil:
    cdef const Ort* ort = info.ort
    cdef const OrtValue* value = NULL
    cdef const int64_t* dims = NULL
    cdef hipep_tensor* tensor
    cdef size_t rank = 0
    cdef int dtype = 0
    cdef int32_t i
    cdef OrtStatus* error
    if reserve_inputs(state, info.program.input_count) != HIPEP_OK:
        return failure(ort, HIPEP_OUT_OF_MEMORY, "reading the inputs")
    for i in range(info.program.input_count):
        error = KernelContext_GetInput(ort, context, i, &value)
        if error == NULL:
            error = GetTensorElementTypeAndShapeDataReference(ort, value, &dtype, &dims, &rank)
        if error == NULL:
            error = GetTensorData(ort, value, &state.input_data[i])
        if error != NULL:
            return error
        if rank > HIPEP_MAX_RANK:
            return failure(ort, hipep_fail(
                HIPEP_INVALID, "input %d is of rank %d; up to 8 is handled", i, <int>rank),
                "reading the inputs")
        tensor = &state.inputs[i]
        tensor.dtype = dtype
        tensor.rank = <int32_t>rank
        if rank:
            memcpy(tensor.dims, dims, rank * sizeof(int64_t))
    return NULL


cdef OrtStatus* _node_failure(ComputeInfo* info, StreamState* state, hipep_status status,
                              int32_t node) noexcept nogil:
    """Name the node that could not be planned, with the types and shapes it was given."""
    cdef char[768] doing
    cdef char[512] shapes
    if node < 0 or node >= info.program.node_count:
        return failure(info.ort, status, "a run")
    describe_inputs(state.builder, node, shapes, sizeof(shapes))
    snprintf(doing, sizeof(doing), "%s '%s' (%s)", info.program.nodes[node].row.op_type,
             info.program.nodes[node].name, shapes)
    return failure(info.ort, status, doing)


cdef OrtStatus* _run(ComputeInfo* info, OrtKernelContext* context,
                     StreamState* state) noexcept nogil:
    cdef OutputContext outputs
    cdef ParallelContext parallel
    cdef int32_t failed_node = -1
    cdef hipep_status status
    cdef OrtStatus* error = _read_inputs(info, context, state)
    if error != NULL:
        return error
    outputs.ort = info.ort
    outputs.program = info.program
    outputs.context = context
    outputs.error = NULL
    if state.is_inline:
        parallel.ort = info.ort
        parallel.context = context
        hipep_stream_set_parallel_for(state.stream, _parallel_for, &parallel)
    hipep_set_current_stream(state.stream)
    status = run_program(info.program, state, _output, &outputs, &failed_node)
    if state.is_inline:
        hipep_stream_set_parallel_for(state.stream, NULL, NULL)
    if outputs.error != NULL:
        return outputs.error
    if status != HIPEP_OK:
        return _node_failure(info, state, status, failed_node)
    return NULL


cdef OrtStatus* _compute(OrtNodeComputeInfo* this, void* unused,
                         OrtKernelContext* context) noexcept nogil:
    cdef ComputeInfo* info = <ComputeInfo*>this
    cdef StreamState* state
    cdef void* handle = NULL
    cdef OrtStatus* error
    cdef hipep_status status
    if info.session.has_memory:
        error = KernelContext_GetGPUComputeStream(info.ort, context, &handle)
        if error != NULL:
            return error
        if handle != NULL:
            return _run(info, context, <StreamState*>handle)
    state = take_stream(info.session)
    if state == NULL:
        return failure(info.ort, HIPEP_OUT_OF_MEMORY, "a run")
    error = _run(info, context, state)
    if not state.is_inline:  # the outputs are read by the CPU as soon as this returns
        status = stream_wait(state)
        if status != HIPEP_OK and error == NULL:
            error = failure(info.ort, status, "a run")
    hipep_set_current_stream(NULL)
    give_stream(info.session, state)
    return error


cdef OrtNodeComputeInfo* new_compute_info(
        const Ort* ort, Session* session, Program* program) except NULL:
    cdef ComputeInfo* info = <ComputeInfo*>calloc(1, sizeof(ComputeInfo))
    if info == NULL:
        raise MemoryError
    info.base.ort_version_supported = ort.claimed
    info.base.CreateState = _create_state
    info.base.Compute = _compute
    info.base.ReleaseState = _release_state
    info.ort = ort
    info.session = session
    info.program = program
    session_retain(session)
    return &info.base


cdef void free_compute_info(OrtNodeComputeInfo* this) noexcept nogil:
    cdef ComputeInfo* info = <ComputeInfo*>this
    if info == NULL:
        return
    free_program(info.program)
    session_release(info.session)
    free(info)
