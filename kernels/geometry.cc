#include "hipep/geometry.h"

namespace {

struct Axis {
  int64_t dim;
  int64_t strides[HIPEP_BROADCAST_OPERANDS];
};

// Strides of one operand along the dims of y: 0 where it is repeated.
bool broadcast_strides(const hipep_tensor& operand, const hipep_tensor& y, int64_t* strides) {
  if (operand.rank > y.rank) return false;
  const int32_t missing = y.rank - operand.rank;
  int64_t stride = 1;
  for (int32_t axis = y.rank - 1; axis >= 0; --axis) {
    const int64_t dim = axis < missing ? 1 : operand.dims[axis - missing];
    if (dim != 1 && dim != y.dims[axis]) return false;
    strides[axis] = dim == 1 ? 0 : stride;
    stride *= dim;
  }
  return true;
}

}  // namespace

hipep_divisor hipep_make_divisor(int64_t divisor) {
  hipep_divisor d = {};
  while ((uint64_t{1} << d.shift) < static_cast<uint64_t>(divisor)) ++d.shift;
  const uint64_t missing = (uint64_t{1} << d.shift) - static_cast<uint64_t>(divisor);
  const uint64_t by = static_cast<uint64_t>(divisor);
  d.multiplier64 = static_cast<uint64_t>((static_cast<unsigned __int128>(missing) << 64) / by) + 1;
  if (d.shift < 32) d.multiplier32 = static_cast<uint32_t>((missing << 32) / by) + 1;
  return d;
}

hipep_status hipep_make_broadcast(const hipep_tensor* const* operands, int32_t operand_count, const hipep_tensor* y,
                                  hipep_broadcast* out) {
  int64_t strides[HIPEP_BROADCAST_OPERANDS][HIPEP_MAX_RANK] = {};
  for (int32_t k = 0; k < operand_count; ++k) {
    if (!broadcast_strides(*operands[k], *y, strides[k])) {
      return hipep_fail(HIPEP_INVALID, "input %d does not broadcast to the output's shape; give it equal or 1 dims", k);
    }
  }
  Axis axes[HIPEP_MAX_RANK];
  int32_t count = 0;
  for (int32_t axis = 0; axis < y->rank; ++axis) {
    if (y->dims[axis] == 1) continue;
    bool merges = count > 0;
    for (int32_t k = 0; merges && k < operand_count; ++k) {
      merges = axes[count - 1].strides[k] == strides[k][axis] * y->dims[axis];
    }
    if (!merges) axes[count++].dim = 1;
    axes[count - 1].dim *= y->dims[axis];
    for (int32_t k = 0; k < HIPEP_BROADCAST_OPERANDS; ++k) axes[count - 1].strides[k] = strides[k][axis];
  }

  *out = hipep_broadcast{};
  out->count = hipep_element_count(y);
  if (out->count == 0) return HIPEP_OK;
  out->rank = count > 0 ? count - 1 : 0;
  out->inner = count > 0 ? axes[count - 1].dim : 1;
  out->inner_divisor = hipep_make_divisor(out->inner);
  out->large = out->count > INT32_MAX;
  for (int32_t axis = 0; axis < out->rank; ++axis) {
    out->dims[axis] = axes[axis].dim;
    out->divisors[axis] = hipep_make_divisor(axes[axis].dim);
  }
  for (int32_t k = 0; k < operand_count; ++k) {
    for (int32_t axis = 0; axis < out->rank; ++axis) out->strides[k][axis] = axes[axis].strides[k];
    out->step[k] = count > 0 && axes[count - 1].strides[k] != 0;
  }
  return HIPEP_OK;
}

hipep_status hipep_make_temporary(hipep_emitter* e, int32_t dtype, const hipep_tensor* like, hipep_tensor* out) {
  const int64_t bytes = hipep_element_count(like) * static_cast<int64_t>(hipep_dtype_size(dtype));
  const hipep_status status = e->workspace(e, bytes, out);
  out->dtype = dtype;
  out->rank = like->rank;
  for (int32_t i = 0; i < like->rank; ++i) out->dims[i] = like->dims[i];
  return status;
}
