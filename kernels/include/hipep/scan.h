/* Running sums and products along one axis. Output memory is distinct from the input. */
#ifndef HIPEP_SCAN_H
#define HIPEP_SCAN_H

#include "hipep/geometry.h"
#include "hipep/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { HIPEP_SCAN_SUM = 0, HIPEP_SCAN_PRODUCT = 1, HIPEP_SCAN_COUNT };

/* x seen as [outer, extent, inner], the extent cut into splits segments. */
typedef struct hipep_scan_args {
  const void* x;
  void* y;
  void* totals;  /* NULL, or [outer, splits, inner]: of the segments */
  int64_t units; /* outer * splits * inner */
  int64_t extent, inner, segment, splits;
  hipep_divisor inner_divisor, splits_divisor;
  int32_t exclusive, reverse;
  int32_t only_totals; /* 1: the first of two launches */
  int32_t large;       /* 1: units is 2^31 or more */
} hipep_scan_args;

HIPEP_API int32_t hipep_scan_supports(int32_t dtype);
/* Floats are accumulated in double in a fixed order and rounded once; integers wrap. exclusive: without the element
 * itself; reverse: from the end. */
HIPEP_API hipep_status hipep_plan_scan(hipep_emitter* e, int32_t op, int32_t exclusive, int32_t reverse, int64_t outer,
                                       int64_t extent, int64_t inner, const hipep_tensor* x, const hipep_tensor* y);

#ifdef __cplusplus
}
#endif
#endif
