/* What a faithful kernel library (warps of 32 or 64 lanes) exports. */
#ifndef HIPEP_RUNTIME_FAITHFUL_H
#define HIPEP_RUNTIME_FAITHFUL_H

#include "hipep/types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hipep_faithful_entry {
  const char* name;
  void (*entry)(const void* args);
  uint32_t block; /* threads */
} hipep_faithful_entry;

HIPEP_API const hipep_faithful_entry* hipep_faithful_table(size_t* count);

/* Runs all blocks on the calling thread; several threads may launch at the same time. Other than 0: the kernel is wrong
 * (divergence, a shared array overrun, ...) or does not fit, and error says what and where; later launches work. */
HIPEP_API int hipep_faithful_launch(void (*entry)(const void*), uint32_t grid, uint32_t block, const void* args,
                                    char* error, size_t error_bytes);

#ifdef __cplusplus
}
#endif
#endif
