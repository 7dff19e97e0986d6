#include "hipep/scan.h"

#include "float_kernels.h"
#include "reduce_plan.h"

using namespace hipep;

namespace {

constexpr int32_t kBlock = 256;
constexpr int32_t kIntegers = 2;  // of 4 and of 8 bytes

#define KERNEL(name) HIPEP_FLOAT_KERNEL("scan", name, kBlock)

#define FLOATS(name) HIPEP_FLOAT_KERNELS("scan", name, kBlock)
#define INTEGERS(name) {KERNEL(name "_u32"), KERNEL(name "_u64")}

// By operator, and by whether rows are of neighbouring elements.
hipep_kernel float_kernels[HIPEP_SCAN_COUNT][2][kFloats] = {
    {FLOATS("scan_sum_columns"), FLOATS("scan_sum_rows")},
    {FLOATS("scan_product_columns"), FLOATS("scan_product_rows")}};
hipep_kernel integer_kernels[HIPEP_SCAN_COUNT][2][kIntegers] = {
    {INTEGERS("scan_sum_columns"), INTEGERS("scan_sum_rows")},
    {INTEGERS("scan_product_columns"), INTEGERS("scan_product_rows")}};

// Rows of fewer elements are scanned by a thread each.
constexpr int64_t kShortRow = 32;

}  // namespace

int32_t hipep_scan_supports(int32_t dtype) {
  return is_float(dtype) || (hipep_dtype_slot(dtype) >= 0 && dtype != HIPEP_BOOL && size_of(dtype) >= 4);
}

hipep_status hipep_plan_scan(hipep_emitter* e, int32_t op, int32_t exclusive, int32_t reverse, int64_t outer,
                             int64_t extent, int64_t inner, const hipep_tensor* x, const hipep_tensor* y) {
  if (op < 0 || op >= HIPEP_SCAN_COUNT || !hipep_scan_supports(x->dtype) || x->dtype != y->dtype) {
    return hipep_fail(HIPEP_UNSUPPORTED, "no kernel of scan %d takes %s to %s; cast to a supported type first", op,
                      hipep_dtype_name(x->dtype), hipep_dtype_name(y->dtype));
  }
  hipep_status status = check_count("the input", x, outer * extent * inner);
  if (status == HIPEP_OK) status = check_count("the output", y, outer * extent * inner);
  if (status != HIPEP_OK || outer * extent * inner == 0) return status;
  const bool floats = is_float(x->dtype);
  hipep_scan_args args = {};
  args.extent = extent;
  args.inner = inner;
  args.segment = hipep_divide_up(extent, split_count(*e->info, {outer, extent, inner}));
  args.splits = hipep_divide_up(extent, args.segment);
  args.units = outer * args.splits * inner;
  args.inner_divisor = hipep_make_divisor(inner);
  args.splits_divisor = hipep_make_divisor(args.splits);
  args.exclusive = exclusive;
  args.reverse = reverse;
  args.large = args.units > INT32_MAX;
  const bool rows = inner == 1 && args.segment > kShortRow;
  hipep_kernel* kernel = floats ? &float_kernels[op][rows][hipep_dtype_slot(x->dtype)]
                                : &integer_kernels[op][rows][size_of(x->dtype) == 8];
  if (e->debug) {
    hipep_describe(e, "%s, %lld rows of %lld, %s for each%s", kernel->name, static_cast<long long>(outer * inner),
                   static_cast<long long>(extent), rows ? "a block" : "a thread",
                   args.splits > 1 ? ", rows are split" : "");
  }
  hipep_tensor totals = {};
  totals.value = -1;
  if (args.splits > 1) {
    status = e->workspace(e, args.units * (floats ? size_of(HIPEP_DOUBLE) : size_of(x->dtype)), &totals);
    if (status != HIPEP_OK) return status;
  }
  const hipep_pointer pointers[] = {{offsetof(hipep_scan_args, x), x},
                                    {offsetof(hipep_scan_args, y), y},
                                    {offsetof(hipep_scan_args, totals), &totals}};
  const uint32_t grid = hipep_grid(e->info, rows ? args.units * kBlock : args.units, kBlock);
  const int64_t cost = 5000 + 1500 * args.segment;
  if (args.splits > 1) {
    args.only_totals = 1;
    status = hipep_emit(e, kernel, grid, args.units, cost, &args, sizeof args, pointers, 3);
    args.only_totals = 0;
  }
  if (status != HIPEP_OK) return status;
  return hipep_emit(e, kernel, grid, args.units, cost, &args, sizeof args, pointers, 3);
}
