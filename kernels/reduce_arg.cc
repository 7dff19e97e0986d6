#include "reduce_plan.h"

using namespace hipep;

namespace {

hipep_kernel arg_kernels[] = HIPEP_REDUCE_BY_ORDER("reduce_arg", "reduce_arg");

}  // namespace

int32_t hipep_arg_reduce_supports(int32_t dtype) { return hipep_dtype_slot(dtype) >= 0 && dtype != HIPEP_BOOL; }

hipep_status hipep_plan_arg_reduce(hipep_emitter* e, int32_t find_max, int32_t select_last_index, int32_t axis,
                                   const hipep_tensor* x, const hipep_tensor* y) {
  if (!hipep_arg_reduce_supports(x->dtype) || y->dtype != HIPEP_INT64) {
    return hipep_fail(HIPEP_UNSUPPORTED, "no kernel finds the extreme index of %s as %s; it takes numbers, gives int64",
                      hipep_dtype_name(x->dtype), hipep_dtype_name(y->dtype));
  }
  if (axis < 0) axis += x->rank;
  const bool scalar = x->rank == 0 && (axis == 0 || axis == -1);
  if (!scalar && (axis < 0 || axis >= x->rank)) {
    return hipep_fail(HIPEP_INVALID, "axis %d is not an axis of an input of rank %d", axis, x->rank);
  }
  Reduction r = {1, scalar ? 1 : x->dims[axis], 1};
  for (int32_t i = 0; i < x->rank; ++i) (i < axis ? r.outer : r.inner) *= scalar || i == axis ? 1 : x->dims[i];
  if (r.outer * r.inner != hipep_element_count(y)) {
    return hipep_fail(HIPEP_INVALID, "%lld indices do not fit an output of %lld", (long long)(r.outer * r.inner),
                      (long long)hipep_element_count(y));
  }
  if (r.outer * r.inner == 0) return HIPEP_OK;
  if (r.extent == 0) return hipep_fail(HIPEP_INVALID, "axis %d is empty: it has no extreme element to point at", axis);

  hipep_kernel* kernel = &arg_kernels[order_slot(x->dtype)];
  hipep_reduce_args args = {};
  args.mask = order_mask(x->dtype, find_max != 0);
  args.select_last = select_last_index != 0;
  cut(&args, r, split_count(*e->info, r));
  if (args.splits == 1) return emit_reduction(e, kernel, args, x, y, nullptr);
  hipep_tensor candidates;
  hipep_status status = e->workspace(e, args.outputs * size_of(HIPEP_INT64), &candidates);
  if (status == HIPEP_OK) status = emit_reduction(e, kernel, args, x, &candidates, nullptr);
  if (status != HIPEP_OK) return status;
  cut(&args, {r.outer, args.splits, r.inner}, 1);
  args.source_extent = r.extent;
  return emit_reduction(e, kernel, args, x, y, &candidates);
}
