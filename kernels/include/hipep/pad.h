/* Pad and CenterCropPad: what lies outside of the input is a constant, or comes from inside. */
#ifndef HIPEP_PAD_H
#define HIPEP_PAD_H

#include "hipep/geometry.h"
#include "hipep/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { HIPEP_PAD_CONSTANT = 0, HIPEP_PAD_EDGE = 1, HIPEP_PAD_REFLECT = 2, HIPEP_PAD_WRAP = 3 };

typedef struct hipep_pad_args { /* in units of the kernel's width */
  const void* x;
  const void* value; /* one element of value_bytes; NULL: zero */
  void* y;
  int64_t count;
  int32_t rank; /* >= 1 */
  int32_t mode, value_bytes;
  int32_t large;                   /* 1: an index may be 2^31 or more */
  int64_t dims[HIPEP_MAX_RANK];    /* of y */
  int64_t extents[HIPEP_MAX_RANK]; /* of x; outermost first */
  int64_t before[HIPEP_MAX_RANK];
  int64_t strides[HIPEP_MAX_RANK]; /* of x */
  hipep_divisor divisors[HIPEP_MAX_RANK];
} hipep_pad_args;

/* before: what is put before each axis of x; y's extents say what comes after. Negative pads remove elements: of the
 * constant mode anywhere, of the others before the rest is repeated. value may be NULL or absent. */
HIPEP_API hipep_status hipep_plan_pad(hipep_emitter* e, int32_t mode, const int64_t* before, const hipep_tensor* x,
                                      const hipep_tensor* value, const hipep_tensor* y);

#ifdef __cplusplus
}
#endif
#endif
