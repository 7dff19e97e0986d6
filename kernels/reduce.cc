#include "hipep/reduce.h"

#include "hipep/movement.h"

namespace {

constexpr int32_t kBlock = 256;

#define KERNEL(file, name) \
  {                        \
    file, name, kBlock, {} \
  }
#define BY_ORDER(file, name)                                                                                    \
  {KERNEL(file, name "_f16"), KERNEL(file, name "_bf16"), KERNEL(file, name "_f32"), KERNEL(file, name "_f64"), \
   KERNEL(file, name "_i8"),  KERNEL(file, name "_i16"),  KERNEL(file, name "_i32"), KERNEL(file, name "_i64")}

hipep_kernel extreme_kernels[] = BY_ORDER("reduce", "reduce_extreme");
hipep_kernel arg_kernels[] = BY_ORDER("reduce_arg", "reduce_arg");
// Whole reductions of the four floats, their first passes (into double) and their last ones (from double).
hipep_kernel sum_whole[] = {KERNEL("reduce", "reduce_sum_f16_f16"), KERNEL("reduce", "reduce_sum_bf16_bf16"),
                            KERNEL("reduce", "reduce_sum_f32_f32"), KERNEL("reduce", "reduce_sum_f64_f64")};
hipep_kernel sum_first[] = {KERNEL("reduce", "reduce_sum_f16_f64"), KERNEL("reduce", "reduce_sum_bf16_f64"),
                            KERNEL("reduce", "reduce_sum_f32_f64"), KERNEL("reduce", "reduce_sum_f64_f64")};
hipep_kernel sum_last[] = {KERNEL("reduce", "reduce_sum_f64_f16"), KERNEL("reduce", "reduce_sum_f64_bf16"),
                           KERNEL("reduce", "reduce_sum_f64_f32"), KERNEL("reduce", "reduce_sum_f64_f64")};
hipep_kernel sum_u32 = KERNEL("reduce", "reduce_sum_u32");
hipep_kernel sum_u64 = KERNEL("reduce", "reduce_sum_u64");

bool is_float(int32_t dtype) {
  const int32_t slot = hipep_dtype_slot(dtype);
  return slot >= 0 && slot <= hipep_dtype_slot(HIPEP_DOUBLE);
}
bool is_unsigned(int32_t dtype) { return hipep_dtype_slot(dtype) >= hipep_dtype_slot(HIPEP_UINT8); }
int64_t size_of(int32_t dtype) { return static_cast<int64_t>(hipep_dtype_size(dtype)); }

// Kernels of ordering keys: unsigned types and bool use those of the signed type of their size.
int32_t order_slot(int32_t dtype) {
  if (!is_unsigned(dtype)) return hipep_dtype_slot(dtype);
  const int32_t first = hipep_dtype_slot(HIPEP_INT8);
  return dtype == HIPEP_BOOL ? first : first + hipep_dtype_slot(dtype) - hipep_dtype_slot(HIPEP_UINT8);
}

int64_t order_mask(int32_t dtype, bool largest) {
  const int64_t sign = is_unsigned(dtype) ? static_cast<int64_t>(uint64_t{1} << (size_of(dtype) * 8 - 1)) : 0;
  return largest ? sign : ~sign;
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

struct Reduction {
  int64_t outer, extent, inner;
};

// How many parts each row is cut into, so that few long rows keep the device busy.
int64_t split_count(const hipep_device_info& info, const Reduction& r) {
  const int64_t outputs = r.outer * r.inner;
  if (info.warp_size == 1) return outputs <= 4 && r.extent >= 262144 ? (r.extent + 65535) / 65536 : 1;
  const int64_t wanted = int64_t{info.compute_units} * (r.inner == 1 ? 4 : 1024);
  const int64_t least_segment = r.inner == 1 ? 4096 : 64;
  if (outputs * 2 > wanted || r.extent < 2 * least_segment) return 1;
  const int64_t most = r.extent / least_segment;
  return wanted / outputs < most ? wanted / outputs : most;
}

void cut(hipep_reduce_args* args, const Reduction& r, int64_t splits) {
  args->extent = r.extent;
  args->source_extent = r.extent;
  args->inner = r.inner;
  args->segment = (r.extent + splits - 1) / splits;
  args->splits = args->segment > 0 ? (r.extent + args->segment - 1) / args->segment : 1;
  args->outputs = r.outer * args->splits * r.inner;
  args->inner_divisor = hipep_make_divisor(args->inner);
  args->splits_divisor = hipep_make_divisor(args->splits);
  args->large = args->outputs > INT32_MAX;
  args->by_block = args->segment >= (r.inner == 1 ? 64 : r.inner < 16 ? 512 : INT64_MAX);
}

hipep_status emit(hipep_emitter* e, hipep_kernel* kernel, const hipep_reduce_args& args, const hipep_tensor* x,
                  const hipep_tensor* y, const hipep_tensor* candidates) {
  const hipep_pointer pointers[] = {{offsetof(hipep_reduce_args, x), x},
                                    {offsetof(hipep_reduce_args, y), y},
                                    {offsetof(hipep_reduce_args, candidates), candidates}};
  if (e->debug) {
    hipep_describe(e, "%s, %lld outputs of %lld elements, %s for each%s", kernel->name,
                   static_cast<long long>(args.outputs), static_cast<long long>(args.segment),
                   args.by_block ? "a block" : "a thread", args.splits > 1 ? ", rows are split" : "");
  }
  const int64_t threads = args.by_block ? args.outputs * kBlock : args.outputs;
  return hipep_emit(e, kernel, hipep_grid(e->info, threads, kBlock), args.outputs, 5000 + 300 * args.segment, &args,
                    sizeof args, pointers, 3);
}

hipep_status make_workspace(hipep_emitter* e, int32_t dtype, int64_t count, hipep_tensor* out) {
  const hipep_status status = e->workspace(e, count * size_of(dtype), out);
  out->dtype = dtype;
  out->rank = 1;
  out->dims[0] = count;
  return status;
}

hipep_kernel* value_kernel(int32_t op, int32_t from, int32_t to) {
  if (op != HIPEP_REDUCE_SUM) return &extreme_kernels[order_slot(to)];
  if (!is_float(to)) return size_of(to) == 4 ? &sum_u32 : &sum_u64;
  if (from == to) return &sum_whole[hipep_dtype_slot(to)];
  return to == HIPEP_DOUBLE ? &sum_first[hipep_dtype_slot(from)] : &sum_last[hipep_dtype_slot(to)];
}

// dtype: of the whole reduction; x and y may be partial sums.
hipep_status reduce_values(hipep_emitter* e, int32_t op, int32_t dtype, const Reduction& r, const hipep_tensor* x,
                           const hipep_tensor* y) {
  hipep_reduce_args args = {};
  args.mask = order_mask(dtype, op == HIPEP_REDUCE_MAX);
  args.initial = order_initial(dtype, op == HIPEP_REDUCE_MAX);
  cut(&args, r, split_count(*e->info, r));
  if (args.splits == 1) return emit(e, value_kernel(op, x->dtype, y->dtype), args, x, y, nullptr);
  const int32_t partial_dtype = op == HIPEP_REDUCE_SUM && is_float(dtype) ? HIPEP_DOUBLE : dtype;
  hipep_tensor partial;
  hipep_status status = make_workspace(e, partial_dtype, args.outputs, &partial);
  if (status == HIPEP_OK) status = emit(e, value_kernel(op, x->dtype, partial_dtype), args, x, &partial, nullptr);
  if (status != HIPEP_OK) return status;
  cut(&args, {r.outer, args.splits, r.inner}, 1);
  return emit(e, value_kernel(op, partial_dtype, y->dtype), args, &partial, y, nullptr);
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
hipep_status reduce_groups(hipep_emitter* e, int32_t op, Group* groups, int32_t count, const hipep_tensor& x,
                           const hipep_tensor& y) {
  int32_t passes = 0;
  for (int32_t i = 0; i < count; ++i) passes += groups[i].reduced;
  const int32_t partial_dtype = op == HIPEP_REDUCE_SUM && is_float(x.dtype) ? HIPEP_DOUBLE : x.dtype;
  hipep_tensor from = x;
  int64_t inner = 1;
  for (int32_t i = count - 1; i >= 0; --i) {
    if (!groups[i].reduced) {
      inner *= groups[i].dim;
      continue;
    }
    Reduction r = {1, groups[i].dim, inner};
    for (int32_t k = 0; k < i; ++k) r.outer *= groups[k].dim;
    hipep_tensor to = y;
    if (--passes > 0) {
      const hipep_status status = make_workspace(e, partial_dtype, r.outer * r.inner, &to);
      if (status != HIPEP_OK) return status;
    }
    const hipep_status status = reduce_values(e, op, x.dtype, r, &from, &to);
    if (status != HIPEP_OK) return status;
    from = to;
  }
  return HIPEP_OK;
}

}  // namespace

int32_t hipep_arg_reduce_supports(int32_t dtype) { return hipep_dtype_slot(dtype) >= 0 && dtype != HIPEP_BOOL; }

int32_t hipep_reduce_supports(int32_t op, int32_t dtype) {
  if (op < 0 || op >= HIPEP_REDUCE_COUNT || hipep_dtype_slot(dtype) < 0) return 0;
  return op != HIPEP_REDUCE_SUM || is_float(dtype) || (dtype != HIPEP_BOOL && size_of(dtype) >= 4);
}

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
  if (args.splits == 1) return emit(e, kernel, args, x, y, nullptr);
  hipep_tensor candidates;
  hipep_status status = make_workspace(e, HIPEP_INT64, args.outputs, &candidates);
  if (status == HIPEP_OK) status = emit(e, kernel, args, x, &candidates, nullptr);
  if (status != HIPEP_OK) return status;
  cut(&args, {r.outer, args.splits, r.inner}, 1);
  args.source_extent = r.extent;
  return emit(e, kernel, args, x, y, &candidates);
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
  Group groups[HIPEP_MAX_RANK];
  const int32_t count = group_dims(*x, reduced, groups);
  if (hipep_element_count(x) == 0) return reduce_values(e, op, x->dtype, {outputs, 0, 1}, x, y);
  for (int32_t i = 0; i < count; ++i) {
    if (groups[i].reduced) return reduce_groups(e, op, groups, count, *x, *y);
  }
  return hipep_plan_copy(e, x, y);
}
