// Reductions of segments. What is reduced is an operator:
//
//   In, Out, Value    stored types, and the type that is combined
//   Combine, initial  associative and commutative, and its neutral element
//   unrolled          elements that a thread of a GPU has in flight
//   packed            whether it is worth the registers to read 16 bytes at a time
//   load(x)           of an element, or of what an earlier pass left
//   store(value)      what is written
#pragma once

#include "device/arithmetic.h"
#include "device/device.h"
#include "device/index.h"
#include "device/order.h"
#include "hipep/reduce.h"

namespace hipep {
namespace {

template <class R>
HIPEP_DEVICE typename R::Value reduce_run(const R& reducer, const typename R::In* __restrict__ x, int64_t count) {
  using Value = typename R::Value;
  const typename R::Combine combine{};
  if constexpr (!Type<Value>::is_float) {
    Value value = reducer.initial;
    for (int64_t k = 0; k < count; ++k) value = combine(value, reducer.load(x[k]));
    return value;
  } else {
    constexpr int lanes = 16;  // on every instruction set, for the same bits
    Value lane[lanes];
    for (int j = 0; j < lanes; ++j) lane[j] = reducer.initial;
    int64_t k = 0;
    for (; k + lanes <= count; k += lanes) {
      for (int j = 0; j < lanes; ++j) lane[j] = combine(lane[j], reducer.load(x[k + j]));
    }
    for (int j = 0; k + j < count; ++j) lane[j] = combine(lane[j], reducer.load(x[k + j]));
    for (int width = lanes / 2; width > 0; width /= 2) {
      for (int j = 0; j < width; ++j) lane[j] = combine(lane[j], lane[j + width]);
    }
    return lane[0];
  }
}

// Neighbouring columns of one segment.
template <class R>
HIPEP_DEVICE void reduce_columns(const R& reducer, const typename R::In* __restrict__ x, const Segment& segment,
                                 int64_t inner, int64_t columns, typename R::Out* __restrict__ y) {
  constexpr int64_t tile = 256;
  typename R::Value value[tile];
  for (int64_t first = 0; first < columns; first += tile) {
    const int64_t width = least(tile, columns - first);
    for (int64_t j = 0; j < width; ++j) value[j] = reducer.initial;
    for (int64_t k = segment.begin; k < segment.end; ++k) {
      const typename R::In* row = x + segment.base + k * inner + first;
      for (int64_t j = 0; j < width; ++j) value[j] = typename R::Combine{}(value[j], reducer.load(row[j]));
    }
    for (int64_t j = 0; j < width; ++j) y[first + j] = reducer.store(value[j]);
  }
}

constexpr int64_t few_columns = 32;

// All columns of a segment with few of them: many rows are taken as one, then folded. The first `inner` values are the
// result.
template <class R>
HIPEP_DEVICE void reduce_few_columns(const R& reducer, const typename R::In* __restrict__ x, int64_t rows,
                                     int64_t inner, typename R::Value (&value)[4 * few_columns]) {
  const typename R::Combine combine{};
  const int64_t most = least(4 * few_columns / inner, rows / 4);
  const int64_t width = most > 1 ? most * inner : inner;
  const int64_t count = rows * inner;
  for (int64_t j = 0; j < width; ++j) value[j] = reducer.initial;
  int64_t k = 0;
  for (; k + width <= count; k += width) {
    for (int64_t j = 0; j < width; ++j) value[j] = combine(value[j], reducer.load(x[k + j]));
  }
  for (int64_t j = 0; k + j < count; ++j) value[j] = combine(value[j], reducer.load(x[k + j]));
  for (int64_t j = inner; j < width; ++j) value[j % inner] = combine(value[j % inner], value[j]);
}

template <class R>
HIPEP_DEVICE void reduce_serial(const hipep_reduce_args& args, const R& reducer, Range range) {
  const typename R::In* x = static_cast<const typename R::In*>(args.x);
  typename R::Out* y = static_cast<typename R::Out*>(args.y);
  for (int64_t output = range.begin; output < range.end;) {
    const Segment segment = find_segment(args, output);
    if (args.inner == 1) {
      y[output] = reducer.store(reduce_run(reducer, x + segment.base + segment.begin, segment.end - segment.begin));
      ++output;
      continue;
    }
    const int64_t column = output % args.inner;
    const int64_t columns = least(args.inner - column, range.end - output);
    if (args.inner <= few_columns) {  // whatever part of the columns is asked for, each is summed in the same order
      typename R::Value value[4 * few_columns];
      const typename R::In* from = x + segment.base - column + segment.begin * args.inner;
      reduce_few_columns(reducer, from, segment.end - segment.begin, args.inner, value);
      for (int64_t j = 0; j < columns; ++j) y[output + j] = reducer.store(value[column + j]);
    } else {
      reduce_columns(reducer, x, segment, args.inner, columns, y + output);
    }
    output += columns;
  }
}

// The part of a segment that begins at position first and goes on by steps of stride.
template <class R>
HIPEP_DEVICE typename R::Value reduce_strided(const hipep_reduce_args& args, const R& reducer, const Segment& segment,
                                              int64_t first, int64_t stride) {
  const typename R::In* x = static_cast<const typename R::In*>(args.x) + segment.base;
  typename R::Value value = reducer.initial;
#pragma unroll R::unrolled
  for (int64_t k = segment.begin + first; k < segment.end; k += stride) {
    value = typename R::Combine{}(value, reducer.load(x[k * args.inner]));
  }
  return value;
}

// The same for neighbouring elements, 16 bytes at a time.
template <class R, int BLOCK>
HIPEP_DEVICE typename R::Value reduce_packs(const hipep_reduce_args& args, const R& reducer, const Segment& segment,
                                            const Grid<BLOCK>& grid) {
  using In = typename R::In;
  using Value = typename R::Value;
  constexpr int items = wide<sizeof(In)>::items;
  const typename R::Combine combine{};
  const In* x = static_cast<const In*>(args.x) + segment.base;
  Value value[items];
  for (int j = 0; j < items; ++j) value[j] = reducer.initial;
#pragma unroll 2
  for (int64_t k = segment.begin + grid.thread() * items; k < segment.end; k += BLOCK * items) {
    const Pack<In, items> pack = *reinterpret_cast<const Pack<In, items>*>(x + k);
    for (int j = 0; j < items; ++j) value[j] = combine(value[j], reducer.load(pack.item[j]));
  }
  for (int j = 1; j < items; ++j) value[0] = combine(value[0], value[j]);
  return value[0];
}

template <class R, int BLOCK>
HIPEP_DEVICE typename R::Value reduce_by_block(const hipep_reduce_args& args, const R& reducer, const Segment& segment,
                                               const Grid<BLOCK>& grid) {
  if constexpr (R::packed) {
    if (args.wide) return reduce_packs(args, reducer, segment, grid);
  }
  return reduce_strided(args, reducer, segment, grid.thread(), Grid<BLOCK>::size);
}

template <class R, int BLOCK>
HIPEP_DEVICE void reduce(const hipep_reduce_args& args, const Grid<BLOCK>& grid) {
  const R reducer(args);
  if constexpr (Grid<BLOCK>::size == 1) {
    reduce_serial(args, reducer, grid.units(args.outputs));
  } else if (args.by_block) {
    using Value = typename R::Value;
    using Shuffled = typename Word<Value>::type;
    const Range range = grid.units(args.outputs);
    for (int64_t output = range.begin; output < range.end; output += range.step) {
      const Segment segment = find_segment(args, output);
      const Value part = reduce_by_block(args, reducer, segment, grid);
      const Shuffled all = block_reduce(grid, static_cast<Shuffled>(part), typename R::Combine{});
      if (grid.thread() == 0) static_cast<typename R::Out*>(args.y)[output] = reducer.store(static_cast<Value>(all));
    }
  } else {
    const Range range = grid.elements(args.outputs);
    for (int64_t output = range.begin; output < range.end; output += range.step) {
      const Segment segment = find_segment(args, output);
      static_cast<typename R::Out*>(args.y)[output] = reducer.store(reduce_strided(args, reducer, segment, 0, 1));
    }
  }
}

}  // namespace
}  // namespace hipep
