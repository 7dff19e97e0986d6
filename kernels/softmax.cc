#include "hipep/softmax.h"

#include "float_kernels.h"
#include "hipep/reduce.h"

using namespace hipep;

namespace {

#define KERNELS(name) HIPEP_FLOAT_KERNELS("softmax", name, HIPEP_ROW_BLOCK)
#define ONE_HOT(name) HIPEP_FLOAT_KERNEL("softmax", name, HIPEP_ROW_BLOCK)

hipep_kernel held[kFloats] = KERNELS("softmax_held");
hipep_kernel held_wide[kFloats] = KERNELS("softmax_held_wide");
hipep_kernel split[kFloats] = KERNELS("softmax_split");
hipep_kernel split_wide[kFloats] = KERNELS("softmax_split_wide");
hipep_kernel columns[kFloats] = KERNELS("softmax_columns");
hipep_kernel one_hot[kFloats] = {ONE_HOT("one_hot_16"), ONE_HOT("one_hot_16"), ONE_HOT("one_hot_32"),
                                 ONE_HOT("one_hot_64")};

int64_t one_of(int32_t dtype) {
  switch (dtype) {
    case HIPEP_FLOAT16: return 0x3c00;
    case HIPEP_BFLOAT16: return 0x3f80;
    case HIPEP_FLOAT: return 0x3f800000;
    default: return 0x3ff0000000000000;
  }
}

}  // namespace

hipep_status hipep_plan_softmax(hipep_emitter* e, int32_t logarithm, int64_t outer, int64_t extent, int64_t inner,
                                const hipep_tensor* x, const hipep_tensor* y) {
  hipep_status status = check_map("softmax", x, y);
  if (status == HIPEP_OK) status = check_count("the input", x, outer * extent * inner);
  if (status != HIPEP_OK || outer * extent * inner == 0) return status;
  const int32_t slot = hipep_dtype_slot(x->dtype);
  hipep_softmax_args args = {};
  args.logarithm = logarithm;
  args.rows =
      hipep_make_rows(e->info, outer, extent, inner, x->dtype, x->alignment % 16 == 0 && y->alignment % 16 == 0);
  const hipep_row_kernels kernels = {&held[slot], &held_wide[slot], &split[slot], &split_wide[slot], &columns[slot]};
  const hipep_pointer pointers[] = {{offsetof(hipep_softmax_args, x), x}, {offsetof(hipep_softmax_args, y), y}};
  return hipep_emit_rows(e, &kernels, &args.rows, x->dtype, &args, sizeof args, pointers, 2,
                         offsetof(hipep_softmax_args, states));
}

hipep_status hipep_plan_hardmax(hipep_emitter* e, int64_t outer, int64_t extent, int64_t inner, const hipep_tensor* x,
                                const hipep_tensor* y) {
  const int64_t count = outer * extent * inner;
  hipep_status status = check_map("hardmax", x, y);
  if (status == HIPEP_OK) status = check_count("the input", x, count);
  if (status != HIPEP_OK || count == 0) return status;
  hipep_tensor rows = *x, indices;
  rows.rank = 3;
  rows.dims[0] = outer;
  rows.dims[1] = extent;
  rows.dims[2] = inner;
  status = e->workspace(e, outer * inner * static_cast<int64_t>(sizeof(int64_t)), &indices);
  if (status != HIPEP_OK) return status;
  indices.dtype = HIPEP_INT64;
  indices.rank = 1;
  indices.dims[0] = outer * inner;
  status = hipep_plan_arg_reduce(e, 1, 0, 1, &rows, &indices);
  if (status != HIPEP_OK) return status;
  const hipep_one_hot_args args = {nullptr,
                                   nullptr,
                                   count,
                                   extent,
                                   inner,
                                   one_of(x->dtype),
                                   hipep_make_divisor(extent),
                                   hipep_make_divisor(inner),
                                   count > INT32_MAX};
  const hipep_pointer pointers[] = {{offsetof(hipep_one_hot_args, indices), &indices},
                                    {offsetof(hipep_one_hot_args, y), y}};
  hipep_kernel* kernel = &one_hot[hipep_dtype_slot(x->dtype)];
  const uint32_t grid = hipep_grid(e->info, count, HIPEP_ROW_BLOCK);
  return hipep_emit(e, kernel, grid, count, 2000, &args, sizeof args, pointers, 2);
}
