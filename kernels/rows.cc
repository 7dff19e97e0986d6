#include "hipep/rows.h"

namespace {

int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

int32_t work_bytes(int32_t dtype) { return dtype == HIPEP_DOUBLE ? 8 : 4; }
int32_t items_of(int32_t dtype, bool wide) { return HIPEP_ROW_ITEMS(work_bytes(dtype), wide); }

// Few elements for each thread while rows are few; full registers where threads are scarce.
int32_t threads_of_segment(const hipep_device_info& info, int64_t parts, int64_t segment, int32_t dtype, bool wide) {
  const int64_t items = items_of(dtype, wide) < 16 ? items_of(dtype, wide) : 16;
  int32_t threads = 1;
  while (threads < info.warp_size && threads * items < segment) threads *= 2;
  if (threads * items < segment) return HIPEP_ROW_BLOCK;
  const int64_t pack = wide ? 16 / static_cast<int64_t>(hipep_dtype_size(dtype)) : 1;
  while (threads < info.warp_size && threads * pack < segment && parts * threads < info.compute_units * 1024) {
    threads *= 2;
  }
  return threads;
}

// Narrow groups of columns only where there are too few columns for all the threads.
int32_t threads_of_column(const hipep_device_info& info, int64_t columns, int64_t extent) {
  int32_t threads = 1;
  while (threads < HIPEP_ROW_BLOCK / 16 && extent >= 8 * threads &&
         columns * threads < int64_t{info.compute_units} * 1024) {
    threads *= 2;
  }
  while (threads < HIPEP_ROW_BLOCK && columns * threads < HIPEP_ROW_BLOCK && extent >= 8 * threads) threads *= 2;
  return threads;
}

}  // namespace

hipep_rows hipep_make_rows(const hipep_device_info* info, int64_t outer, int64_t extent, int64_t inner, int32_t dtype,
                           int32_t aligned) {
  hipep_rows rows = {};
  rows.count = outer * inner;
  rows.extent = extent;
  rows.inner = inner;
  rows.splits = 1;
  rows.segment = extent;
  if (inner == 1) {
    const int64_t pack = 16 / static_cast<int64_t>(hipep_dtype_size(dtype));
    rows.wide = info->warp_size > 1 && aligned && extent % pack == 0;
    const int64_t most = info->warp_size == 1 ? HIPEP_ROW_HOST_ITEMS(work_bytes(dtype))
                                              : int64_t{HIPEP_ROW_BLOCK} * items_of(dtype, rows.wide != 0);
    rows.splits = hipep_divide_up(extent, most);
    rows.segment = least(extent, hipep_divide_up(hipep_divide_up(extent, rows.splits), pack) * pack);
    rows.splits = hipep_divide_up(extent, rows.segment);
    rows.threads = threads_of_segment(*info, rows.count * rows.splits, rows.segment, dtype, rows.wide != 0);
  } else {
    rows.threads = threads_of_column(*info, rows.count, extent);
  }
  rows.inner_divisor = hipep_make_divisor(inner);
  rows.splits_divisor = hipep_make_divisor(rows.splits);
  rows.large = rows.count * rows.splits > INT32_MAX;
  return rows;
}

hipep_status hipep_emit_rows(hipep_emitter* e, const hipep_row_kernels* kernels, const hipep_rows* rows, int32_t dtype,
                             const void* args, size_t args_bytes, const hipep_pointer* pointers, int32_t pointer_count,
                             uint32_t states) {
  const int64_t parts = rows->count * rows->splits;
  const int64_t cost = 5000 + 2500 * rows->segment;
  hipep_kernel* kernel = rows->inner > 1 ? kernels->columns : rows->wide ? kernels->held_wide : kernels->held;
  const uint32_t grid = hipep_grid(e->info, parts * rows->threads, HIPEP_ROW_BLOCK);
  if (e->debug) {
    hipep_describe(e, "%s, %lld rows of %lld, %d threads for each%s", kernel->name, static_cast<long long>(rows->count),
                   static_cast<long long>(rows->extent), rows->threads, rows->splits > 1 ? ", rows are split" : "");
  }
  if (rows->splits == 1) {
    return hipep_emit(e, kernel, grid, parts, cost, args, args_bytes, pointers, pointer_count);
  }
  const int64_t state_bytes = 3 * work_bytes(dtype);
  hipep_tensor workspace;
  const hipep_status status = e->workspace(e, parts * state_bytes, &workspace);
  if (status != HIPEP_OK) return status;
  hipep_pointer all[16];
  for (int32_t i = 0; i < pointer_count; ++i) all[i] = pointers[i];
  all[pointer_count] = {states, &workspace};
  hipep_status emitted = hipep_emit(e, kernel, grid, parts, cost, args, args_bytes, all, pointer_count + 1);
  if (emitted != HIPEP_OK) return emitted;
  const uint32_t blocks = hipep_grid(e->info, parts * HIPEP_ROW_BLOCK, HIPEP_ROW_BLOCK);
  hipep_kernel* second = rows->wide ? kernels->split_wide : kernels->split;
  return hipep_emit(e, second, blocks, parts, cost, args, args_bytes, all, pointer_count + 1);
}
