#include "float_kernels.h"
#include "hipep/elementwise.h"
#include "hipep/movement.h"
#include "reduce_plan.h"

using namespace hipep;

namespace {

#define SUM(name) HIPEP_REDUCE_KERNEL("reduce_sum", "reduce_" name)
#define EXPONENTIALS(name) HIPEP_REDUCE_KERNEL("reduce_log_sum_exp", "reduce_" name)
#define WHOLE(op) {SUM(op "_f16_f16"), SUM(op "_bf16_bf16"), SUM(op "_f32_f32"), SUM(op "_f64_f64")}
#define FIRST(op) {SUM(op "_f16_f64"), SUM(op "_bf16_f64"), SUM(op "_f32_f64"), SUM(op "_f64_f64")}
#define LAST(op) {SUM(op "_f64_f16"), SUM(op "_f64_bf16"), SUM(op "_f64_f32"), SUM(op "_f64_f64")}

// Of the four floats: reductions in one pass, and the first, the middle and the last of several.
struct FloatKernels {
  hipep_kernel whole[4], first[4], middle, last[4];
};

hipep_kernel extreme_kernels[] = HIPEP_REDUCE_BY_ORDER("reduce", "reduce_extreme");
FloatKernels sum_kernels = {WHOLE("sum"), FIRST("sum"), SUM("sum_f64_f64"), LAST("sum")};
FloatKernels abs_kernels = {WHOLE("sum_abs"), FIRST("sum_abs"), SUM("sum_f64_f64"), LAST("sum")};
FloatKernels square_kernels = {WHOLE("sum_square"), FIRST("sum_square"), SUM("sum_f64_f64"), LAST("sum")};
FloatKernels product_kernels = {WHOLE("prod"), FIRST("prod"), SUM("prod_f64_f64"), LAST("prod")};
FloatKernels exponential_kernels = {{EXPONENTIALS("log_sum_exp_f16"), EXPONENTIALS("log_sum_exp_bf16"),
                                     EXPONENTIALS("log_sum_exp_f32"), EXPONENTIALS("log_sum_exp_f64")},
                                    {EXPONENTIALS("exponentials_f16"), EXPONENTIALS("exponentials_bf16"),
                                     EXPONENTIALS("exponentials_f32"), EXPONENTIALS("exponentials_f64")},
                                    EXPONENTIALS("exponentials"),
                                    {EXPONENTIALS("log_exponentials_f16"), EXPONENTIALS("log_exponentials_bf16"),
                                     EXPONENTIALS("log_exponentials_f32"), EXPONENTIALS("log_exponentials_f64")}};
// Of integers of 4 and of 8 bytes.
hipep_kernel integer_sum[] = {SUM("sum_u32"), SUM("sum_u64")};
hipep_kernel integer_abs[] = {SUM("sum_abs_i32"), SUM("sum_abs_i64")};
hipep_kernel integer_square[] = {SUM("sum_square_u32"), SUM("sum_square_u64")};
hipep_kernel integer_product[] = {SUM("prod_u32"), SUM("prod_u64")};

bool is_extreme(int32_t op) { return op == HIPEP_REDUCE_MAX || op == HIPEP_REDUCE_MIN; }

// A whole reduction, of which there may be several passes.
struct Whole {
  int32_t op, dtype;
  int64_t reduced;
};
struct Pass {
  bool first, last;
};

FloatKernels* float_kernels(int32_t op) {
  switch (op) {
    case HIPEP_REDUCE_PROD: return &product_kernels;
    case HIPEP_REDUCE_L1: return &abs_kernels;
    case HIPEP_REDUCE_LOG_SUM_EXP: return &exponential_kernels;
    case HIPEP_REDUCE_L2:
    case HIPEP_REDUCE_SUM_SQUARE:
    case HIPEP_REDUCE_DEVIATION: return &square_kernels;
    default: return &sum_kernels;
  }
}

hipep_kernel* integer_kernel(int32_t op, int32_t dtype, bool first) {
  const bool eight = size_of(dtype) == 8;
  if (op == HIPEP_REDUCE_PROD) return &integer_product[eight];
  if (op == HIPEP_REDUCE_L1 && first && !is_unsigned(dtype)) return &integer_abs[eight];
  if (op == HIPEP_REDUCE_SUM_SQUARE && first) return &integer_square[eight];
  return &integer_sum[eight];
}

hipep_kernel* value_kernel(const Whole& whole, const Pass& pass) {
  if (is_extreme(whole.op)) return &extreme_kernels[order_slot(whole.dtype)];
  if (!is_float(whole.dtype)) return integer_kernel(whole.op, whole.dtype, pass.first);
  FloatKernels* kernels = float_kernels(whole.op);
  const int32_t slot = hipep_dtype_slot(whole.dtype);
  if (pass.first) return pass.last ? &kernels->whole[slot] : &kernels->first[slot];
  return pass.last ? &kernels->last[slot] : &kernels->middle;
}

int32_t finish_of(const Whole& whole) {
  switch (whole.op) {
    case HIPEP_REDUCE_MEAN: return is_unsigned(whole.dtype) ? HIPEP_FINISH_UNSIGNED_MEAN : HIPEP_FINISH_MEAN;
    case HIPEP_REDUCE_L2: return HIPEP_FINISH_ROOT;
    case HIPEP_REDUCE_LOG_SUM: return HIPEP_FINISH_LOGARITHM;
    case HIPEP_REDUCE_DEVIATION: return HIPEP_FINISH_DEVIATION;
    default: return HIPEP_FINISH_NONE;
  }
}

int64_t partial_bytes(const Whole& whole) {
  if (is_extreme(whole.op) || !is_float(whole.dtype)) return size_of(whole.dtype);
  return whole.op == HIPEP_REDUCE_LOG_SUM_EXP ? 16 : 8;
}

// The key of the element that every other one replaces.
int64_t order_initial(int32_t dtype, bool largest) {
  switch (dtype) {
    case HIPEP_FLOAT16: return ~int64_t{0x7c00};
    case HIPEP_BFLOAT16: return ~int64_t{0x7f80};
    case HIPEP_FLOAT: return ~int64_t{0x7f800000};
    case HIPEP_DOUBLE: return ~int64_t{0x7ff0000000000000};
    case HIPEP_BOOL: return largest ? -0x80 : 1 ^ 0x7f;
    default: return -static_cast<int64_t>(uint64_t{1} << (size_of(dtype) * 8 - 2)) * 2;
  }
}

bool is_wide(const hipep_reduce_args& args, int64_t bytes, const hipep_tensor& x) {
  return args.by_block && args.inner == 1 && x.alignment % 16 == 0 && args.extent * bytes % 16 == 0;
}

hipep_status reduce_values(hipep_emitter* e, const Whole& whole, const Pass& pass, const Reduction& r,
                           const hipep_tensor* x, const hipep_tensor* y) {
  hipep_reduce_args args = {};
  args.mask = order_mask(whole.dtype, whole.op == HIPEP_REDUCE_MAX);
  args.initial = order_initial(whole.dtype, whole.op == HIPEP_REDUCE_MAX);
  args.reduced = whole.reduced;
  cut(&args, r, split_count(*e->info, r));
  args.wide = is_wide(args, pass.first ? size_of(whole.dtype) : partial_bytes(whole), *x);
  if (args.splits == 1) {
    args.finish = pass.last ? finish_of(whole) : HIPEP_FINISH_NONE;
    return emit_reduction(e, value_kernel(whole, pass), args, x, y, nullptr);
  }
  hipep_tensor partial;
  hipep_status status = e->workspace(e, args.outputs * partial_bytes(whole), &partial);
  if (status == HIPEP_OK) {
    status = emit_reduction(e, value_kernel(whole, {pass.first, false}), args, x, &partial, nullptr);
  }
  if (status != HIPEP_OK) return status;
  cut(&args, {r.outer, args.splits, r.inner}, 1);
  args.wide = is_wide(args, partial_bytes(whole), partial);
  args.finish = pass.last ? finish_of(whole) : HIPEP_FINISH_NONE;
  return emit_reduction(e, value_kernel(whole, {false, pass.last}), args, &partial, y, nullptr);
}

struct Group {
  int64_t dim;
  bool reduced;
};

// Merges neighbouring dimensions that share a fate; dimensions of 1 vanish.
int32_t group_dims(const hipep_tensor& x, const bool* reduced, Group* groups) {
  int32_t count = 0;
  for (int32_t axis = 0; axis < x.rank; ++axis) {
    if (x.dims[axis] == 1) continue;
    if (count == 0 || groups[count - 1].reduced != reduced[axis]) groups[count++] = {1, reduced[axis]};
    groups[count - 1].dim *= x.dims[axis];
  }
  return count;
}

// Reduces the groups from the last to the first, one pass for each.
hipep_status reduce_groups(hipep_emitter* e, const Whole& whole, Group* groups, int32_t count, const hipep_tensor& x,
                           const hipep_tensor& y) {
  int32_t passes = 0;
  for (int32_t i = 0; i < count; ++i) passes += groups[i].reduced;
  hipep_tensor from = x;
  Pass pass = {true, false};
  int64_t inner = 1;
  for (int32_t i = count - 1; i >= 0; --i) {
    if (!groups[i].reduced) {
      inner *= groups[i].dim;
      continue;
    }
    Reduction r = {1, groups[i].dim, inner};
    for (int32_t k = 0; k < i; ++k) r.outer *= groups[k].dim;
    hipep_tensor to = y;
    pass.last = --passes == 0;
    if (!pass.last) {
      const hipep_status status = e->workspace(e, r.outer * r.inner * partial_bytes(whole), &to);
      if (status != HIPEP_OK) return status;
    }
    const hipep_status status = reduce_values(e, whole, pass, r, &from, &to);
    if (status != HIPEP_OK) return status;
    from = to;
    pass.first = false;
  }
  return HIPEP_OK;
}

// The type in which integers are reduced.
int32_t computed_type(int32_t op, int32_t dtype) {
  if (is_float(dtype)) return dtype;
  switch (op) {
    case HIPEP_REDUCE_MEAN: return is_unsigned(dtype) ? HIPEP_UINT64 : HIPEP_INT64;
    case HIPEP_REDUCE_L2:
    case HIPEP_REDUCE_LOG_SUM:
    case HIPEP_REDUCE_LOG_SUM_EXP:
    case HIPEP_REDUCE_DEVIATION: return HIPEP_DOUBLE;
    default: return dtype;
  }
}

hipep_status reduce_in(hipep_emitter* e, int32_t dtype, int32_t op, const int32_t* axes, int32_t axis_count,
                       const hipep_tensor* x, const hipep_tensor* y) {
  hipep_tensor wide_x, wide_y;
  hipep_status status = hipep_make_temporary(e, dtype, x, &wide_x);
  if (status == HIPEP_OK) status = hipep_make_temporary(e, dtype, y, &wide_y);
  if (status == HIPEP_OK) status = hipep_plan_cast(e, x, &wide_x, 1);
  if (status == HIPEP_OK) status = hipep_plan_reduce(e, op, axes, axis_count, &wide_x, &wide_y);
  return status == HIPEP_OK ? hipep_plan_cast(e, &wide_y, y, 1) : status;
}

}  // namespace

int32_t hipep_reduce_supports(int32_t op, int32_t dtype) {
  if (op < 0 || op >= HIPEP_REDUCE_COUNT || hipep_dtype_slot(dtype) < 0) return 0;
  return is_extreme(op) || is_float(dtype) || (dtype != HIPEP_BOOL && size_of(dtype) >= 4);
}

hipep_status hipep_plan_reduce(hipep_emitter* e, int32_t op, const int32_t* axes, int32_t axis_count,
                               const hipep_tensor* x, const hipep_tensor* y) {
  if (!hipep_reduce_supports(op, x->dtype) || x->dtype != y->dtype) {
    return hipep_fail(HIPEP_UNSUPPORTED, "no kernel of reduction %d takes %s to %s; cast to a supported type first", op,
                      hipep_dtype_name(x->dtype), hipep_dtype_name(y->dtype));
  }
  bool reduced[HIPEP_MAX_RANK] = {};
  for (int32_t i = 0; i < axis_count; ++i) {
    const int32_t axis = axes[i] < 0 ? axes[i] + x->rank : axes[i];
    if (axis < 0 || axis >= x->rank) {
      return hipep_fail(HIPEP_INVALID, "axis %d is not an axis of an input of rank %d", axes[i], x->rank);
    }
    reduced[axis] = true;
  }
  int64_t outputs = 1;
  for (int32_t axis = 0; axis < x->rank; ++axis) outputs *= reduced[axis] ? 1 : x->dims[axis];
  if (outputs != hipep_element_count(y)) {
    return hipep_fail(HIPEP_INVALID, "a reduction to %lld elements does not fit an output of %lld", (long long)outputs,
                      (long long)hipep_element_count(y));
  }
  if (outputs == 0) return HIPEP_OK;
  const int32_t computed = computed_type(op, x->dtype);
  if (computed != x->dtype) return reduce_in(e, computed, op, axes, axis_count, x, y);
  Group groups[HIPEP_MAX_RANK];
  const int32_t count = group_dims(*x, reduced, groups);
  const Whole whole = {op, x->dtype, hipep_element_count(x) / outputs};
  const Pass only = {true, true};
  if (hipep_element_count(x) == 0) return reduce_values(e, whole, only, {outputs, 0, 1}, x, y);
  for (int32_t i = 0; i < count; ++i) {
    if (groups[i].reduced) return reduce_groups(e, whole, groups, count, *x, *y);
  }
  const bool same = op <= HIPEP_REDUCE_PROD;
  return same ? hipep_plan_copy(e, x, y) : reduce_values(e, whole, only, {outputs, 1, 1}, x, y);
}
