// Kernel tables of the four floating-point types.
#pragma once

#include "hipep/geometry.h"

#define HIPEP_FLOAT_KERNEL(file, name, block) \
  {                                           \
    file, name, block, {}                     \
  }
#define HIPEP_FLOAT_KERNELS(file, name, block)                                                  \
  {HIPEP_FLOAT_KERNEL(file, name "_f16", block), HIPEP_FLOAT_KERNEL(file, name "_bf16", block), \
   HIPEP_FLOAT_KERNEL(file, name "_f32", block), HIPEP_FLOAT_KERNEL(file, name "_f64", block)}

namespace hipep {

constexpr int32_t kFloats = 4;

inline bool is_float(int32_t dtype) {
  const int32_t slot = hipep_dtype_slot(dtype);
  return slot >= 0 && slot < kFloats;
}
// In which kernels of a floating-point type compute.
inline int32_t work_type(int32_t dtype) { return dtype == HIPEP_DOUBLE ? HIPEP_DOUBLE : HIPEP_FLOAT; }

inline hipep_status check_map(const char* what, const hipep_tensor* x, const hipep_tensor* y) {
  if (!is_float(x->dtype) || x->dtype != y->dtype) {
    return hipep_fail(HIPEP_UNSUPPORTED, "no %s kernel takes %s to %s; cast to one floating-point type first", what,
                      hipep_dtype_name(x->dtype), hipep_dtype_name(y->dtype));
  }
  if (hipep_element_count(x) != hipep_element_count(y)) {
    return hipep_fail(HIPEP_INVALID, "%s of %lld elements does not fit an output of %lld", what,
                      static_cast<long long>(hipep_element_count(x)), static_cast<long long>(hipep_element_count(y)));
  }
  return HIPEP_OK;
}

inline hipep_status check_count(const char* what, const hipep_tensor* tensor, int64_t count) {
  if (hipep_element_count(tensor) == count) return HIPEP_OK;
  return hipep_fail(HIPEP_INVALID, "%s has %lld elements; %lld are needed", what,
                    static_cast<long long>(hipep_element_count(tensor)), static_cast<long long>(count));
}

}  // namespace hipep
