/* Softmax, LogSoftmax and Hardmax along one axis. Output memory is distinct from the input. */
#ifndef HIPEP_SOFTMAX_H
#define HIPEP_SOFTMAX_H

#include "hipep/rows.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hipep_softmax_args {
  const void* x;
  void* y;
  void* states; /* of split rows */
  hipep_rows rows;
  int32_t logarithm;
} hipep_softmax_args;

typedef struct hipep_one_hot_args {
  const int64_t* indices; /* [outer, inner] */
  void* y;                /* [outer, extent, inner] */
  int64_t count, extent, inner, one;
  hipep_divisor extent_divisor, inner_divisor;
  int32_t large;
} hipep_one_hot_args;

/* x seen as [outer, extent, inner], along the extent: exponentials relative to the greatest element, or with logarithm
 * their logarithms. float16, bfloat16 and float are computed in float. A row with a NaN or +infinity, and one of
 * nothing but -infinity, gives NaN. */
HIPEP_API hipep_status hipep_plan_softmax(hipep_emitter* e, int32_t logarithm, int64_t outer, int64_t extent,
                                          int64_t inner, const hipep_tensor* x, const hipep_tensor* y);
/* 1 at the first greatest element (a NaN is greater than all others), 0 elsewhere. */
HIPEP_API hipep_status hipep_plan_hardmax(hipep_emitter* e, int64_t outer, int64_t extent, int64_t inner,
                                          const hipep_tensor* x, const hipep_tensor* y);

#ifdef __cplusplus
}
#endif
#endif
