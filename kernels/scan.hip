#include "device/arithmetic.h"
#include "device/device.h"
#include "device/index.h"
#include "hipep/scan.h"

namespace hipep {
namespace {

struct Added : Plus {
  static constexpr int initial = 0;
};
struct Multiplied {
  static constexpr int initial = 1;
  template <class V>
  HIPEP_DEVICE V operator()(V a, V b) const {
    return a * b;
  }
};

// Exclusive scan over the threads in order; total is that of the block.
template <class Op, class V, int BLOCK>
HIPEP_DEVICE V scan_threads(const Grid<BLOCK>& grid, V value, V* total) {
  const Op op{};
  HIPEP_SHARED(V, partial, warps<BLOCK>::most);
  const int lane = grid.thread() % warp_size();
  const int warp = grid.thread() / warp_size();
  const int count = (BLOCK + warp_size() - 1) / warp_size();
  V inclusive = value;
  for (int by = 1; by < warp_size(); by *= 2) {
    const V other = shuffle_up(inclusive, by);
    if (lane >= by) inclusive = op(other, inclusive);
  }
  V exclusive = shuffle_up(inclusive, 1);
  if (lane == 0) exclusive = Op::initial;
  block_sync();  // partial may still be read from an earlier call
  if (lane == warp_size() - 1 || grid.thread() == BLOCK - 1) partial[warp] = inclusive;
  block_sync();
  V before = Op::initial, all = Op::initial;
  for (int i = 0; i < count; ++i) {
    if (i == warp) before = all;
    all = op(all, partial[i]);
  }
  *total = all;
  return op(before, exclusive);
}

// ROWS: inner is 1.
template <class T, class V, class Op, bool ROWS>
struct Scan {
  struct Unit {
    int64_t begin, end;   // positions in the order of the scan
    int64_t base;         // element at index 0
    int64_t first_total;  // of the row's segments
    int64_t segment;
  };
  const hipep_scan_args& args;

  HIPEP_DEVICE int64_t inner() const { return ROWS ? 1 : args.inner; }
  HIPEP_DEVICE Unit find(int64_t unit) const {
    int64_t column = 0, segment;
    const int64_t row = ROWS ? unit : split(unit, args.inner, args.inner_divisor, args.large != 0, &column);
    const int64_t outer = split(row, args.splits, args.splits_divisor, args.large != 0, &segment);
    const int64_t begin = segment * args.segment;
    return {begin, least(begin + args.segment, args.extent), outer * args.extent * inner() + column,
            outer * args.splits * inner() + column, segment};
  }
  HIPEP_DEVICE int64_t offset(const Unit& unit, int64_t position) const {
    return unit.base + (args.reverse ? args.extent - 1 - position : position) * inner();
  }
  HIPEP_DEVICE V load(int64_t at) const { return static_cast<V>(widen(static_cast<const T*>(args.x)[at])); }
  HIPEP_DEVICE void store(int64_t at, V value) const { static_cast<T*>(args.y)[at] = narrow<T>(value); }
  HIPEP_DEVICE V* total(const Unit& unit, int64_t segment) const {
    return static_cast<V*>(args.totals) + unit.first_total + segment * inner();
  }
  // What comes before the unit.
  HIPEP_DEVICE V carried(const Unit& unit) const {
    V value = Op::initial;
    for (int64_t i = 0; args.totals != nullptr && i < unit.segment; ++i) value = Op{}(value, *total(unit, i));
    return value;
  }

  HIPEP_DEVICE void by_thread(const Unit& unit) const {
    V value = args.only_totals ? V(Op::initial) : carried(unit);
    for (int64_t k = unit.begin; k < unit.end; ++k) {
      const int64_t at = offset(unit, k);
      const V next = Op{}(value, load(at));
      if (!args.only_totals) store(at, args.exclusive ? value : next);
      value = next;
    }
    if (args.only_totals) *total(unit, unit.segment) = value;
  }
  // Neighbouring columns by one thread.
  HIPEP_DEVICE void columns(const Unit& unit, int64_t width) const {
    constexpr int64_t most = 128;
    V value[most];
    for (int64_t first = 0; first < width; first += most) {
      const int64_t n = least(most, width - first);
      Unit own = unit;
      own.base += first;
      own.first_total += first;
      for (int64_t j = 0; j < n; ++j) value[j] = Op::initial;
      for (int64_t i = 0; args.totals != nullptr && !args.only_totals && i < own.segment; ++i) {
        for (int64_t j = 0; j < n; ++j) value[j] = Op{}(value[j], total(own, i)[j]);
      }
      for (int64_t k = own.begin; k < own.end; ++k) {
        const int64_t at = offset(own, k);
        if (args.exclusive && !args.only_totals) {
          for (int64_t j = 0; j < n; ++j) store(at + j, value[j]);
        }
        for (int64_t j = 0; j < n; ++j) value[j] = Op{}(value[j], load(at + j));
        if (!args.exclusive && !args.only_totals) {
          for (int64_t j = 0; j < n; ++j) store(at + j, value[j]);
        }
      }
      for (int64_t j = 0; args.only_totals && j < n; ++j) total(own, own.segment)[j] = value[j];
    }
  }
  template <int BLOCK>
  HIPEP_DEVICE void by_block(const Unit& unit, const Grid<BLOCK>& grid) const {
    constexpr int items = 4;  // of a thread in a tile
    V carry = args.only_totals ? V(Op::initial) : carried(unit);
    for (int64_t tile = unit.begin; tile < unit.end; tile += BLOCK * items) {
      const int64_t first = tile + grid.thread() * items;
      V value[items], own = Op::initial, all;
      for (int j = 0; j < items; ++j) {
        value[j] = first + j < unit.end ? load(offset(unit, first + j)) : V(Op::initial);
        own = Op{}(own, value[j]);
      }
      V so_far = Op{}(carry, scan_threads<Op>(grid, own, &all));
      carry = Op{}(carry, all);
      for (int j = 0; !args.only_totals && j < items && first + j < unit.end; ++j) {
        const V next = Op{}(so_far, value[j]);
        store(offset(unit, first + j), args.exclusive ? so_far : next);
        so_far = next;
      }
    }
    if (args.only_totals && grid.thread() == 0) *total(unit, unit.segment) = carry;
  }
};

template <class T, class V, class Op, int BLOCK>
HIPEP_DEVICE void scan_columns(const hipep_scan_args& args, const Grid<BLOCK>& grid) {
  const Scan<T, V, Op, false> op{args};
  if constexpr (Grid<BLOCK>::size == 1) {
    const Range range = grid.units(args.units);
    for (int64_t unit = range.begin; unit < range.end;) {
      const int64_t width = least(args.inner - unit % args.inner, range.end - unit);
      if (width == 1) {
        op.by_thread(op.find(unit));
      } else {
        op.columns(op.find(unit), width);
      }
      unit += width;
    }
  } else {
    const Range range = grid.elements(args.units);
    for (int64_t unit = range.begin; unit < range.end; unit += range.step) op.by_thread(op.find(unit));
  }
}

template <class T, class V, class Op, int BLOCK>
HIPEP_DEVICE void scan_rows(const hipep_scan_args& args, const Grid<BLOCK>& grid) {
  const Scan<T, V, Op, true> op{args};
  const Range range = grid.units(args.units);
  for (int64_t unit = range.begin; unit < range.end; unit += range.step) {
    if constexpr (Grid<BLOCK>::size == 1) {
      op.by_thread(op.find(unit));
    } else {
      op.by_block(op.find(unit), grid);
    }
  }
}

}  // namespace
}  // namespace hipep

#define SCAN_OF(name, suffix, T, V, Op)                                                                             \
  HIPEP_KERNEL(name##_columns_##suffix, hipep_scan_args, 256) { hipep::scan_columns<T, V, hipep::Op>(args, grid); } \
  HIPEP_KERNEL(name##_rows_##suffix, hipep_scan_args, 256) { hipep::scan_rows<T, V, hipep::Op>(args, grid); }
#define SCAN(suffix, T, V)               \
  SCAN_OF(scan_sum, suffix, T, V, Added) \
  SCAN_OF(scan_product, suffix, T, V, Multiplied)

SCAN(f16, hipep::half, double)
SCAN(bf16, hipep::bfloat16, double)
SCAN(f32, float, double)
SCAN(f64, double, double)
SCAN(u32, uint32_t, uint32_t)
SCAN(u64, uint64_t, uint64_t)
