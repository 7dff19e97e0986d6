/* Reductions over axes. Output memory is distinct from the input. Whether reduced axes are kept is the caller's matter.
 */
#ifndef HIPEP_REDUCE_H
#define HIPEP_REDUCE_H

#include "hipep/geometry.h"
#include "hipep/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  HIPEP_REDUCE_MAX = 0,
  HIPEP_REDUCE_MIN = 1,
  HIPEP_REDUCE_SUM = 2,
  HIPEP_REDUCE_MEAN = 3,
  HIPEP_REDUCE_PROD = 4,
  HIPEP_REDUCE_L1 = 5,
  HIPEP_REDUCE_L2 = 6,
  HIPEP_REDUCE_LOG_SUM = 7,
  HIPEP_REDUCE_LOG_SUM_EXP = 8,
  HIPEP_REDUCE_SUM_SQUARE = 9,
  HIPEP_REDUCE_DEVIATION = 10, /* the root of the mean square, and 1e-9 as MeanVarianceNormalization adds */
  HIPEP_REDUCE_COUNT
};
/* What is done with the sum of a float reduction, or of an integer one (the first three). */
enum {
  HIPEP_FINISH_NONE = 0,
  HIPEP_FINISH_MEAN = 1,
  HIPEP_FINISH_UNSIGNED_MEAN = 2,
  HIPEP_FINISH_ROOT = 3,
  HIPEP_FINISH_LOGARITHM = 4,
  HIPEP_FINISH_DEVIATION = 5
};

/* x seen as [outer, extent, inner], the extent cut into splits segments: output (o, s, i) reduces segment s. */
typedef struct hipep_reduce_args {
  const void* x;
  void* y;
  const int64_t* candidates; /* arg reductions: NULL, or [outer, extent, inner] positions in x to choose from */
  int64_t outputs, extent, inner, segment, splits;
  int64_t source_extent; /* arg reductions: of x where candidates is set, else extent */
  int64_t mask, initial; /* of ordering keys, see device/order.h */
  hipep_divisor inner_divisor, splits_divisor;
  int32_t by_block; /* 1: a block for each output, 0: a thread */
  int32_t wide;     /* 1: by_block with inner 1 and 16-byte accesses */
  int32_t large;    /* 1: outputs is 2^31 or more */
  int32_t select_last;
  int32_t finish;  /* HIPEP_FINISH_* */
  int64_t reduced; /* elements that a whole reduction takes, for the mean */
} hipep_reduce_args;

HIPEP_API int32_t hipep_arg_reduce_supports(int32_t dtype);
HIPEP_API int32_t hipep_reduce_supports(int32_t op, int32_t dtype);

/* ArgMax and ArgMin into int64. NaN beats everything; among equals the lower index wins, with select_last_index the
 * higher. -0 equals +0. */
HIPEP_API hipep_status hipep_plan_arg_reduce(hipep_emitter* e, int32_t find_max, int32_t select_last_index,
                                             int32_t axis, const hipep_tensor* x, const hipep_tensor* y);
/* Over a set of axes; none of them: each element by itself. NaN beats everything in MAX and MIN. Nothing reduced gives
 * the lowest value for MAX, the highest for MIN, 1 for PROD, -infinity for LOG_SUM and LOG_SUM_EXP, NaN for the MEAN of
 * floats, 0 for all else. Floats are accumulated in double in a fixed order and rounded once. Sums and products of
 * integers wrap; their mean, root and logarithm are truncated toward zero. */
HIPEP_API hipep_status hipep_plan_reduce(hipep_emitter* e, int32_t op, const int32_t* axes, int32_t axis_count,
                                         const hipep_tensor* x, const hipep_tensor* y);

#ifdef __cplusplus
}
#endif
#endif
