#include "float_kernels.h"
#include "hipep/elementwise.h"
#include "hipep/normalization.h"
#include "hipep/reduce.h"

using namespace hipep;

namespace {

#define KERNELS(name) HIPEP_FLOAT_KERNELS("normalize", name, HIPEP_ROW_BLOCK)

// By what of scale and shift belongs to: an element of a row, a channel.
hipep_kernel held[2][kFloats] = {KERNELS("normalize_held"), KERNELS("normalize_channels_held")};
hipep_kernel held_wide[2][kFloats] = {KERNELS("normalize_held_wide"), KERNELS("normalize_channels_held_wide")};
hipep_kernel split[2][kFloats] = {KERNELS("normalize_split"), KERNELS("normalize_channels_split")};
hipep_kernel split_wide[2][kFloats] = {KERNELS("normalize_split_wide"), KERNELS("normalize_channels_split_wide")};

bool present(const hipep_tensor* tensor) { return tensor != nullptr && tensor->value >= 0; }

hipep_status check_operand(const char* what, const hipep_tensor* tensor, int32_t dtype, int64_t count) {
  if (!present(tensor)) return HIPEP_OK;
  if (tensor->dtype != dtype) {
    return hipep_fail(HIPEP_UNSUPPORTED, "%s is of type %s, the input of type %s; cast one of them", what,
                      hipep_dtype_name(tensor->dtype), hipep_dtype_name(dtype));
  }
  return check_count(what, tensor, count);
}

hipep_status check_operands(const hipep_normalization& n) {
  const int32_t dtype = n.x->dtype;
  const int64_t scales = n.affine == HIPEP_AFFINE_CHANNEL ? n.period * (n.extent / n.run) : n.extent;
  hipep_status status = check_map("normalization", n.x, n.y);
  if (status == HIPEP_OK) status = check_count("the input", n.x, n.rows * n.extent);
  if (status == HIPEP_OK) status = check_operand("the bias", n.bias, dtype, n.extent);
  if (status == HIPEP_OK) status = check_operand("scale", n.scale, dtype, scales);
  if (status == HIPEP_OK) status = check_operand("shift", n.shift, dtype, scales);
  if (status == HIPEP_OK) status = check_operand("the sum", n.sum, dtype, n.rows * n.extent);
  if (status != HIPEP_OK || !present(n.skip) || n.rows * n.extent == 0) return status;
  const int64_t skipped = hipep_element_count(n.skip);
  const bool repeats = skipped > 0 && skipped % n.extent == 0 && n.rows * n.extent % skipped == 0;
  return check_operand("skip", n.skip, dtype, repeats ? skipped : n.rows * n.extent);
}

bool is_aligned(const hipep_tensor* tensor) { return !present(tensor) || tensor->alignment % 16 == 0; }

bool all_aligned(const hipep_normalization& n) {
  const bool rows = is_aligned(n.x) && is_aligned(n.y) && is_aligned(n.skip) && is_aligned(n.bias) && is_aligned(n.sum);
  if (n.affine != HIPEP_AFFINE_CHANNEL) return rows && is_aligned(n.scale) && is_aligned(n.shift);
  return rows && n.run % (16 / static_cast<int64_t>(hipep_dtype_size(n.x->dtype))) == 0;
}

// Statistics are written as they are computed, and cast where they are wanted in another type.
struct Statistic {
  const hipep_tensor* wanted;
  hipep_tensor written;

  hipep_status prepare(hipep_emitter* e, int32_t work) {
    written.value = -1;
    if (!present(wanted)) return HIPEP_OK;
    written = *wanted;
    return wanted->dtype == work ? HIPEP_OK : hipep_make_temporary(e, work, wanted, &written);
  }
  hipep_status deliver(hipep_emitter* e) const {
    const bool delivered = !present(wanted) || wanted->dtype == written.dtype;
    return delivered ? HIPEP_OK : hipep_plan_cast(e, &written, wanted, 1);
  }
};

// Whether an operand repeats from row to row and has all elements of a row.
bool is_row(const hipep_tensor& operand, const hipep_tensor& x, int32_t axis) {
  const int32_t missing = x.rank - operand.rank;
  for (int32_t i = 0; i < x.rank; ++i) {
    const int64_t dim = i < missing ? 1 : operand.dims[i - missing];
    if (dim != (i < axis ? 1 : x.dims[i])) return false;
  }
  return missing >= 0;
}

// y = normalized * scale + shift, broadcast.
hipep_status plan_affine(hipep_emitter* e, const hipep_tensor* normalized, const hipep_tensor* scale,
                         const hipep_tensor* shift, const hipep_tensor* y) {
  hipep_tensor cast = *normalized, scaled = *y;
  hipep_status status = HIPEP_OK;
  if (normalized->dtype != y->dtype) {
    status = hipep_make_temporary(e, y->dtype, normalized, &cast);
    if (status == HIPEP_OK) status = hipep_plan_cast(e, normalized, &cast, 1);
  }
  if (status == HIPEP_OK && present(shift)) status = hipep_make_temporary(e, y->dtype, y, &scaled);
  if (status == HIPEP_OK) status = hipep_plan_binary(e, HIPEP_BINARY_MUL, &cast, scale, &scaled);
  if (status != HIPEP_OK || !present(shift)) return status;
  return hipep_plan_binary(e, HIPEP_BINARY_ADD, &scaled, shift, y);
}

// The mean of no elements is NaN.
hipep_status plan_statistic_of_nothing(hipep_emitter* e, const hipep_normalization& n, const hipep_tensor* wanted) {
  if (!present(wanted) || n.rows == 0) return HIPEP_OK;
  const int32_t axis = 1;
  hipep_tensor x = *n.x, mean;
  x.rank = 2;
  x.dims[0] = n.rows;
  x.dims[1] = 0;
  hipep_status status = hipep_make_temporary(e, x.dtype, wanted, &mean);
  if (status == HIPEP_OK) status = hipep_plan_reduce(e, HIPEP_REDUCE_MEAN, &axis, 1, &x, &mean);
  return status == HIPEP_OK ? hipep_plan_cast(e, &mean, wanted, 1) : status;
}

}  // namespace

hipep_status hipep_plan_normalize(hipep_emitter* e, const hipep_normalization* what) {
  hipep_normalization n = *what;
  hipep_tensor unread;
  hipep_status status = HIPEP_OK;
  if (!present(n.y)) status = hipep_make_temporary(e, n.x->dtype, n.x, &unread);
  if (!present(n.y)) n.y = &unread;
  if (status == HIPEP_OK) status = check_operands(n);
  if (status == HIPEP_OK && n.rows * n.extent == 0) {
    status = plan_statistic_of_nothing(e, n, n.mean);
    return status == HIPEP_OK ? plan_statistic_of_nothing(e, n, n.inverse) : status;
  }
  if (status != HIPEP_OK) return status;
  const int32_t slot = hipep_dtype_slot(n.x->dtype);
  const int32_t channels = n.affine == HIPEP_AFFINE_CHANNEL;
  Statistic mean = {n.mean, {}}, inverse = {n.inverse, {}};
  status = mean.prepare(e, work_type(n.x->dtype));
  if (status == HIPEP_OK) status = inverse.prepare(e, work_type(n.x->dtype));
  if (status != HIPEP_OK) return status;

  hipep_normalize_args args = {};
  args.epsilon = n.epsilon;
  args.centered = n.centered;
  args.skip_rows = present(n.skip) ? hipep_element_count(n.skip) / n.extent : n.rows;
  args.period = channels ? n.period : 1;
  args.run = channels ? n.run : n.extent;
  args.skip_divisor = hipep_make_divisor(args.skip_rows);
  args.period_divisor = hipep_make_divisor(args.period);
  args.run_divisor = hipep_make_divisor(args.run);
  args.rows = hipep_make_rows(e->info, n.rows, n.extent, 1, n.x->dtype, all_aligned(n));
  const hipep_row_kernels kernels = {&held[channels][slot], &held_wide[channels][slot], &split[channels][slot],
                                     &split_wide[channels][slot], nullptr};
  const hipep_pointer pointers[] = {{offsetof(hipep_normalize_args, x), n.x},
                                    {offsetof(hipep_normalize_args, skip), n.skip},
                                    {offsetof(hipep_normalize_args, bias), n.bias},
                                    {offsetof(hipep_normalize_args, scale), n.scale},
                                    {offsetof(hipep_normalize_args, shift), n.shift},
                                    {offsetof(hipep_normalize_args, y), n.y},
                                    {offsetof(hipep_normalize_args, sum), n.sum},
                                    {offsetof(hipep_normalize_args, mean), &mean.written},
                                    {offsetof(hipep_normalize_args, inverse), &inverse.written}};
  status = hipep_emit_rows(e, &kernels, &args.rows, n.x->dtype, &args, sizeof args, pointers, 9,
                           offsetof(hipep_normalize_args, states));
  if (status == HIPEP_OK) status = mean.deliver(e);
  return status == HIPEP_OK ? inverse.deliver(e) : status;
}

hipep_status hipep_plan_layer_normalization(hipep_emitter* e, int32_t axis, int32_t centered, double epsilon,
                                            const hipep_tensor* x, const hipep_tensor* scale, const hipep_tensor* shift,
                                            const hipep_tensor* y, const hipep_tensor* mean,
                                            const hipep_tensor* inverse) {
  hipep_normalization n = {};
  n.rows = n.extent = 1;
  for (int32_t i = 0; i < x->rank; ++i) (i < axis ? n.rows : n.extent) *= x->dims[i];
  n.epsilon = epsilon;
  n.centered = centered;
  n.x = x;
  n.mean = mean;
  n.inverse = inverse;
  if (scale->dtype == x->dtype && is_row(*scale, *x, axis) && (!present(shift) || is_row(*shift, *x, axis))) {
    n.affine = HIPEP_AFFINE_ELEMENT;
    n.scale = scale;
    n.shift = shift;
    n.y = y;
    return hipep_plan_normalize(e, &n);
  }
  hipep_tensor normalized;
  hipep_status status = hipep_make_temporary(e, x->dtype, x, &normalized);
  n.y = &normalized;
  if (status == HIPEP_OK) status = hipep_plan_normalize(e, &n);
  return status == HIPEP_OK && present(y) ? plan_affine(e, &normalized, scale, shift, y) : status;
}
