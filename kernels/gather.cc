#include "hipep/movement.h"

namespace {

constexpr int32_t kBlock = 256;

hipep_kernel kernels[] = {{"gather", "gather_x1", kBlock, {}},
                          {"gather", "gather_x2", kBlock, {}},
                          {"gather", "gather_x4", kBlock, {}},
                          {"gather", "gather_x8", kBlock, {}},
                          {"gather", "gather_x16", kBlock, {}}};

int64_t product(const int64_t* dims, int32_t begin, int32_t end) {
  int64_t n = 1;
  for (int32_t i = begin; i < end; ++i) n *= dims[i];
  return n;
}

// log2 of the widest access that every row and both tensors are aligned to.
int32_t access_width(int64_t row_bytes, const hipep_tensor& data, const hipep_tensor& y) {
  int32_t log = 4;
  while (log > 0 &&
         (row_bytes % (1 << log) != 0 || data.alignment % (1u << log) != 0 || y.alignment % (1u << log) != 0)) {
    --log;
  }
  return log;
}

}  // namespace

hipep_status hipep_plan_gather(hipep_emitter* e, int32_t axis, const hipep_tensor* data, const hipep_tensor* indices,
                               const hipep_tensor* y) {
  const int64_t size = static_cast<int64_t>(hipep_dtype_size(data->dtype));
  if (size == 0 || data->dtype != y->dtype || (indices->dtype != HIPEP_INT32 && indices->dtype != HIPEP_INT64)) {
    return hipep_fail(HIPEP_UNSUPPORTED, "no kernel gathers %s by %s into %s; indices are int32 or int64",
                      hipep_dtype_name(data->dtype), hipep_dtype_name(indices->dtype), hipep_dtype_name(y->dtype));
  }
  if (axis < 0 || axis >= data->rank) {
    return hipep_fail(HIPEP_INVALID, "Gather axis %d is not in [0, %d)", axis, data->rank);
  }
  const int64_t outer = product(data->dims, 0, axis);
  const int64_t row_bytes = product(data->dims, axis + 1, data->rank) * size;
  const int64_t index_count = hipep_element_count(indices);
  const int64_t bytes = outer * index_count * row_bytes;
  if (bytes != hipep_element_count(y) * size) {
    return hipep_fail(HIPEP_INVALID, "Gather gives %lld bytes, its output has %lld", static_cast<long long>(bytes),
                      static_cast<long long>(hipep_element_count(y) * size));
  }
  if (bytes == 0) return HIPEP_OK;
  const int32_t width = access_width(row_bytes, *data, *y);
  hipep_gather_args args = {};
  args.count = bytes >> width;
  args.extent = data->dims[axis];
  args.index_count = index_count;
  args.inner = row_bytes >> width;
  args.inner_divisor = hipep_make_divisor(args.inner);
  args.index_divisor = hipep_make_divisor(args.index_count);
  args.wide_indices = indices->dtype == HIPEP_INT64;
  args.large = args.count > INT32_MAX;
  const hipep_pointer pointers[] = {{offsetof(hipep_gather_args, data), data},
                                    {offsetof(hipep_gather_args, indices), indices},
                                    {offsetof(hipep_gather_args, y), y}};
  if (e->debug) {
    hipep_describe(e, "%s, %lld rows of %lld bytes", kernels[width].name, static_cast<long long>(outer * index_count),
                   static_cast<long long>(row_bytes));
  }
  const int64_t unit_cost = 5000 / args.inner + (int64_t{50} << width);
  return hipep_emit(e, &kernels[width], hipep_grid(e->info, args.count, kBlock), args.count, unit_cost, &args,
                    sizeof args, pointers, 3);
}
