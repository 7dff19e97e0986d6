/* How two operands lie under one box of indices, as kernels see it: few axes, in the kernel's units. */
#ifndef HIPEP_LAYOUT_H
#define HIPEP_LAYOUT_H

#include "hipep/geometry.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HIPEP_LAYOUT_RANK 16 /* Tile splits each axis in two */

/* Elements of a box, row major, and where each lies in two operands. Strides may be 0 or negative. */
typedef struct hipep_layout {
  int64_t count;
  int32_t rank;  /* >= 1 */
  int32_t large; /* 1: an index or an offset may be 2^31 or more */
  int64_t dims[HIPEP_LAYOUT_RANK];
  int64_t strides[2][HIPEP_LAYOUT_RANK];
  hipep_divisor divisors[HIPEP_LAYOUT_RANK];
} hipep_layout;

/* Appends an axis inside the others, or widens the last one where both operands allow it. */
HIPEP_API void hipep_layout_add(hipep_layout* layout, int64_t dim, int64_t stride0, int64_t stride1);
/* Computes count, large and divisors when all axes are there. */
HIPEP_API void hipep_layout_finish(hipep_layout* layout);

#ifdef __cplusplus
}
#endif
#endif
