/* Elementwise ops and Cast. Output memory is distinct from all inputs. */
#ifndef HIPEP_ELEMENTWISE_H
#define HIPEP_ELEMENTWISE_H

#include "hipep/geometry.h"
#include "hipep/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { HIPEP_UNARY_RELU = 0, HIPEP_UNARY_NEG = 1, HIPEP_UNARY_ABS = 2, HIPEP_UNARY_COUNT };
enum {
  HIPEP_BINARY_ADD = 0,
  HIPEP_BINARY_SUB = 1,
  HIPEP_BINARY_MUL = 2,
  HIPEP_BINARY_DIV = 3,
  HIPEP_BINARY_MIN = 4,
  HIPEP_BINARY_MAX = 5,
  HIPEP_BINARY_COUNT
};

typedef struct hipep_map_args { /* y[i] = f(x[i]) */
  const void* x;
  void* y;
  int64_t count;
  int32_t wide; /* 1: both pointers are aligned to 16 bytes */
} hipep_map_args;

typedef struct hipep_binary_args {
  const void* a;
  const void* b;
  void* y;
  int32_t wide; /* 1: rows start at multiples of 16 bytes in every tensor */
  hipep_broadcast shape;
} hipep_binary_args;

/* 1 if there is a kernel, else 0. */
HIPEP_API int32_t hipep_unary_supports(int32_t op, int32_t dtype);
HIPEP_API int32_t hipep_binary_supports(int32_t op, int32_t dtype);
HIPEP_API int32_t hipep_cast_supports(int32_t from, int32_t to);

/* Relu keeps NaN; Neg and Abs of the most negative integer give itself. */
HIPEP_API hipep_status hipep_plan_unary(hipep_emitter* e, int32_t op, const hipep_tensor* x, const hipep_tensor* y);
/* numpy broadcasting to the dims of y. float16 and bfloat16 are computed in float and rounded once. Integers wrap;
 * integer Div truncates toward zero and gives 0 where the divisor is 0. Min and Max give NaN where an operand is NaN.
 */
HIPEP_API hipep_status hipep_plan_binary(hipep_emitter* e, int32_t op, const hipep_tensor* a, const hipep_tensor* b,
                                         const hipep_tensor* y);
/* Between all of bool, the integers and the floats. A float is truncated toward zero to an integer; outside of the
 * integer's range it gives the nearest end of the range, NaN gives 0. Integers wrap. What is not zero (NaN too) is
 * true. Floats are rounded once, to nearest even, with overflow to infinity. saturate concerns 8-bit floats only. */
HIPEP_API hipep_status hipep_plan_cast(hipep_emitter* e, const hipep_tensor* x, const hipep_tensor* y,
                                       int32_t saturate);

#ifdef __cplusplus
}
#endif
#endif
