#include "float_kernels.h"
#include "hipep/elementwise.h"
#include "hipep/normalization.h"

using namespace hipep;

namespace {

constexpr int32_t kBlock = 256;

#define KERNEL(name) HIPEP_FLOAT_KERNEL("batch_normalization", "batch_normalize_" name, kBlock)

// Statistics of the input's type, and of the type that is computed in.
hipep_kernel same[kFloats] = {KERNEL("f16_f16"), KERNEL("bf16_bf16"), KERNEL("f32_f32"), KERNEL("f64_f64")};
hipep_kernel computed[kFloats] = {KERNEL("f16_f32"), KERNEL("bf16_f32"), KERNEL("f32_f32"), KERNEL("f64_f64")};

struct Statistics {
  static constexpr int32_t count = 4;
  hipep_tensor of[count];

  bool all_are(int32_t dtype) const {
    for (const hipep_tensor& one : of) {
      if (one.dtype != dtype) return false;
    }
    return true;
  }
  hipep_status cast(hipep_emitter* e, int32_t dtype) {
    for (hipep_tensor& one : of) {
      const hipep_tensor from = one;
      if (from.dtype == dtype) continue;
      hipep_status status = hipep_make_temporary(e, dtype, &from, &one);
      if (status == HIPEP_OK) status = hipep_plan_cast(e, &from, &one, 1);
      if (status != HIPEP_OK) return status;
    }
    return HIPEP_OK;
  }
};

}  // namespace

hipep_status hipep_plan_batch_normalization(hipep_emitter* e, double epsilon, const hipep_tensor* x,
                                            const hipep_tensor* scale, const hipep_tensor* shift,
                                            const hipep_tensor* mean, const hipep_tensor* variance,
                                            const hipep_tensor* y) {
  static const char* const names[] = {"scale", "B", "the mean", "the variance"};
  hipep_batch_normalization_args args = {};
  args.count = hipep_element_count(x);
  args.channels = x->rank > 1 ? x->dims[1] : 1;
  args.run = 1;
  for (int32_t i = 2; i < x->rank; ++i) args.run *= x->dims[i];
  args.epsilon = epsilon;
  Statistics statistics = {{*scale, *shift, *mean, *variance}};
  hipep_status status = check_map("batch normalization", x, y);
  for (int32_t i = 0; i < Statistics::count && status == HIPEP_OK; ++i) {
    status = check_count(names[i], &statistics.of[i], args.channels);
  }
  if (status != HIPEP_OK || args.count == 0) return status;
  const bool own = statistics.all_are(x->dtype);
  if (!own) status = statistics.cast(e, work_type(x->dtype));
  if (status != HIPEP_OK) return status;
  const int64_t items = 16 / static_cast<int64_t>(hipep_dtype_size(x->dtype));
  args.wide = args.run % items == 0 && x->alignment % 16 == 0 && y->alignment % 16 == 0;
  args.large = args.count > INT32_MAX;
  args.channels_divisor = hipep_make_divisor(args.channels);
  args.run_divisor = hipep_make_divisor(args.run);
  hipep_kernel* kernel = &(own ? same : computed)[hipep_dtype_slot(x->dtype)];
  const hipep_pointer pointers[] = {{offsetof(hipep_batch_normalization_args, x), x},
                                    {offsetof(hipep_batch_normalization_args, scale), &statistics.of[0]},
                                    {offsetof(hipep_batch_normalization_args, shift), &statistics.of[1]},
                                    {offsetof(hipep_batch_normalization_args, mean), &statistics.of[2]},
                                    {offsetof(hipep_batch_normalization_args, variance), &statistics.of[3]},
                                    {offsetof(hipep_batch_normalization_args, y), y}};
  if (e->debug) hipep_describe(e, "%s, %s", kernel->name, args.wide ? "16-byte accesses" : "element accesses");
  const uint32_t grid = hipep_grid(e->info, args.wide ? args.count / items : args.count, kBlock);
  return hipep_emit(e, kernel, grid, args.count, 500, &args, sizeof args, pointers, 6);
}
