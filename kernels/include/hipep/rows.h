/* Operators that reduce each row and then map it: softmax and the normalisations. A row is read once where a group of
 * threads can hold it; a longer one is cut into segments, whose statistics a second launch merges. */
#ifndef HIPEP_ROWS_H
#define HIPEP_ROWS_H

#include "hipep/geometry.h"
#include "hipep/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HIPEP_ROW_BLOCK 256
/* Elements of a row that one thread holds, by the bytes of what it computes in: a multiple of all packs. */
#define HIPEP_ROW_ITEMS(bytes, wide) ((bytes) == 8 ? 8 : (wide) ? 32 : 16)
/* What a thread of the host holds, in its cache. */
#define HIPEP_ROW_HOST_ITEMS(bytes) (65536 / (bytes))

/* Row (o, i) of [outer, extent, inner] is number o * inner + i. */
typedef struct hipep_rows {
  int64_t count, extent, inner;
  int64_t segment, splits; /* elements of a segment; segments of a row */
  hipep_divisor inner_divisor, splits_divisor;
  int32_t threads; /* that work on one row or segment: a power of two, up to the warp size, or the whole block */
  int32_t wide;    /* 1: 16-byte accesses */
  int32_t large;   /* 1: count * splits is 2^31 or more */
} hipep_rows;

/* The launches that a family has for one element type. */
typedef struct hipep_row_kernels {
  hipep_kernel *held, *held_wide, *split, *split_wide; /* rows of neighbouring elements */
  hipep_kernel* columns;                               /* inner > 1; NULL: the family has none */
} hipep_row_kernels;

/* aligned: all tensors that are read or written in packs of 16 bytes allow it. */
HIPEP_API hipep_rows hipep_make_rows(const hipep_device_info* info, int64_t outer, int64_t extent, int64_t inner,
                                     int32_t dtype, int32_t aligned);
/* Emits one or two launches. args is copied; its hipep_rows is made with hipep_make_rows; states: offset in args of the
 * pointer to the segments' statistics. */
HIPEP_API hipep_status hipep_emit_rows(hipep_emitter* e, const hipep_row_kernels* kernels, const hipep_rows* rows,
                                       int32_t dtype, const void* args, size_t args_bytes,
                                       const hipep_pointer* pointers, int32_t pointer_count, uint32_t states);

#ifdef __cplusplus
}
#endif
#endif
