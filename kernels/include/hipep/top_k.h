/* TopK of ONNX: the k best elements along an axis, best first. */
#ifndef HIPEP_TOP_K_H
#define HIPEP_TOP_K_H

#include "hipep/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hipep_top_k_geometry {
  int64_t k;       /* 0..extent of the axis */
  int32_t axis;    /* 0..rank-1 */
  int32_t largest; /* 0: the smallest elements */
  int32_t sorted;  /* the output is sorted either way */
  int32_t variant; /* 0: chosen by geometry and device; else one of 1..hipep_top_k_variant_count() - 1 */
} hipep_top_k_geometry;

/* NaN ranks above everything and ties with NaN, -0.0 ties with +0.0, and of equal elements the lower index comes first.
 * values and indices (int64) may be absent. HIPEP_INVALID if a shape, a type or a forced variant does not fit. */
HIPEP_API hipep_status hipep_plan_top_k(hipep_emitter* emitter, const hipep_top_k_geometry* geometry,
                                        const hipep_tensor* x, const hipep_tensor* values, const hipep_tensor* indices);

HIPEP_API int32_t hipep_top_k_variant_count(void);
HIPEP_API const char* hipep_top_k_variant_name(int32_t variant); /* "choose" for 0; NULL if there is none */

#ifdef __cplusplus
}
#endif
#endif
