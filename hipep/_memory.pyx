"""Memory as onnxruntime sees it: allocators, tensor copies, Memcpy nodes, sync streams."""
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport calloc, free
from libc.stdio cimport snprintf
from libc.string cimport strcmp

from hipep._graph cimport check
from hipep._kernels cimport *
from hipep._ort_api cimport *
from hipep._session cimport current_run
from hipep._status cimport failure
from hipep._sync_stream cimport SyncStream
from hipep._stream cimport (
    StreamState, forget_notes, free_stream_state, new_stream_state, note_write, stream_feed,
    stream_fetch,
    stream_finish, stream_wait)

cdef enum:
    MAPPED_BYTES = 4096  # small tensors of a discrete GPU: a fetch is then a wait and a memcpy
    OWN_STREAMS_MINOR = 31  # 1.24 asks for memory on streams of other providers, too


# ---- Allocators -------------------------------------------------------------------------------

cdef struct Allocator:
    OrtAllocator base
    const Ort* ort
    const OrtMemoryInfo* info
    hipep_device* device
    int32_t kind
    size_t mapped_bytes  # allocations up to this size are mapped host memory


cdef inline int32_t _kind_for(const Allocator* allocator, size_t size) noexcept nogil:
    return HIPEP_KIND_HOST_ACCESSIBLE if size <= allocator.mapped_bytes else allocator.kind


cdef void* _alloc(OrtAllocator* this, size_t size) noexcept nogil:
    cdef Allocator* allocator = <Allocator*>this
    cdef void* memory = NULL
    hipep_allocate(allocator.device, size, _kind_for(allocator, size), NULL, &memory)
    return memory


cdef void* _alloc_on_stream(OrtAllocator* this, size_t size, OrtSyncStream* stream) noexcept nogil:
    cdef Allocator* allocator = <Allocator*>this
    cdef StreamState* state = _state_of(allocator.ort, stream)
    cdef void* memory = NULL
    hipep_allocate(allocator.device, size, _kind_for(allocator, size),
                   NULL if state == NULL else state.stream, &memory)
    return memory


cdef void _free(OrtAllocator* this, void* memory) noexcept nogil:
    cdef Allocator* allocator = <Allocator*>this
    cdef int32_t kind = allocator.kind
    if allocator.mapped_bytes and hipep_host_readable(allocator.device, memory):
        kind = HIPEP_KIND_HOST_ACCESSIBLE
    hipep_release(allocator.device, memory, kind)


cdef const OrtMemoryInfo* _info(const OrtAllocator* this) noexcept nogil:
    return (<Allocator*>this).info


cdef OrtStatus* _stats(const OrtAllocator* this, OrtKeyValuePairs** out) noexcept nogil:
    cdef Allocator* allocator = <Allocator*>this
    cdef hipep_pool_stats stats
    cdef char[32] text
    hipep_pool_get_stats(allocator.device, &stats)
    CreateKeyValuePairs(allocator.ort, out)
    snprintf(text, sizeof(text), "%lld", <long long>stats.in_use_bytes)
    AddKeyValuePair(allocator.ort, out[0], "InUse", text)
    snprintf(text, sizeof(text), "%lld", <long long>stats.peak_bytes)
    AddKeyValuePair(allocator.ort, out[0], "MaxInUse", text)
    snprintf(text, sizeof(text), "%lld", <long long>(stats.in_use_bytes + stats.cached_bytes))
    AddKeyValuePair(allocator.ort, out[0], "TotalAllocated", text)
    snprintf(text, sizeof(text), "%lld", <long long>stats.limit_bytes)
    AddKeyValuePair(allocator.ort, out[0], "Limit", text)
    return NULL


cdef size_t _mapped_bytes(hipep_device* device) noexcept nogil:
    """Return up to which size tensors lie in memory that the host reads and writes, too.

    On an APU that is the memory of all: feeds and fetches need no copy by the driver.
    """
    cdef const hipep_device_info* info = hipep_device_get_info(device)
    if strcmp(info.backend, b"host") == 0:
        return 0
    return <size_t>-1 if info.integrated else MAPPED_BYTES


cdef OrtAllocator* new_allocator(
        const Ort* ort, const OrtMemoryInfo* info, hipep_device* device, int kind) noexcept nogil:
    cdef Allocator* allocator = <Allocator*>calloc(1, sizeof(Allocator))
    if allocator == NULL:
        return NULL
    allocator.base.version = ort.claimed
    allocator.base.Alloc = _alloc
    allocator.base.Free = _free
    allocator.base.Info = _info
    allocator.base.Reserve = _alloc
    allocator.base.GetStats = _stats
    if ort.minor >= OWN_STREAMS_MINOR:
        allocator.base.AllocOnStream = _alloc_on_stream
    allocator.ort = ort
    allocator.info = info
    allocator.device = device
    allocator.kind = kind
    if kind == HIPEP_KIND_DEVICE:
        allocator.mapped_bytes = _mapped_bytes(device)
    return &allocator.base


cdef void free_allocator(OrtAllocator* allocator) noexcept nogil:
    free(allocator)


# ---- Copies -----------------------------------------------------------------------------------

cdef struct DataTransfer:
    OrtDataTransferImpl base
    const Ort* ort
    CopyDevices devices


cdef inline bint _is_ours(const Ort* ort, const OrtMemoryDevice* device) noexcept nogil:
    return (MemoryDevice_GetDeviceType(ort, device) == GPU
            and MemoryDevice_GetVendorId(ort, device) == AMD)


cdef hipep_device* _device_of(DataTransfer* transfer,
                              const OrtMemoryDevice* memory) noexcept nogil:
    cdef int32_t i, wanted = <int32_t>MemoryDevice_GetDeviceId(transfer.ort, memory)
    for i in range(transfer.devices.count):
        if transfer.devices.items[i].memory_id == wanted:
            return transfer.devices.items[i].device
    return NULL


cdef cbool _can_copy(const OrtDataTransferImpl* this, const OrtMemoryDevice* source,
                     const OrtMemoryDevice* to) noexcept nogil:
    cdef DataTransfer* transfer = <DataTransfer*>this
    cdef bint from_ours = _is_ours(transfer.ort, source) and _device_of(transfer, source) != NULL
    cdef bint to_ours = _is_ours(transfer.ort, to) and _device_of(transfer, to) != NULL
    cdef bint from_cpu = MemoryDevice_GetDeviceType(transfer.ort, source) == 0
    cdef bint to_cpu = MemoryDevice_GetDeviceType(transfer.ort, to) == 0
    return (from_ours and (to_ours or to_cpu)) or (to_ours and from_cpu)


cdef StreamState* _state_of(const Ort* ort, const OrtSyncStream* stream) noexcept nogil:
    cdef SyncStream* ours = NULL
    if stream != NULL:  # older releases also pass streams that no plugin made
        ours = <SyncStream*>SyncStream_GetImpl(ort, stream)
    return NULL if ours == NULL else ours.state


cdef hipep_status _copy_tensor(DataTransfer* transfer, StreamState* state, const OrtValue* source,
                               OrtValue* to, bint* fetched) noexcept nogil:
    cdef const Ort* ort = transfer.ort
    cdef const void* data = NULL
    cdef void* into = NULL
    cdef size_t size = 0
    cdef bint from_ours = _is_ours(ort, Value_GetMemoryDevice(ort, source))
    cdef bint to_ours = _is_ours(ort, Value_GetMemoryDevice(ort, to))
    cdef hipep_status status
    if (GetTensorData(ort, source, &data) != NULL or GetTensorMutableData(ort, to, &into) != NULL
            or GetTensorSizeInBytes(ort, source, &size) != NULL):
        return hipep_fail(HIPEP_INVALID, "a value to be copied is not a tensor of fixed size")
    if size and (data == NULL or into == NULL):  # the allocator has left its reason
        return hipep_last_status()
    if to_ours and from_ours:
        forget_notes(state, into, size)
        state.busy = True
        return hipep_copy_async(state.stream, into, data, size, HIPEP_COPY_PLAIN)
    if to_ours:
        status = stream_feed(state, into, data, size, HIPEP_COPY_H2D)
        if status == HIPEP_OK:
            note_write(state, into, data, size, current_run())
        return status
    fetched[0] = True
    return stream_fetch(state, into, data, size)


cdef hipep_status _copy_without_stream(DataTransfer* transfer, const OrtValue* source,
                                       OrtValue* to) noexcept nogil:
    cdef const OrtMemoryDevice* memory = Value_GetMemoryDevice(transfer.ort, to)
    cdef hipep_device* device
    cdef StreamState* state
    cdef hipep_status status
    cdef bint fetched = False
    if not _is_ours(transfer.ort, memory):
        memory = Value_GetMemoryDevice(transfer.ort, source)
    device = _device_of(transfer, memory)
    if device == NULL:
        return hipep_fail(HIPEP_INVALID, "a tensor to be copied lies on an unknown device")
    state = new_stream_state(device, NULL)
    if state == NULL:
        return HIPEP_OUT_OF_MEMORY
    status = _copy_tensor(transfer, state, source, to, &fetched)
    if status == HIPEP_OK:
        status = stream_wait(state)
    free_stream_state(state)
    return status


cdef OrtStatus* _copy_tensors(OrtDataTransferImpl* this, const OrtValue** sources, OrtValue** to,
                              OrtSyncStream** streams, size_t count) noexcept nogil:
    cdef DataTransfer* transfer = <DataTransfer*>this
    cdef StreamState* state = NULL
    cdef StreamState* pending = NULL  # the stream whose fetches are not complete
    cdef hipep_status status
    cdef bint fetched
    cdef size_t i
    for i in range(count):
        state = NULL if streams == NULL else _state_of(transfer.ort, streams[i])
        if state == NULL:
            status = _copy_without_stream(transfer, sources[i], to[i])
        else:
            hipep_set_current_stream(state.stream)
            fetched = False
            status = _copy_tensor(transfer, state, sources[i], to[i], &fetched)
            if status == HIPEP_OK and fetched:
                if pending != NULL and pending != state:
                    status = stream_wait(pending)
                pending = state
        if status != HIPEP_OK:
            return failure(transfer.ort, status, "copying a tensor")
    if pending != NULL:
        status = stream_finish(pending)
        if status != HIPEP_OK:
            return failure(transfer.ort, status, "waiting for the outputs")
    return NULL


cdef void _release_transfer(OrtDataTransferImpl* this) noexcept nogil:
    free(this)


cdef OrtDataTransferImpl* new_data_transfer(
        const Ort* ort, const CopyDevices* devices) noexcept nogil:
    cdef DataTransfer* transfer = <DataTransfer*>calloc(1, sizeof(DataTransfer))
    if transfer == NULL:
        return NULL
    transfer.base.ort_version_supported = ort.claimed
    transfer.base.Release = _release_transfer
    transfer.base.CanCopy = _can_copy
    transfer.base.CopyTensors = _copy_tensors
    transfer.ort = ort
    transfer.devices = devices[0]
    return &transfer.base


# ---- Memcpy nodes -----------------------------------------------------------------------------

cdef struct MemcpyKernel:
    OrtKernelImpl base
    const Ort* ort


cdef OrtStatus* _memcpy(const Ort* ort, OrtKernelContext* context, bint to_host) noexcept nogil:
    cdef const OrtValue* x = NULL
    cdef OrtValue* y = NULL
    cdef const int64_t* dims = NULL
    cdef const void* data = NULL
    cdef void* into = NULL
    cdef void* handle = NULL
    cdef size_t rank = 0, size = 0
    cdef int dtype = 0
    cdef StreamState* state
    cdef hipep_status status
    cdef OrtStatus* error = KernelContext_GetInput(ort, context, 0, &x)
    if error == NULL:
        error = GetTensorElementTypeAndShapeDataReference(ort, x, &dtype, &dims, &rank)
    if error == NULL:
        error = KernelContext_GetOutput(ort, context, 0, dims, rank, &y)
    if error == NULL:
        error = GetTensorData(ort, x, &data)
    if error == NULL:
        error = GetTensorMutableData(ort, y, &into)
    if error == NULL:
        error = GetTensorSizeInBytes(ort, x, &size)
    if error == NULL:
        error = KernelContext_GetGPUComputeStream(ort, context, &handle)
    if error != NULL:
        return error
    if handle == NULL:
        return failure(ort, hipep_fail(HIPEP_INTERNAL, "no stream"), "a Memcpy node")
    if size and into == NULL:  # the allocator has left its reason
        return failure(ort, hipep_last_status(), "a Memcpy node")
    state = <StreamState*>handle
    hipep_set_current_stream(state.stream)
    if to_host:
        status = stream_fetch(state, into, data, size)
        if status == HIPEP_OK:
            status = stream_wait(state)  # the next node reads it on the CPU
    else:
        status = stream_feed(state, into, data, size, HIPEP_COPY_H2D)
        if status == HIPEP_OK:
            note_write(state, into, data, size, current_run())
    return NULL if status == HIPEP_OK else failure(ort, status, "a Memcpy node")


cdef OrtStatus* _memcpy_from_host(OrtKernelImpl* this, OrtKernelContext* context) noexcept nogil:
    return _memcpy((<MemcpyKernel*>this).ort, context, False)


cdef OrtStatus* _memcpy_to_host(OrtKernelImpl* this, OrtKernelContext* context) noexcept nogil:
    return _memcpy((<MemcpyKernel*>this).ort, context, True)


cdef void _release_kernel(OrtKernelImpl* this) noexcept nogil:
    free(this)


cdef OrtStatus* _new_memcpy(const Ort* ort, bint to_host, OrtKernelImpl** out) noexcept nogil:
    cdef MemcpyKernel* kernel = <MemcpyKernel*>calloc(1, sizeof(MemcpyKernel))
    if kernel == NULL:
        return CreateStatus(ort, 1, "hipep: out of host memory")
    kernel.base.ort_version_supported = ort.claimed
    kernel.base.Compute = _memcpy_to_host if to_host else _memcpy_from_host
    kernel.base.Release = _release_kernel
    kernel.ort = ort
    out[0] = &kernel.base
    return NULL


cdef OrtStatus* _new_from_host(void* state, const OrtKernelInfo* info,
                               OrtKernelImpl** out) noexcept nogil:
    return _new_memcpy(<const Ort*>state, False, out)


cdef OrtStatus* _new_to_host(void* state, const OrtKernelInfo* info,
                             OrtKernelImpl** out) noexcept nogil:
    return _new_memcpy(<const Ort*>state, True, out)


cdef bint _has_type(const Ort* ort, int dtype, const OrtDataType** out) noexcept:
    """A release that does not know a type has no such tensors."""
    cdef OrtStatus* status = GetTensorDataType(ort, dtype, out)
    if status != NULL:
        ReleaseStatus(ort, status)
        return False
    return out[0] != NULL


cdef int _add_memcpy(const Ort* ort, OrtKernelRegistry* registry, const char* ep_name,
                     bint to_host) except -1:
    cdef OrtKernelDefBuilder* builder = NULL
    cdef OrtKernelDef* definition = NULL
    cdef const OrtDataType* types[32]
    cdef int count = 0, dtype
    for dtype in range(1, HIPEP_DTYPE_END):
        if dtype != HIPEP_STRING and _has_type(ort, dtype, &types[count]):
            count += 1
    check(ort, CreateKernelDefBuilder(ort, &builder))
    try:
        check(ort, KernelDefBuilder_SetOperatorType(
            ort, builder, "MemcpyToHost" if to_host else "MemcpyFromHost"))
        check(ort, KernelDefBuilder_SetDomain(ort, builder, ""))
        check(ort, KernelDefBuilder_SetSinceVersion(ort, builder, 1, 1))
        check(ort, KernelDefBuilder_SetExecutionProvider(ort, builder, ep_name))
        if to_host:
            check(ort, KernelDefBuilder_SetOutputMemType(ort, builder, 0, -1))
        else:
            check(ort, KernelDefBuilder_SetInputMemType(ort, builder, 0, -2))
        check(ort, KernelDefBuilder_AddTypeConstraint(ort, builder, "T", types, count))
        check(ort, KernelDefBuilder_Build(ort, builder, &definition))
        check(ort, KernelRegistry_AddKernel(
            ort, registry, definition, _new_to_host if to_host else _new_from_host, <void*>ort))
    finally:
        if definition != NULL:
            ReleaseKernelDef(ort, definition)
        ReleaseKernelDefBuilder(ort, builder)
    return 0


cdef OrtKernelRegistry* new_memcpy_registry(const Ort* ort, const char* ep_name) except NULL:
    """Without these kernels onnxruntime takes the CPU's, whose output stays in CPU memory."""
    cdef OrtKernelRegistry* registry = NULL
    check(ort, CreateKernelRegistry(ort, &registry))
    _add_memcpy(ort, registry, ep_name, False)
    _add_memcpy(ort, registry, ep_name, True)
    return registry
