#include "float_kernels.h"
#include "hipep/normalization.h"

using namespace hipep;

namespace {

constexpr int32_t kBlock = 256;
hipep_kernel kernels[kFloats] = HIPEP_FLOAT_KERNELS("local_response", "local_response", kBlock);

}  // namespace

hipep_status hipep_plan_local_response(hipep_emitter* e, int64_t size, double alpha, double beta, double bias,
                                       const hipep_tensor* x, const hipep_tensor* y) {
  const hipep_status status = check_map("local response normalization", x, y);
  if (status != HIPEP_OK || hipep_element_count(x) == 0) return status;
  if (size < 1 || x->rank < 2) {
    return hipep_fail(HIPEP_INVALID, "a window of %lld channels of an input of rank %d; both are at least 1 and 2",
                      static_cast<long long>(size), x->rank);
  }
  hipep_local_response_args args = {};
  args.count = hipep_element_count(x);
  args.channels = x->dims[1];
  args.run = 1;
  for (int32_t i = 2; i < x->rank; ++i) args.run *= x->dims[i];
  args.before = (size - 1) / 2;
  args.after = size - 1 - args.before;
  args.factor = alpha / static_cast<double>(size);
  args.beta = beta;
  args.bias = bias;
  args.large = args.count > INT32_MAX;
  args.channels_divisor = hipep_make_divisor(args.channels);
  args.run_divisor = hipep_make_divisor(args.run);
  hipep_kernel* kernel = &kernels[hipep_dtype_slot(x->dtype)];
  const hipep_pointer pointers[] = {{offsetof(hipep_local_response_args, x), x},
                                    {offsetof(hipep_local_response_args, y), y}};
  if (e->debug) hipep_describe(e, "%s, a window of %lld channels", kernel->name, static_cast<long long>(size));
  const uint32_t grid = hipep_grid(e->info, args.count, kBlock);
  return hipep_emit(e, kernel, grid, args.count, 3000 + 200 * size, &args, sizeof args, pointers, 2);
}
