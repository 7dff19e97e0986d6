#include "device/device.h"
#include "device/order.h"
#include "hipep/reduce.h"

namespace hipep {
namespace {

template <class Key>
struct Best {
  Key key;
  int64_t index;
};

// Elements come in the order of their indices.
template <class Key>
HIPEP_DEVICE bool replaces(Key key, Key best, bool last) {
  return (key > best) | (last & (key == best));
}

// A row whose elements are neighbours: the largest key of each chunk first, then its place in the best chunk.
template <class T>
HIPEP_DEVICE int64_t best_of_run(const T* __restrict__ x, int64_t count, typename Type<T>::Signed mask, bool last) {
  using Key = typename Type<T>::Signed;
  constexpr int64_t chunk = 128;
  Best<Key> best = {Limits<Key>::least, 0};
  for (int64_t first = 0; first < count; first += chunk) {
    const int64_t width = least(chunk, count - first);
    Key key = Limits<Key>::least;
    for (int64_t j = 0; j < width; ++j) key = Larger{}(key, ValueOrder<T>::key(x[first + j], mask));
    if (replaces(key, best.key, last)) best = {key, first};
  }
  const int64_t end = least(best.index + chunk, count);
  if (last) {
    int64_t k = end - 1;
    while (ValueOrder<T>::key(x[k], mask) != best.key) --k;
    return k;
  }
  int64_t k = best.index;
  while (ValueOrder<T>::key(x[k], mask) != best.key) ++k;
  return k;
}

// Neighbouring columns of one segment.
template <class T>
HIPEP_DEVICE void best_of_columns(const T* __restrict__ x, const Segment& segment, int64_t inner, int64_t columns,
                                  typename Type<T>::Signed mask, bool last, int64_t* __restrict__ y) {
  using Key = typename Type<T>::Signed;
  constexpr int64_t tile = 256;
  Key best[tile];
  for (int64_t first = 0; first < columns; first += tile) {
    const int64_t width = least(tile, columns - first);
    int64_t* at = y + first;
    for (int64_t j = 0; j < width; ++j) best[j] = Limits<Key>::least;
    for (int64_t j = 0; j < width; ++j) at[j] = segment.begin;
    for (int64_t k = segment.begin; k < segment.end; ++k) {
      const T* row = x + segment.base + k * inner + first;
      for (int64_t j = 0; j < width; ++j) {
        const Key key = ValueOrder<T>::key(row[j], mask);
        const bool better = replaces(key, best[j], last);
        at[j] = better ? k : at[j];
        best[j] = better ? key : best[j];
      }
    }
  }
}

// The best of a segment's positions first, first + stride, ...; index -1 if there is none.
template <class T>
HIPEP_DEVICE Best<typename Type<T>::Signed> best_strided(const hipep_reduce_args& args, const Segment& segment,
                                                         int64_t first, int64_t stride) {
  using Key = typename Type<T>::Signed;
  const Key mask = static_cast<Key>(args.mask);
  const bool last = args.select_last != 0;
  const T* x = static_cast<const T*>(args.x);
  Best<Key> best = {Limits<Key>::least, -1};
  if (args.candidates != nullptr) {
    const int64_t block = args.extent * args.inner;
    const int64_t base = segment.base / block * args.source_extent * args.inner + segment.base % block;
    for (int64_t k = segment.begin + first; k < segment.end; k += stride) {
      const int64_t index = args.candidates[segment.base + k * args.inner];
      const Key key = ValueOrder<T>::key(x[base + index * args.inner], mask);
      if (replaces(key, best.key, last) | (best.index < 0)) best = {key, index};
    }
  } else {
    for (int64_t k = segment.begin + first; k < segment.end; k += stride) {
      const Key key = ValueOrder<T>::key(x[segment.base + k * args.inner], mask);
      if (replaces(key, best.key, last) | (best.index < 0)) best = {key, k};
    }
  }
  return best;
}

template <class T>
HIPEP_DEVICE void arg_reduce_serial(const hipep_reduce_args& args, Range range) {
  using Key = typename Type<T>::Signed;
  const Key mask = static_cast<Key>(args.mask);
  const bool last = args.select_last != 0;
  const T* x = static_cast<const T*>(args.x);
  int64_t* y = static_cast<int64_t*>(args.y);
  for (int64_t output = range.begin; output < range.end;) {
    const Segment segment = find_segment(args, output);
    if (args.candidates != nullptr) {
      y[output++] = best_strided<T>(args, segment, 0, 1).index;
    } else if (args.inner == 1) {
      const int64_t count = segment.end - segment.begin;
      y[output++] = segment.begin + best_of_run(x + segment.base + segment.begin, count, mask, last);
    } else {
      const int64_t columns = least(args.inner - output % args.inner, range.end - output);
      best_of_columns(x, segment, args.inner, columns, mask, last, y + output);
      output += columns;
    }
  }
}

template <class T, int BLOCK>
HIPEP_DEVICE void arg_reduce(const hipep_reduce_args& args, const Grid<BLOCK>& grid) {
  using Key = typename Type<T>::Signed;
  if constexpr (Grid<BLOCK>::size == 1) {
    arg_reduce_serial<T>(args, grid.units(args.outputs));
  } else if (args.by_block) {
    using Shuffled = typename Word<Key>::type;
    const Range range = grid.units(args.outputs);
    for (int64_t output = range.begin; output < range.end; output += range.step) {
      const Best<Key> own = best_strided<T>(args, find_segment(args, output), grid.thread(), Grid<BLOCK>::size);
      const Shuffled key = block_reduce(grid, static_cast<Shuffled>(own.key), Larger{});
      const bool candidate = own.index >= 0 && own.key == static_cast<Key>(key);
      const int64_t rank = args.select_last ? own.index : -own.index;  // the larger rank wins
      const int64_t winner = block_reduce(grid, candidate ? rank : Limits<int64_t>::least, Larger{});
      if (grid.thread() == 0) static_cast<int64_t*>(args.y)[output] = args.select_last ? winner : -winner;
    }
  } else {
    const Range range = grid.elements(args.outputs);
    for (int64_t output = range.begin; output < range.end; output += range.step) {
      static_cast<int64_t*>(args.y)[output] = best_strided<T>(args, find_segment(args, output), 0, 1).index;
    }
  }
}

}  // namespace
}  // namespace hipep

#define ARG_REDUCE(suffix, T) \
  HIPEP_KERNEL(reduce_arg_##suffix, hipep_reduce_args, 256) { hipep::arg_reduce<T>(args, grid); }
ARG_REDUCE(f16, hipep::half)
ARG_REDUCE(bf16, hipep::bfloat16)
ARG_REDUCE(f32, float)
ARG_REDUCE(f64, double)
ARG_REDUCE(i8, int8_t)
ARG_REDUCE(i16, int16_t)
ARG_REDUCE(i32, int32_t)
ARG_REDUCE(i64, int64_t)
