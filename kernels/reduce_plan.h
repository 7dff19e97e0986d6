// What the planners of reductions share: kernels of ordering keys, and how rows are cut.
#pragma once

#include "hipep/reduce.h"

namespace hipep {

constexpr int32_t kReduceBlock = 256;

#define HIPEP_REDUCE_KERNEL(file, name) \
  {                                     \
    file, name, hipep::kReduceBlock, {} \
  }
#define HIPEP_REDUCE_BY_ORDER(file, name)                                           \
  {HIPEP_REDUCE_KERNEL(file, name "_f16"), HIPEP_REDUCE_KERNEL(file, name "_bf16"), \
   HIPEP_REDUCE_KERNEL(file, name "_f32"), HIPEP_REDUCE_KERNEL(file, name "_f64"),  \
   HIPEP_REDUCE_KERNEL(file, name "_i8"),  HIPEP_REDUCE_KERNEL(file, name "_i16"),  \
   HIPEP_REDUCE_KERNEL(file, name "_i32"), HIPEP_REDUCE_KERNEL(file, name "_i64")}

inline bool is_unsigned(int32_t dtype) { return hipep_dtype_slot(dtype) >= hipep_dtype_slot(HIPEP_UINT8); }
inline int64_t size_of(int32_t dtype) { return static_cast<int64_t>(hipep_dtype_size(dtype)); }

// Kernels of ordering keys: unsigned types and bool use those of the signed type of their size.
inline int32_t order_slot(int32_t dtype) {
  if (!is_unsigned(dtype)) return hipep_dtype_slot(dtype);
  const int32_t first = hipep_dtype_slot(HIPEP_INT8);
  return dtype == HIPEP_BOOL ? first : first + hipep_dtype_slot(dtype) - hipep_dtype_slot(HIPEP_UINT8);
}

inline int64_t order_mask(int32_t dtype, bool largest) {
  const int64_t sign = is_unsigned(dtype) ? static_cast<int64_t>(uint64_t{1} << (size_of(dtype) * 8 - 1)) : 0;
  return largest ? sign : ~sign;
}

struct Reduction {
  int64_t outer, extent, inner;
};

// How many parts each row is cut into, so that few long rows keep the device busy.
inline int64_t split_count(const hipep_device_info& info, const Reduction& r) {
  const int64_t outputs = r.outer * r.inner;
  if (info.warp_size == 1) return outputs <= 4 && r.extent >= 262144 ? (r.extent + 65535) / 65536 : 1;
  const int64_t wanted = int64_t{info.compute_units} * (r.inner == 1 ? 4 : 1024);
  const int64_t least_segment = r.inner == 1 ? 4096 : 64;
  if (outputs * 2 > wanted || r.extent < 2 * least_segment) return 1;
  const int64_t most = r.extent / least_segment;
  return wanted / outputs < most ? wanted / outputs : most;
}

inline void cut(hipep_reduce_args* args, const Reduction& r, int64_t splits) {
  args->extent = r.extent;
  args->source_extent = r.extent;
  args->inner = r.inner;
  args->segment = (r.extent + splits - 1) / splits;
  if (splits > 1) args->segment = (args->segment + 15) / 16 * 16;  // so that segments are aligned as rows are
  args->splits = args->segment > 0 ? (r.extent + args->segment - 1) / args->segment : 1;
  args->outputs = r.outer * args->splits * r.inner;
  args->inner_divisor = hipep_make_divisor(args->inner);
  args->splits_divisor = hipep_make_divisor(args->splits);
  args->large = args->outputs > INT32_MAX;
  args->by_block = args->segment >= (r.inner == 1 ? 64 : r.inner < 16 ? 512 : INT64_MAX);
}

inline hipep_status emit_reduction(hipep_emitter* e, hipep_kernel* kernel, const hipep_reduce_args& args,
                                   const hipep_tensor* x, const hipep_tensor* y, const hipep_tensor* candidates) {
  const hipep_pointer pointers[] = {{offsetof(hipep_reduce_args, x), x},
                                    {offsetof(hipep_reduce_args, y), y},
                                    {offsetof(hipep_reduce_args, candidates), candidates}};
  if (e->debug) {
    hipep_describe(e, "%s, %lld outputs of %lld elements, %s for each%s", kernel->name,
                   static_cast<long long>(args.outputs), static_cast<long long>(args.segment),
                   args.by_block ? "a block" : "a thread", args.splits > 1 ? ", rows are split" : "");
  }
  const int64_t threads = args.by_block ? args.outputs * kReduceBlock : args.outputs;
  return hipep_emit(e, kernel, hipep_grid(e->info, threads, kReduceBlock), args.outputs, 5000 + 300 * args.segment,
                    &args, sizeof args, pointers, 3);
}

}  // namespace hipep
