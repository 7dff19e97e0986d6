/* Ops that move elements without looking at them. Output memory is distinct from all inputs. */
#ifndef HIPEP_MOVEMENT_H
#define HIPEP_MOVEMENT_H

#include "hipep/geometry.h"
#include "hipep/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HIPEP_STORE_BYTES 512

typedef struct hipep_copy_args {
  const void* x;
  void* y;
  int64_t bytes;
  int32_t width; /* of one access: 16, 8, 4, 2 or 1 bytes, which both pointers are aligned to */
} hipep_copy_args;

typedef struct hipep_store_args {
  void* y;
  int64_t bytes;
  uint8_t value[HIPEP_STORE_BYTES];
} hipep_store_args;

typedef struct hipep_gather_args { /* counted in units of the kernel's width */
  const void* data;
  const void* indices;
  void* y;
  int64_t count, extent, index_count, inner;
  hipep_divisor inner_divisor, index_divisor;
  int32_t wide_indices; /* 1: int64, 0: int32 */
  int32_t large;        /* 1: count is 2^31 or more */
} hipep_gather_args;

/* x and y have the same number of bytes; shapes and dtypes may differ. */
HIPEP_API hipep_status hipep_plan_copy(hipep_emitter* e, const hipep_tensor* x, const hipep_tensor* y);
/* Writes the bytes, at most HIPEP_STORE_BYTES, that y has. */
HIPEP_API hipep_status hipep_plan_store(hipep_emitter* e, const void* bytes, size_t size, const hipep_tensor* y);
/* indices: int32 or int64, negative ones count from the end; one that is out of range gives zeros. y has the dims of
 * data with axis replaced by the dims of indices. */
HIPEP_API hipep_status hipep_plan_gather(hipep_emitter* e, int32_t axis, const hipep_tensor* data,
                                         const hipep_tensor* indices, const hipep_tensor* y);

#ifdef __cplusplus
}
#endif
#endif
