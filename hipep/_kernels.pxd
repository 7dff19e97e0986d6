"""The runtime's C interface (kernels/include/hipep/types.h, runtime.h, plan.h)."""
from libc.stddef cimport size_t
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t

cdef extern from "hipep/types.h" nogil:
    enum:
        HIPEP_MAX_RANK
        HIPEP_FLOAT
        HIPEP_UINT8
        HIPEP_INT8
        HIPEP_UINT16
        HIPEP_INT16
        HIPEP_INT32
        HIPEP_INT64
        HIPEP_STRING
        HIPEP_BOOL
        HIPEP_FLOAT16
        HIPEP_DOUBLE
        HIPEP_UINT32
        HIPEP_UINT64
        HIPEP_BFLOAT16
        HIPEP_DTYPE_END
        HIPEP_OK
        HIPEP_INVALID
        HIPEP_UNSUPPORTED
        HIPEP_OUT_OF_MEMORY
        HIPEP_DEVICE_ERROR
        HIPEP_NO_DRIVER
        HIPEP_INTERNAL
        HIPEP_NEEDS_HOST
    ctypedef int32_t hipep_status
    ctypedef struct hipep_tensor:
        int32_t dtype
        int32_t rank
        int64_t dims[8]
        int64_t offset
        int32_t value
        uint32_t alignment
    size_t hipep_dtype_size(int32_t dtype)
    const char* hipep_dtype_name(int32_t dtype)
    int64_t hipep_element_count(const hipep_tensor* tensor)

cdef extern from "hipep/runtime.h" nogil:
    enum:
        HIPEP_MODE_SERIAL
        HIPEP_MODE_FAITHFUL32
        HIPEP_MODE_FAITHFUL64
        HIPEP_MEMORY_PLAIN
        HIPEP_MEMORY_GUARDED
        HIPEP_KIND_DEVICE
        HIPEP_KIND_HOST_ACCESSIBLE
        HIPEP_COPY_PLAIN
        HIPEP_COPY_H2D
        HIPEP_COPY_D2H
        HIPEP_COPY_READBACK
    ctypedef struct hipep_device:
        pass
    ctypedef struct hipep_stream:
        pass
    ctypedef struct hipep_event:
        pass
    ctypedef struct hipep_graph:
        pass
    ctypedef struct hipep_kernel:
        const char* module
        const char* name
        uint32_t block
    ctypedef struct hipep_counters:
        int64_t launches
        int64_t readbacks
        int64_t stream_syncs
        int64_t h2d_copies
        int64_t h2d_bytes
        int64_t d2h_copies
        int64_t d2h_bytes
        int64_t device_allocations
        int64_t plans_built
        int64_t plan_hits
    ctypedef struct hipep_device_info:
        char backend[8]
        int32_t ordinal
        char name[128]
        char arch[64]
        int32_t host_mode
        int32_t host_memory
        int32_t warp_size
        int32_t compute_units
        int32_t max_block
        int32_t integrated
        int32_t graph_launches
        int64_t shared_bytes
        int64_t memory_bytes
    ctypedef struct hipep_pool_stats:
        int64_t in_use_bytes
        int64_t cached_bytes
        int64_t peak_bytes
        int64_t limit_bytes
    ctypedef void (*hipep_parallel_for)(
        void* context, void (*body)(void*, size_t) noexcept nogil, size_t total,
        void* argument) noexcept nogil

    const char* hipep_last_error()
    hipep_status hipep_last_status()
    hipep_status hipep_fail(hipep_status status, const char* format, ...)
    hipep_counters* hipep_thread_counters()
    const char* hipep_backend_problem(const char* backend)
    int32_t hipep_device_count(const char* backend)
    hipep_status hipep_device_open(const char* backend, int32_t ordinal, int32_t mode,
                                   int32_t memory, hipep_device** out)
    const hipep_device_info* hipep_device_get_info(const hipep_device* device)
    hipep_status hipep_device_free_bytes(hipep_device* device, int64_t* out)
    hipep_status hipep_allocate(hipep_device* device, size_t bytes, int32_t kind,
                                hipep_stream* stream, void** out)
    void hipep_release(hipep_device* device, void* pointer, int32_t kind)
    void hipep_pool_trim(hipep_device* device)
    void hipep_pool_add_limit(hipep_device* device, int64_t bytes)
    void hipep_pool_remove_limit(hipep_device* device, int64_t bytes)
    void hipep_pool_get_stats(hipep_device* device, hipep_pool_stats* out)
    void* hipep_map(hipep_device* device, const void* pointer)
    int32_t hipep_host_readable(hipep_device* device, const void* pointer)
    hipep_status hipep_stream_create(hipep_device* device, hipep_stream** out)
    hipep_status hipep_stream_wrap(hipep_device* device, void* handle, hipep_stream** out)
    void hipep_stream_destroy(hipep_stream* stream)
    void* hipep_stream_get_handle(const hipep_stream* stream)
    hipep_device* hipep_stream_get_device(const hipep_stream* stream)
    hipep_status hipep_stream_synchronize(hipep_stream* stream)
    hipep_status hipep_stream_catch_up(hipep_stream* stream)
    void hipep_set_current_stream(hipep_stream* stream)
    void hipep_stream_set_parallel_for(hipep_stream* stream, hipep_parallel_for function,
                                       void* context)
    hipep_status hipep_copy_async(hipep_stream* stream, void* to, const void* source,
                                  size_t bytes, int32_t counted_as)
    hipep_status hipep_event_create(hipep_device* device, hipep_event** out)
    void hipep_event_destroy(hipep_event* event)
    hipep_status hipep_event_record(hipep_event* event, hipep_stream* stream)
    hipep_status hipep_event_wait(hipep_event* event, hipep_stream* stream)
    hipep_status hipep_event_synchronize(hipep_event* event)
    hipep_status hipep_launch(hipep_stream* stream, const hipep_kernel* kernel, void* entry,
                              uint32_t grid, int64_t units, int64_t unit_cost, const void* args,
                              size_t args_bytes)
    hipep_status hipep_graph_launch(hipep_stream* stream, hipep_graph* graph)
    void hipep_graph_destroy(hipep_graph* graph)

cdef extern from "hipep/plan.h" nogil:
    ctypedef struct hipep_planned_launch:
        const hipep_kernel* kernel
        void* entry
        uint32_t grid
        uint32_t args_bytes
        int64_t units
        int64_t unit_cost
        uint32_t args_begin
        int32_t node
    ctypedef struct hipep_patch:
        uint32_t at
        int32_t value
        int64_t offset
    ctypedef struct hipep_emitter
    enum:
        HIPEP_TICKET_COUNT
        HIPEP_TICKETS_VALUE
    ctypedef hipep_status (*hipep_workspace_fn)(
        hipep_emitter*, int64_t, hipep_tensor*) noexcept nogil
    ctypedef struct hipep_emitter:
        hipep_device* device
        const hipep_device_info* info
        hipep_planned_launch* launches
        int32_t launch_count
        int32_t launch_capacity
        uint8_t* args
        uint32_t args_bytes
        uint32_t args_capacity
        hipep_patch* patches
        int32_t patch_count
        int32_t patch_capacity
        int32_t node
        hipep_workspace_fn workspace
        int32_t debug
        char description[256]
    hipep_status hipep_graph_create(hipep_stream* stream, const hipep_planned_launch* launches,
                                    int32_t count, const uint8_t* args, hipep_graph** out)
    void hipep_describe(hipep_emitter* emitter, const char* format, ...)
    void hipep_emitter_reset(hipep_emitter* emitter)
    void hipep_emitter_free(hipep_emitter* emitter)
