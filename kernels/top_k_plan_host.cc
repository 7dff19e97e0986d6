// TopK on the host: kernels of one thread a row.
#include <stddef.h>

#include "top_k_plan.h"

namespace hipep {
namespace top_k {
namespace {

#define KERNELS(name) HIPEP_TOP_K_KERNELS("top_k", name, 1)
hipep_kernel host_rows[4] = KERNELS("top_k_rows");
hipep_kernel host_huge_rows[4] = {{"top_k", "top_k_huge_rows_8", 1, {}},
                                  {"top_k", "top_k_huge_rows_16", 1, {}},
                                  {"top_k", "top_k_huge_rows_32", 1, {}},
                                  {"top_k", "top_k_rows_64", 1, {}}};
hipep_kernel host_columns[5][4] = {KERNELS("top_k_columns1"), KERNELS("top_k_columns2"), KERNELS("top_k_columns3"),
                                   KERNELS("top_k_columns5"), KERNELS("top_k_columns8")};
#undef KERNELS

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

}  // namespace

const Variant host_variants[kHostVariants] = {
    {"top_k_columns", is_host_columns, always, plan_host_columns},
    {"top_k_rows", is_host_row, always, plan_host_rows},
    {"top_k_huge_rows", is_host, always, plan_host_huge_rows},
};

}  // namespace top_k
}  // namespace hipep
