/* Copies between strided boxes: what Transpose, Slice, Expand, Tile, Concat, Split and DepthToSpace come down to. */
#ifndef HIPEP_STRIDED_H
#define HIPEP_STRIDED_H

#include "hipep/layout.h"
#include "hipep/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* y[y_offset + sum i * y_strides] = x[x_offset + sum i * x_strides] for all i below dims, in elements. Strides of y are
 * positive and descend, so that no element is written twice; those of x may be 0 or negative. */
typedef struct hipep_strided {
  int32_t rank;
  int64_t dims[HIPEP_LAYOUT_RANK];
  int64_t x_strides[HIPEP_LAYOUT_RANK];
  int64_t y_strides[HIPEP_LAYOUT_RANK];
  int64_t x_offset, y_offset;
} hipep_strided;

typedef struct hipep_strided_args { /* in units of the kernel's width */
  const void* x;
  void* y;
  hipep_layout layout; /* of x and y */
  int32_t packed;      /* 1: the places in y follow each other from 16 aligned bytes on, in rows of a pack or more */
} hipep_strided_args;

/* y[row + column * y_step] = x[column + row * x_step] for each element of batch. */
typedef struct hipep_transpose_args {
  const void* x;
  void* y;
  int64_t rows, columns, x_step, y_step;
  int64_t tiles, row_tiles, column_tiles;
  hipep_divisor row_divisor, column_divisor; /* by the tiles */
  hipep_layout batch;                        /* of x and y */
  int32_t large;                             /* 1: 2^31 tiles or more */
} hipep_transpose_args;

HIPEP_API hipep_status hipep_plan_strided(hipep_emitter* e, const hipep_strided* copy, const hipep_tensor* x,
                                          const hipep_tensor* y);
/* The same on host memory, at once. */
HIPEP_API void hipep_run_strided(const hipep_strided* copy, const void* x, void* y, size_t element_bytes);

#ifdef __cplusplus
}
#endif
#endif
