/* What planners append to. A planner (kernels/<op>.cc) picks the variant of an op from its table by geometry and device
 * and appends launches; it starts nothing, allocates nothing and keeps nothing. */
#ifndef HIPEP_PLAN_H
#define HIPEP_PLAN_H

#include "hipep/runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HIPEP_MAX_ARGS_BYTES 1024

/* Words (uint32_t) in device memory, the same ones for all launches of a stream: zero when a launch begins and left as
 * zero when it ends. Blocks that share work draw from them to find the last one. */
#define HIPEP_TICKET_COUNT 4096
#define HIPEP_TICKETS_VALUE (1 << 27)

typedef struct hipep_planned_launch {
  const hipep_kernel* kernel;
  void* entry;
  uint32_t grid; /* blocks */
  uint32_t args_bytes;
  int64_t units;       /* rows or elements; >= 1 */
  int64_t unit_cost;   /* about how many picoseconds one unit costs one CPU thread */
  uint32_t args_begin; /* into the plan's argument bytes */
  int32_t node;        /* index of the node in its group */
} hipep_planned_launch;

/* One pointer inside the argument bytes: base address of value + offset is written at args[at] before each run. */
typedef struct hipep_patch {
  uint32_t at;
  int32_t value;
  int64_t offset;
} hipep_patch;

typedef struct hipep_emitter hipep_emitter;
struct hipep_emitter {
  hipep_device* device;
  const hipep_device_info* info;
  hipep_planned_launch* launches;
  int32_t launch_count, launch_capacity;
  uint8_t* args;
  uint32_t args_bytes, args_capacity;
  hipep_patch* patches;
  int32_t patch_count, patch_capacity;
  int32_t node;
  /* Reserves bytes (256-aligned) that live until this node's launches are done; the plan's own function. */
  hipep_status (*workspace)(hipep_emitter* emitter, int64_t bytes, hipep_tensor* out);
  int32_t debug;         /* 1: a planner should describe the path it took with hipep_describe */
  char description[256]; /* of the last node */
};

/* A pointer member of the argument struct and the tensor it points to. */
typedef struct hipep_pointer {
  uint32_t member;            /* offsetof */
  const hipep_tensor* tensor; /* NULL or value -1: the pointer stays NULL */
} hipep_pointer;

/* Appends one launch. kernel->block threads a block; args is copied. */
HIPEP_API hipep_status hipep_emit(hipep_emitter* emitter, hipep_kernel* kernel, uint32_t grid, int64_t units,
                                  int64_t unit_cost, const void* args, size_t args_bytes, const hipep_pointer* pointers,
                                  int32_t pointer_count);
/* The tensor of the stream's tickets. */
HIPEP_API hipep_tensor hipep_tickets(void);
HIPEP_API void hipep_describe(hipep_emitter* emitter, const char* format, ...) __attribute__((format(printf, 2, 3)));

/* Records launches, of which args has the argument bytes with all pointers mapped, without starting them. The graph is
 * for this stream. A driver that cannot do it says so by a status: the launches can still be started one by one. */
HIPEP_API hipep_status hipep_graph_create(hipep_stream* stream, const hipep_planned_launch* launches, int32_t count,
                                          const uint8_t* args, hipep_graph** out);

HIPEP_API void hipep_emitter_reset(hipep_emitter* emitter); /* keeps the arrays */
HIPEP_API void hipep_emitter_free(hipep_emitter* emitter);

#ifdef __cplusplus
}
#endif
#endif
