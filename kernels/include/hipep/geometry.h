/* What planners of several families share: kernel slots by dtype, grid sizes, division by invariants, broadcasting. */
#ifndef HIPEP_GEOMETRY_H
#define HIPEP_GEOMETRY_H

#include "hipep/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* n / divisor as (high half of n * multiplier + n) >> shift: of 64 bits for n < 2^63, of 32 bits for n < 2^31. */
typedef struct hipep_divisor {
  uint64_t multiplier64;
  uint32_t multiplier32, shift;
} hipep_divisor;

/* divisor >= 1; multiplier32 holds for divisors below 2^31. */
HIPEP_API hipep_divisor hipep_make_divisor(int64_t divisor);

#define HIPEP_BROADCAST_OPERANDS 3
#define HIPEP_OUTER_RANK (HIPEP_MAX_RANK - 1)

/* An output seen as rows of inner elements under rank outer dimensions, outermost first. Operand k moves by
 * strides[k][axis] from row to row and by step[k] (0 or 1) within a row, all in elements. */
typedef struct hipep_broadcast {
  int64_t count, inner;
  int64_t dims[HIPEP_OUTER_RANK];
  int64_t strides[HIPEP_BROADCAST_OPERANDS][HIPEP_OUTER_RANK];
  hipep_divisor divisors[HIPEP_OUTER_RANK];
  hipep_divisor inner_divisor;
  int32_t step[HIPEP_BROADCAST_OPERANDS];
  int32_t rank;
  int32_t large; /* 1: an index may be 2^31 or more */
} hipep_broadcast;

/* Merges the dimensions of y as far as the operands allow. HIPEP_INVALID if an operand does not broadcast to y. */
HIPEP_API hipep_status hipep_make_broadcast(const hipep_tensor* const* operands, int32_t operand_count,
                                            const hipep_tensor* y, hipep_broadcast* out);

/* Workspace of the emitter's node for a tensor of this type in the shape of `like`. */
HIPEP_API hipep_status hipep_make_temporary(hipep_emitter* e, int32_t dtype, const hipep_tensor* like,
                                            hipep_tensor* out);

/* Position of a dtype in kernel tables: float16 bfloat16 float double int8..int64 uint8..uint64 bool; -1 for others. */
enum { HIPEP_NUMERIC_SLOTS = 12, HIPEP_SLOTS = 13 };
static inline int32_t hipep_dtype_slot(int32_t dtype) {
  switch (dtype) {
    case HIPEP_FLOAT16: return 0;
    case HIPEP_BFLOAT16: return 1;
    case HIPEP_FLOAT: return 2;
    case HIPEP_DOUBLE: return 3;
    case HIPEP_INT8: return 4;
    case HIPEP_INT16: return 5;
    case HIPEP_INT32: return 6;
    case HIPEP_INT64: return 7;
    case HIPEP_UINT8: return 8;
    case HIPEP_UINT16: return 9;
    case HIPEP_UINT32: return 10;
    case HIPEP_UINT64: return 11;
    case HIPEP_BOOL: return 12;
    default: return -1;
  }
}

static inline int64_t hipep_divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

/* Blocks for so many threads' work in a loop of grid stride: what fills the device a few times over. */
static inline uint32_t hipep_grid(const hipep_device_info* info, int64_t threads, int32_t block) {
  if (info->warp_size == 1) return 1;
  const int64_t most = (int64_t)(info->compute_units > 0 ? info->compute_units : 1) * (8192 / block);
  const int64_t blocks = (threads + block - 1) / block;
  return (uint32_t)(blocks < 1 ? 1 : blocks < most ? blocks : most);
}

#ifdef __cplusplus
}
#endif
#endif
