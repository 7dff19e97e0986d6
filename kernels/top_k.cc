#include "hipep/top_k.h"

#include <stddef.h>

#include "device/top_k_args.h"

namespace {

using hipep::SortOrder;
using hipep::TopKArgs;
using hipep::TopKHostArgs;

constexpr int64_t kRankExtent = 512, kShortSelection = 512, kSelection = 2048, kShortRow = 8192;
constexpr int64_t kMostBlocks = 1 << 20;

struct Problem {
  hipep_emitter* emitter;
  const hipep_tensor *x, *values, *indices;
  int64_t rows, extent, inner, k;
  int width;  // log2 of the bytes of an element
  SortOrder order;
  bool serial;
  const char* variant;

  int64_t outer() const { return rows / inner; }
  int64_t element_bytes() const { return int64_t{1} << width; }
  int64_t key_bytes() const { return width == 3 ? 8 : 4; }
};

// One kernel for each width of element: 1, 2, 4 and 8 bytes.
#define KERNELS(name, block)            \
  {                                     \
      {"top_k", name "_8", block, {}},  \
      {"top_k", name "_16", block, {}}, \
      {"top_k", name "_32", block, {}}, \
      {"top_k", name "_64", block, {}}, \
  }
hipep_kernel one[4] = KERNELS("top_k_one", 256);
hipep_kernel one_long[4] = KERNELS("top_k_one_long", 1024);
hipep_kernel rank[4] = KERNELS("top_k_rank", 256);
hipep_kernel select_short[4] = KERNELS("top_k_select", 256);
hipep_kernel select_long[4] = KERNELS("top_k_select_long", 1024);
hipep_kernel collect[4] = KERNELS("top_k_collect", 512);
hipep_kernel store[4] = KERNELS("top_k_store", 256);
hipep_kernel host_rows[4] = KERNELS("top_k_rows", 1);
hipep_kernel host_huge_rows[4] = {{"top_k", "top_k_huge_rows_8", 1, {}},
                                  {"top_k", "top_k_huge_rows_16", 1, {}},
                                  {"top_k", "top_k_huge_rows_32", 1, {}},
                                  {"top_k", "top_k_rows_64", 1, {}}};
hipep_kernel host_columns[5][4] = {KERNELS("top_k_columns1", 1), KERNELS("top_k_columns2", 1),
                                   KERNELS("top_k_columns3", 1), KERNELS("top_k_columns5", 1),
                                   KERNELS("top_k_columns8", 1)};
#undef KERNELS
hipep_kernel sort_tile[2] = {{"top_k", "top_k_sort_tile_32", 1024, {}}, {"top_k", "top_k_sort_tile_64", 1024, {}}};
hipep_kernel merge[2] = {{"top_k", "top_k_merge_32", 256, {}}, {"top_k", "top_k_merge_64", 256, {}}};

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

int64_t ceiling(int64_t a, int64_t b) { return a / b + (a % b != 0 ? 1 : 0); }

hipep_status emit_device(const Problem& p, hipep_kernel* kernel, int64_t units, bool elements, int64_t unit_cost,
                         const TopKArgs& args, const hipep_tensor* const (&workspace)[4]) {
  const hipep_pointer pointers[] = {
      {offsetof(TopKArgs, x), p.x},
      {offsetof(TopKArgs, values), p.values},
      {offsetof(TopKArgs, indices), p.indices},
      {offsetof(TopKArgs, keys), workspace[0]},
      {offsetof(TopKArgs, places), workspace[1]},
      {offsetof(TopKArgs, next_keys), workspace[2]},
      {offsetof(TopKArgs, next_places), workspace[3]},
  };
  const int64_t blocks = elements ? ceiling(units, kernel->block) : units;
  return hipep_emit(p.emitter, kernel, static_cast<uint32_t>(blocks < kMostBlocks ? blocks : kMostBlocks), units,
                    unit_cost, &args, sizeof args, pointers, 7);
}

TopKArgs device_args(const Problem& p) {
  TopKArgs args = {};
  args.rows = p.rows;
  args.extent = p.extent;
  args.inner = p.inner;
  args.k = p.k;
  args.order = p.order;
  return args;
}

hipep_status emit_rows(const Problem& p, hipep_kernel* kernels, int64_t units, int64_t unit_cost) {
  return emit_device(p, &kernels[p.width], units, false, unit_cost, device_args(p), {});
}

bool is_one(const Problem& p) { return p.k == 1; }
hipep_status plan_one(const Problem& p) {
  return emit_rows(p, p.extent <= kShortRow ? one : one_long, p.rows, 1000 * p.extent);
}

bool is_ranked(const Problem& p) { return p.extent <= kRankExtent; }
hipep_status plan_rank(const Problem& p) {
  const int64_t threads = p.serial ? 1 : rank[p.width].block;
  int64_t group = 1;
  while (group < p.extent && group < threads) group *= 2;
  return emit_rows(p, rank, ceiling(p.rows, threads / group), 1000 * p.extent * p.extent);
}

bool is_short_selection(const Problem& p) { return p.k <= kShortSelection && p.extent <= kShortRow; }
hipep_status plan_select(const Problem& p) { return emit_rows(p, select_short, p.rows, 10000 * p.extent); }

bool is_selection(const Problem& p) { return p.k <= kSelection && p.extent < UINT32_MAX; }
hipep_status plan_select_long(const Problem& p) { return emit_rows(p, select_long, p.rows, 10000 * p.extent); }

bool is_any(const Problem&) { return true; }
hipep_status plan_sort(const Problem& p) {
  const int wide = p.width == 3;
  hipep_tensor keys[2], places[2];
  for (int i = 0; i < 2; ++i) {
    hipep_status status = p.emitter->workspace(p.emitter, p.rows * p.k * p.key_bytes(), &keys[i]);
    if (status == HIPEP_OK) status = p.emitter->workspace(p.emitter, p.rows * p.k * 8, &places[i]);
    if (status != HIPEP_OK) return status;
  }
  TopKArgs args = device_args(p);
  int from = 0;
  hipep_status status =
      emit_device(p, &collect[p.width], p.rows, false, 10000 * p.extent, args, {&keys[0], &places[0]});
  if (status == HIPEP_OK) {
    status = emit_device(p, &sort_tile[wide], p.rows * ceiling(p.k, kSelection), false, 100000 * kSelection, args,
                         {&keys[0], &places[0]});
  }
  for (args.run = kSelection; status == HIPEP_OK && args.run < p.k; args.run *= 2) {
    status = emit_device(p, &merge[wide], p.rows * p.k, true, 20000, args,
                         {&keys[from], &places[from], &keys[1 - from], &places[1 - from]});
    from = 1 - from;
  }
  if (status != HIPEP_OK) return status;
  return emit_device(p, &store[p.width], p.rows * p.k, true, 2000, args, {&keys[from], &places[from]});
}

int64_t clamp(int64_t value, int64_t low, int64_t high) { return value < low ? low : value < high ? value : high; }

hipep_status emit_host(const Problem& p, hipep_kernel* kernel, int64_t index_bytes, int64_t key_bytes) {
  constexpr int64_t slack = 64, most_tasks = 256, most_scratch = int64_t{64} << 20;
  TopKHostArgs args = {};
  args.rows = p.rows;
  args.extent = p.extent;
  args.inner = p.inner;
  args.k = p.k;
  args.order = p.order;
  // Four maxima for each of the k make the bound nearly the k-th of the sample. A larger sample costs a second look at
  // its elements, a smaller one lets more candidates through, each of which interrupts the scan.
  const int64_t maxima = ceiling(4 * p.k, 64) * 64;
  if (2 * maxima <= p.extent) {
    const int64_t sampled = 4096 + 256 * p.k;
    args.maxima = maxima;
    args.sample = maxima * clamp(1024 / maxima, 1, p.extent / maxima);
    args.sections = clamp(sampled / args.sample, 1, p.extent / args.sample);
    args.capacity = 2 * p.k + 2 * slack;
  } else {
    args.capacity = p.extent;
  }
  const int64_t room = args.capacity > args.maxima ? args.capacity : args.maxima;
  args.columns = p.inner == 1 ? 0 : clamp((int64_t{256} << 10) / (p.extent * p.element_bytes()), 1, 64);
  args.scratch_bytes = (args.capacity + slack) * (key_bytes + index_bytes) + (room + slack) * key_bytes +
                       256 * key_bytes + 2 * p.k * (index_bytes + key_bytes) +
                       args.columns * p.extent * p.element_bytes() + 1024;
  args.scratch_bytes = ceiling(args.scratch_bytes, 256) * 256;
  const int64_t shares = p.inner == 1 ? p.rows : p.outer() * ceiling(p.inner, args.columns);
  args.tasks = clamp(shares, 1, clamp(most_scratch / args.scratch_bytes, 1, most_tasks));
  const int64_t row_cost = 100000 + 100 * p.extent + 10000 * p.k + (p.inner == 1 ? 0 : 500 * p.extent);

  hipep_tensor scratch;
  const hipep_status status = p.emitter->workspace(p.emitter, args.tasks * args.scratch_bytes, &scratch);
  if (status != HIPEP_OK) return status;
  const hipep_pointer pointers[] = {
      {offsetof(TopKHostArgs, x), p.x},
      {offsetof(TopKHostArgs, values), p.values},
      {offsetof(TopKHostArgs, indices), p.indices},
      {offsetof(TopKHostArgs, scratch), &scratch},
  };
  return hipep_emit(p.emitter, kernel, 1, args.tasks, row_cost * ceiling(p.rows, args.tasks), &args, sizeof args,
                    pointers, 4);
}

bool is_host_row(const Problem& p) { return p.serial && p.extent <= UINT32_MAX; }
hipep_status plan_host_rows(const Problem& p) {
  return emit_host(p, &host_rows[p.width], p.width == 3 ? 8 : 4, p.key_bytes());
}
bool is_host(const Problem& p) { return p.serial; }
hipep_status plan_host_huge_rows(const Problem& p) { return emit_host(p, &host_huge_rows[p.width], 8, 8); }

bool is_host_columns(const Problem& p) { return p.serial && p.k <= 8 && p.inner >= 8 && p.extent <= INT32_MAX; }
hipep_status plan_host_columns(const Problem& p) {
  const int64_t network = p.k <= 3 ? p.k - 1 : p.k <= 5 ? 3 : 4;
  TopKHostArgs args = {};
  args.rows = p.rows;
  args.extent = p.extent;
  args.inner = p.inner;
  args.k = p.k;
  args.order = p.order;
  const int64_t tile = TopKHostArgs::tile_bytes / p.key_bytes();
  const int64_t columns = p.inner < tile ? p.inner : tile;
  args.tasks = p.outer() * ceiling(p.inner, tile);
  const hipep_pointer pointers[] = {
      {offsetof(TopKHostArgs, x), p.x},
      {offsetof(TopKHostArgs, values), p.values},
      {offsetof(TopKHostArgs, indices), p.indices},
  };
  return hipep_emit(p.emitter, &host_columns[network][p.width], 1, args.tasks, columns * p.extent * (100 + 100 * p.k),
                    &args, sizeof args, pointers, 3);
}

// The first that applies is taken.
const struct {
  const char* name;
  bool (*applies)(const Problem& p);
  hipep_status (*plan)(const Problem& p);
} variants[] = {
    {"top_k_columns", is_host_columns, plan_host_columns},
    {"top_k_rows", is_host_row, plan_host_rows},
    {"top_k_huge_rows", is_host, plan_host_huge_rows},
    {"top_k_one", is_one, plan_one},
    {"top_k_rank", is_ranked, plan_rank},
    {"top_k_select", is_short_selection, plan_select},
    {"top_k_select_long", is_selection, plan_select_long},
    {"top_k_sort", is_any, plan_sort},
};
constexpr int32_t kVariants = sizeof variants / sizeof variants[0];

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
  return variant > 0 && variant <= kVariants ? variants[variant - 1].name : nullptr;
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
    while (!variants[at].applies(p)) ++at;
  } else if (!variants[at].applies(p)) {
    return hipep_fail(HIPEP_INVALID, "TopK: variant %s does not take k=%lld of extent %lld on this device",
                      variants[at].name, static_cast<long long>(p.k), static_cast<long long>(p.extent));
  }
  if (emitter->debug) {
    hipep_describe(emitter, "%s k=%lld axis=%d extent=%lld rows=%lld dtype=%s", variants[at].name,
                   static_cast<long long>(p.k), g->axis, static_cast<long long>(p.extent),
                   static_cast<long long>(p.rows), hipep_dtype_name(x->dtype));
  }
  return variants[at].plan(p);
}
