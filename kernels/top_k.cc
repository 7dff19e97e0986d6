#include "hipep/top_k.h"

#include "top_k_plan.h"

namespace {

using hipep::SortOrder;
using hipep::top_k::gpu_variants;
using hipep::top_k::host_variants;
using hipep::top_k::kHostVariants;
using hipep::top_k::Problem;
using hipep::top_k::Variant;

constexpr int32_t kVariants = kHostVariants + hipep::top_k::kGpuVariants;

const Variant& variant_at(int32_t at) {
  return at < kHostVariants ? host_variants[at] : gpu_variants[at - kHostVariants];
}

bool sort_order(int32_t dtype, bool largest, SortOrder* order, int* width) {
  static const struct {
    int32_t dtype;
    int width;
    uint64_t infinity;
    bool sign;
  } types[] = {
      {HIPEP_FLOAT, 2, 0x7f800000, false},
      {HIPEP_FLOAT16, 1, 0x7c00, false},
      {HIPEP_BFLOAT16, 1, 0x7f80, false},
      {HIPEP_DOUBLE, 3, 0x7ff0000000000000, false},
      {HIPEP_INT8, 0, 0, true},
      {HIPEP_INT16, 1, 0, true},
      {HIPEP_INT32, 2, 0, true},
      {HIPEP_INT64, 3, 0, true},
      {HIPEP_UINT8, 0, 0, false},
      {HIPEP_UINT16, 1, 0, false},
      {HIPEP_UINT32, 2, 0, false},
      {HIPEP_UINT64, 3, 0, false},
  };
  for (const auto& type : types) {
    if (type.dtype != dtype) continue;
    const int bits = 8 << type.width;
    const uint64_t all = bits == 64 ? UINT64_MAX : (uint64_t{1} << bits) - 1;
    *width = type.width;
    order->infinity = type.infinity;
    order->flip = (largest ? 0 : all) ^ (type.sign ? uint64_t{1} << (bits - 1) : 0);
    return true;
  }
  return false;
}

bool is_absent(const hipep_tensor* t) { return t == nullptr || t->value < 0; }

hipep_status check_output(const hipep_tensor* x, const hipep_top_k_geometry* g, const hipep_tensor* y, int32_t dtype,
                          const char* name) {
  if (is_absent(y)) return HIPEP_OK;
  bool fits = y->dtype == dtype && y->rank == x->rank;
  for (int32_t i = 0; fits && i < x->rank; ++i) fits = y->dims[i] == (i == g->axis ? g->k : x->dims[i]);
  if (fits) return HIPEP_OK;
  return hipep_fail(HIPEP_INVALID, "TopK: %s must be %s of the shape of X with %lld along axis %d", name,
                    hipep_dtype_name(dtype), static_cast<long long>(g->k), g->axis);
}

}  // namespace

int32_t hipep_top_k_variant_count(void) { return kVariants + 1; }

const char* hipep_top_k_variant_name(int32_t variant) {
  if (variant == 0) return "choose";
  return variant > 0 && variant <= kVariants ? variant_at(variant - 1).name : nullptr;
}

hipep_status hipep_plan_top_k(hipep_emitter* emitter, const hipep_top_k_geometry* g, const hipep_tensor* x,
                              const hipep_tensor* values, const hipep_tensor* indices) {
  Problem p = {};
  if (!sort_order(x->dtype, g->largest != 0, &p.order, &p.width)) {
    return hipep_fail(HIPEP_UNSUPPORTED, "TopK: no kernel for X of %s", hipep_dtype_name(x->dtype));
  }
  if (x->rank < 1 || x->rank > HIPEP_MAX_RANK || g->axis < 0 || g->axis >= x->rank) {
    return hipep_fail(HIPEP_INVALID, "TopK: axis %d is not one of X, which has rank %d", g->axis, x->rank);
  }
  p.extent = x->dims[g->axis];
  if (g->k < 0 || g->k > p.extent) {
    return hipep_fail(HIPEP_INVALID, "TopK: K is %lld, but X has %lld elements along axis %d",
                      static_cast<long long>(g->k), static_cast<long long>(p.extent), g->axis);
  }
  if (g->variant < 0 || g->variant > kVariants) {
    return hipep_fail(HIPEP_INVALID, "TopK: there is no variant %d, the last is %d", g->variant, kVariants);
  }
  hipep_status status = check_output(x, g, values, x->dtype, "Values");
  if (status == HIPEP_OK) status = check_output(x, g, indices, HIPEP_INT64, "Indices");
  if (status != HIPEP_OK) return status;

  p.rows = p.inner = 1;
  for (int32_t i = 0; i < x->rank; ++i) {
    if (i != g->axis) p.rows *= x->dims[i];
    if (i > g->axis) p.inner *= x->dims[i];
  }
  if (p.rows == 0 || g->k == 0 || (is_absent(values) && is_absent(indices))) return HIPEP_OK;
  p.emitter = emitter;
  p.x = x;
  p.values = values;
  p.indices = indices;
  p.k = g->k;
  p.serial = emitter->info->warp_size == 1;

  int32_t at = g->variant - 1;
  if (at < 0) {
    at = 0;
    while (!variant_at(at).applies(p) || !variant_at(at).prefers(p)) ++at;
  } else if (!variant_at(at).applies(p)) {
    return hipep_fail(HIPEP_INVALID, "TopK: variant %s does not take k=%lld of extent %lld on this device",
                      variant_at(at).name, static_cast<long long>(p.k), static_cast<long long>(p.extent));
  }
  if (emitter->debug) {
    hipep_describe(emitter, "%s k=%lld axis=%d extent=%lld rows=%lld dtype=%s", variant_at(at).name,
                   static_cast<long long>(p.k), g->axis, static_cast<long long>(p.extent),
                   static_cast<long long>(p.rows), hipep_dtype_name(x->dtype));
  }
  return variant_at(at).plan(p);
}
