// Rows whose elements are inner apart, for the operators of device/rows.h: neighbouring threads take neighbouring rows.
#pragma once

#include "device/rows.h"

namespace hipep {
namespace {

// A tile of neighbouring columns by one thread.
template <class Op>
HIPEP_DEVICE void column_tile(const Op& op, const hipep_rows& rows, int64_t base, int64_t width) {
  using Work = typename Op::Work;
  constexpr int64_t most = 128;
  const typename Op::First combine{};
  Work first[most], second[most];
  typename Op::Coefficients coefficients[most];
  for (int64_t done = 0; done < width; done += most, base += most) {
    const int64_t n = least(most, width - done);
    for (int64_t j = 0; j < n; ++j) first[j] = op.has_first() ? Op::First::initial : Work(0);
    for (int64_t j = 0; j < n; ++j) second[j] = 0;
    if (op.has_first()) {
      for (int64_t k = 0; k < rows.extent; ++k) {
        const int64_t at = base + k * rows.inner;
        for (int64_t j = 0; j < n; ++j) first[j] = combine(first[j], op.first(op.element(at + j)));
      }
      for (int64_t j = 0; j < n; ++j) first[j] = op.close_first(first[j], static_cast<Work>(rows.extent));
    }
    for (int64_t k = 0; k < rows.extent; ++k) {
      const int64_t at = base + k * rows.inner;
      for (int64_t j = 0; j < n; ++j) {
        Work value = op.element(at + j);
        second[j] += op.second(value, first[j]);
      }
    }
    for (int64_t j = 0; j < n; ++j) {
      coefficients[j] = op.close({first[j], second[j], static_cast<Work>(rows.extent)});
    }
    for (int64_t k = 0; k < rows.extent; ++k) {
      const int64_t at = base + k * rows.inner;
      for (int64_t j = 0; j < n; ++j) {
        Work value = op.element(at + j);
        op.second(value, first[j]);
        op.put(at + j, value, coefficients[j]);
      }
    }
  }
}

// rows.threads threads on each of BLOCK / rows.threads neighbouring rows.
template <class Op, int BLOCK>
struct ColumnGroup {
  using Work = typename Op::Work;
  const hipep_rows& rows;
  int columns, slice;
  int64_t base;
  bool inside;

  template <class Combine, class F>
  HIPEP_DEVICE Work reduce(const Grid<BLOCK>& grid, const Op& op, Combine combine, F f) const {
    HIPEP_SHARED(Work, partial, block<BLOCK>::size);
    Work value = Combine::initial;
    for (int64_t k = slice; inside && k < rows.extent; k += rows.threads) {
      value = combine(value, f(op.element(base + k * rows.inner)));
    }
    if (rows.threads == 1) return value;
    block_sync();  // partial may still be read from an earlier call
    partial[grid.thread()] = value;
    block_sync();
    for (int by = rows.threads / 2; by > 0; by /= 2) {
      if (slice < by) partial[grid.thread()] = combine(partial[grid.thread()], partial[grid.thread() + by * columns]);
      block_sync();
    }
    return partial[grid.thread() % columns];
  }
};

template <class Op, int BLOCK>
HIPEP_DEVICE void rows_of_columns(const Op& op, const hipep_rows& rows, const Grid<BLOCK>& grid) {
  using Work = typename Op::Work;
  if constexpr (Grid<BLOCK>::size == 1) {
    const Range range = grid.units(rows.count);
    for (int64_t row = range.begin; row < range.end;) {
      int64_t column;
      const int64_t outer = split(row, rows.inner, rows.inner_divisor, rows.large != 0, &column);
      const int64_t width = least(rows.inner - column, range.end - row);
      column_tile(op, rows, outer * rows.extent * rows.inner + column, width);
      row += width;
    }
  } else {
    const int columns = BLOCK / rows.threads;
    const Range range = grid.units((rows.count + columns - 1) / columns);
    for (int64_t tile = range.begin; tile < range.end; tile += range.step) {
      const int64_t row = tile * columns + grid.thread() % columns;
      const bool inside = row < rows.count;
      int64_t column = 0;
      const int64_t outer = split(inside ? row : 0, rows.inner, rows.inner_divisor, rows.large != 0, &column);
      const int64_t base = outer * rows.extent * rows.inner + column;
      const ColumnGroup<Op, BLOCK> group{rows, columns, grid.thread() / columns, base, inside};
      const Work count = static_cast<Work>(rows.extent);
      Work first = 0;
      if (op.has_first()) {
        first = group.reduce(grid, op, typename Op::First{}, [&op](Work value) { return op.first(value); });
        first = op.close_first(first, count);
      }
      const Work second =
          group.reduce(grid, op, Sum<Work>{}, [&op, first](Work value) { return op.second(value, first); });
      const auto coefficients = op.close({first, second, count});
      for (int64_t k = group.slice; inside && k < rows.extent; k += rows.threads) {
        const int64_t at = base + k * rows.inner;
        Work value = op.element(at);
        op.second(value, first);
        op.put(at, value, coefficients);
      }
    }
  }
}

}  // namespace
}  // namespace hipep
