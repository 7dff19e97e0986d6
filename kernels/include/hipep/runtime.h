/* The runtime: devices, memory, streams, events, kernels, counters. One interface, one driver per backend behind it.
 *
 * Every function may be called from any thread and never needs Python. A function that returns a status other than
 * HIPEP_OK has set the text that hipep_last_error() returns on the same thread. */
#ifndef HIPEP_RUNTIME_H
#define HIPEP_RUNTIME_H

#include "hipep/types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hipep_device hipep_device; /* opened once per process, never closed */
typedef struct hipep_stream hipep_stream;
typedef struct hipep_event hipep_event;
typedef struct hipep_graph hipep_graph; /* launches that are started together */

HIPEP_API const char* hipep_last_error(void);
/* The status that came with that text. */
HIPEP_API hipep_status hipep_last_status(void);
/* Sets the thread's error text (printf style) and returns status. */
HIPEP_API hipep_status hipep_fail(hipep_status status, const char* format, ...) __attribute__((format(printf, 2, 3)));

/* ---- Counters: grow for ever, one set per thread; a reader takes differences. ---- */
typedef struct hipep_counters {
  int64_t launches;     /* kernels started */
  int64_t readbacks;    /* device-to-host reads made to decide shapes, branches or K */
  int64_t stream_syncs; /* host waits on a stream or an event while something was pending, readbacks included */
  int64_t h2d_copies, h2d_bytes; /* feeds and Memcpy nodes */
  int64_t d2h_copies, d2h_bytes; /* fetches and Memcpy nodes */
  int64_t device_allocations;    /* calls of the driver's allocator; pool hits are not */
  int64_t plans_built;
  int64_t plan_hits;
} hipep_counters;
HIPEP_API hipep_counters* hipep_thread_counters(void);

/* ---- Backends and devices ---- */
enum { HIPEP_MODE_SERIAL = 0, HIPEP_MODE_FAITHFUL32 = 1, HIPEP_MODE_FAITHFUL64 = 2 }; /* host backend only */
enum { HIPEP_MEMORY_PLAIN = 0, HIPEP_MEMORY_GUARDED = 1 };                            /* host backend only */

/* "" when the backend ("host", "nvidia", "amd") can be used, else the reason why not. */
HIPEP_API const char* hipep_backend_problem(const char* backend);
HIPEP_API int32_t hipep_device_count(const char* backend);

typedef struct hipep_device_info {
  char backend[8];
  int32_t ordinal;
  char name[128];      /* "AMD EPYC 9R14", "AMD Radeon 8060S" */
  char arch[64];       /* "gfx1151", "sm_90", for the host the instruction set in use: "x86-64-v4" */
  int32_t host_mode;   /* HIPEP_MODE_*; 0 on GPUs */
  int32_t host_memory; /* HIPEP_MEMORY_*; on GPUs HIPEP_MEMORY_GUARDED: memory of its own */
  int32_t warp_size;   /* 1 in serial mode */
  int32_t compute_units;
  int32_t max_block; /* threads; 1 in serial mode */
  int32_t integrated;
  int32_t graph_launches; /* a graph is faster from so many launches on; 0: never */
  int64_t shared_bytes;   /* of one block */
  int64_t memory_bytes;
} hipep_device_info;

/* mode and memory are ignored on GPUs. The same arguments give the same object. */
HIPEP_API hipep_status hipep_device_open(const char* backend, int32_t ordinal, int32_t mode, int32_t memory,
                                         hipep_device** out);
HIPEP_API const hipep_device_info* hipep_device_get_info(const hipep_device* device);
HIPEP_API hipep_status hipep_device_free_bytes(hipep_device* device, int64_t* out);

/* ---- Memory ---- */
enum { HIPEP_KIND_DEVICE = 0, HIPEP_KIND_HOST_ACCESSIBLE = 1 }; /* the second: pinned, mapped, readable by the host */

/* The caching pool in front of the driver's allocator. Pointers are aligned to 256 bytes; 0 bytes give a valid pointer.
 * stream (may be NULL): where the memory is used first. A block that was freed while work on another stream was pending
 * is not handed out before that work has finished. */
HIPEP_API hipep_status hipep_allocate(hipep_device* device, size_t bytes, int32_t kind, hipep_stream* stream,
                                      void** out);
/* NULL is allowed. The memory may still be in use by work already enqueued on the calling thread's current stream. */
HIPEP_API void hipep_release(hipep_device* device, void* pointer, int32_t kind);
/* Gives cached blocks back to the driver. */
HIPEP_API void hipep_pool_trim(hipep_device* device);
/* The smallest limit that was added and not removed is what the pool may take of device memory from the driver. Memory
 * that is in use stays when a limit is below it. */
HIPEP_API void hipep_pool_add_limit(hipep_device* device, int64_t bytes);
HIPEP_API void hipep_pool_remove_limit(hipep_device* device, int64_t bytes);
typedef struct hipep_pool_stats {
  int64_t in_use_bytes, cached_bytes, peak_bytes; /* of both kinds */
  int64_t limit_bytes;                            /* of device memory; 0: none */
} hipep_pool_stats;
HIPEP_API void hipep_pool_get_stats(hipep_device* device, hipep_pool_stats* out);

/* The address at which kernels and the copying code of this process reach the memory: differs from the pointer only in
 * guarded host memory, where the pointer that the outside world sees is not readable. Any pointer may be passed. */
HIPEP_API void* hipep_map(hipep_device* device, const void* pointer);
/* 1 if the host may read the pointer as it is (plain memory, host-accessible memory, foreign host memory). */
HIPEP_API int32_t hipep_host_readable(hipep_device* device, const void* pointer);

/* ---- Streams ---- */
HIPEP_API hipep_status hipep_stream_create(hipep_device* device, hipep_stream** out);
/* Orders work on a stream that the caller made (hipStream_t, CUstream) and keeps until hipep_stream_destroy. */
HIPEP_API hipep_status hipep_stream_wrap(hipep_device* device, void* handle, hipep_stream** out);
HIPEP_API void hipep_stream_destroy(hipep_stream* stream); /* waits for its work; NULL is allowed */
/* hipStream_t or CUstream; NULL on the host. */
HIPEP_API void* hipep_stream_get_handle(const hipep_stream* stream);
HIPEP_API hipep_device* hipep_stream_get_device(const hipep_stream* stream);
/* Waits if something was enqueued since the last wait (then counted), else returns at once. Reports errors of the work.
 */
HIPEP_API hipep_status hipep_stream_synchronize(hipep_stream* stream);
/* Waits for what was enqueued until now, while another thread may go on to use the stream; counted. Says whether work
 * has failed, but leaves the error to the next hipep_stream_synchronize. */
HIPEP_API hipep_status hipep_stream_catch_up(hipep_stream* stream);
/* The stream whose pending work hipep_release on this thread must respect; NULL: none. */
HIPEP_API void hipep_set_current_stream(hipep_stream* stream);

/* How the serial host mode spreads one launch over threads; without it a launch runs on the calling thread. */
typedef void (*hipep_parallel_for)(void* context, void (*body)(void* argument, size_t index), size_t total,
                                   void* argument);
HIPEP_API void hipep_stream_set_parallel_for(hipep_stream* stream, hipep_parallel_for function, void* context);

enum { HIPEP_COPY_PLAIN = 0, HIPEP_COPY_H2D = 1, HIPEP_COPY_D2H = 2, HIPEP_COPY_READBACK = 3 }; /* what is counted */
/* Ordered on the stream; the direction is found from the pointers. The host memory must stay valid until the copy is
 * done. */
HIPEP_API hipep_status hipep_copy_async(hipep_stream* stream, void* to, const void* from, size_t bytes,
                                        int32_t counted_as);

HIPEP_API hipep_status hipep_event_create(hipep_device* device, hipep_event** out);
HIPEP_API void hipep_event_destroy(hipep_event* event);
HIPEP_API hipep_status hipep_event_record(hipep_event* event, hipep_stream* stream);
HIPEP_API hipep_status hipep_event_wait(hipep_event* event, hipep_stream* stream); /* the stream waits */
HIPEP_API hipep_status hipep_event_synchronize(hipep_event* event);                /* the host waits; counted */

/* ---- Kernels ---- */
#define HIPEP_MAX_ENTRY_SLOTS 16
/* A kernel by name, resolved at first use on each kind of device. Planners keep these in static tables. */
typedef struct hipep_kernel {
  const char* module; /* the kernel file without suffix: "top_k" */
  const char* name;   /* the entry point: "top_k_select_f32" */
  uint32_t block;     /* threads per block on a GPU: the number in its HIPEP_KERNEL line */
  void* entry[HIPEP_MAX_ENTRY_SLOTS];
} hipep_kernel;

/* The driver's handle of the kernel on this device. */
HIPEP_API hipep_status hipep_kernel_resolve(hipep_device* device, hipep_kernel* kernel, void** entry);

/* args: the kernel's one argument, a POD with all pointers mapped (hipep_map). In serial host mode grid is ignored and
 * the units [0, units) are spread over threads if units * unit_cost (picoseconds) is worth it. */
HIPEP_API hipep_status hipep_launch(hipep_stream* stream, const hipep_kernel* kernel, void* entry, uint32_t grid,
                                    int64_t units, int64_t unit_cost, const void* args, size_t args_bytes);

/* Starts the launches of a graph (hipep_graph_create, plan.h), counted one by one. */
HIPEP_API hipep_status hipep_graph_launch(hipep_stream* stream, hipep_graph* graph);
/* What was started goes on; NULL is allowed. */
HIPEP_API void hipep_graph_destroy(hipep_graph* graph);

#ifdef __cplusplus
}
#endif
#endif
