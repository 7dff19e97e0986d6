/* Normalisations. Output memory is distinct from the inputs. float16, bfloat16 and float are computed in float. */
#ifndef HIPEP_NORMALIZATION_H
#define HIPEP_NORMALIZATION_H

#include "hipep/rows.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  HIPEP_AFFINE_NONE = 0,
  HIPEP_AFFINE_ELEMENT = 1, /* scale[k] for position k of a row */
  HIPEP_AFFINE_CHANNEL = 2  /* scale[row % period * (extent / run) + k / run] */
};

typedef struct hipep_normalize_args {
  const void *x, *skip, *bias, *scale, *shift;
  void *y, *sum, *mean, *inverse;
  void* states; /* of split rows */
  hipep_rows rows;
  int64_t skip_rows, period, run;
  hipep_divisor skip_divisor, period_divisor, run_divisor;
  double epsilon;
  int32_t centered, affine;
} hipep_normalize_args;

/* Rows of neighbouring elements: y = (v - mean) * inverse * scale + shift with v = x + skip + bias, mean the mean of v
 * (0 unless centered) and inverse = 1 / sqrt(mean((v - mean)^2) + epsilon). */
typedef struct hipep_normalization {
  int64_t rows, extent;
  double epsilon;
  int32_t centered;
  int32_t affine;
  int64_t period, run; /* of HIPEP_AFFINE_CHANNEL */
  const hipep_tensor* x;
  const hipep_tensor* skip;    /* NULL, or rows that begin again when there are no more of them */
  const hipep_tensor* bias;    /* NULL, or [extent] */
  const hipep_tensor* scale;   /* NULL without affine */
  const hipep_tensor* shift;   /* NULL, or as scale */
  const hipep_tensor* y;       /* may be absent */
  const hipep_tensor* sum;     /* NULL or absent, or v */
  const hipep_tensor* mean;    /* NULL or absent, or [rows]; any floating-point type */
  const hipep_tensor* inverse; /* the same */
} hipep_normalization;

HIPEP_API hipep_status hipep_plan_normalize(hipep_emitter* e, const hipep_normalization* what);

/* The dimensions from axis on are a row. scale and shift broadcast to x; their type is that of y. */
HIPEP_API hipep_status hipep_plan_layer_normalization(hipep_emitter* e, int32_t axis, int32_t centered, double epsilon,
                                                      const hipep_tensor* x, const hipep_tensor* scale,
                                                      const hipep_tensor* shift, const hipep_tensor* y,
                                                      const hipep_tensor* mean, const hipep_tensor* inverse);

/* (x - mean) / (deviation + 1e-9) over a set of axes. */
HIPEP_API hipep_status hipep_plan_mean_variance_normalization(hipep_emitter* e, const int32_t* axes, int32_t axis_count,
                                                              const hipep_tensor* x, const hipep_tensor* y);

typedef struct hipep_lp_args {
  const void* x;
  void* y;
  void* states;
  hipep_rows rows;
  int32_t p;
} hipep_lp_args;

/* x / norm along the extent of [outer, extent, inner]; p is 1 or 2; 0 where the norm is 0. */
HIPEP_API hipep_status hipep_plan_lp_normalization(hipep_emitter* e, int32_t p, int64_t outer, int64_t extent,
                                                   int64_t inner, const hipep_tensor* x, const hipep_tensor* y);

typedef struct hipep_batch_normalization_args {
  const void *x, *scale, *shift, *mean, *variance;
  void* y;
  int64_t count, channels, run; /* elements; elements of one channel in a row */
  hipep_divisor channels_divisor, run_divisor;
  double epsilon;
  int32_t wide, large;
} hipep_batch_normalization_args;

/* (x - mean) / sqrt(variance + epsilon) * scale + shift by channel, the second dimension of x; the statistics are given
 * and may be of any floating-point type. */
HIPEP_API hipep_status hipep_plan_batch_normalization(hipep_emitter* e, double epsilon, const hipep_tensor* x,
                                                      const hipep_tensor* scale, const hipep_tensor* shift,
                                                      const hipep_tensor* mean, const hipep_tensor* variance,
                                                      const hipep_tensor* y);

typedef struct hipep_local_response_args {
  const void* x;
  void* y;
  int64_t count, channels, run;
  int64_t before, after; /* channels of the window beside the element's own */
  hipep_divisor channels_divisor, run_divisor;
  double factor, beta, bias;
  int32_t large;
} hipep_local_response_args;

/* x / (bias + factor * sum of squares over the window of channels) ^ beta; the channel is the second dimension. */
HIPEP_API hipep_status hipep_plan_local_response(hipep_emitter* e, int64_t size, double alpha, double beta, double bias,
                                                 const hipep_tensor* x, const hipep_tensor* y);

#ifdef __cplusplus
}
#endif
#endif
