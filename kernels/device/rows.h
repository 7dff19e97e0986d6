// Rows that are reduced and then mapped (see hipep/rows.h). What is computed is an operator:
//
//   Work                      float or double
//   First                     how first() of the elements is combined; First::initial is its neutral element
//   has_first()               whether it is wanted, else it is 0
//   first(x)                  of an element
//   close_first(value, n)     what n elements combine to, given to second()
//   second(x, first)          of an element; these are added; x may be left as what store() is to have
//   merge(a, b)               statistics of two parts of a row
//   close(state)              the row's coefficients for the map
//   load<N>(row, k, to)       N elements of a row from position k on
//   loaded<N>(row, k, x)      called with each element once
//   store<N>(row, k, x, c)    their results
//   load_run, loaded_run, store_run: the same for any number of elements
//   finish(row, c)            once for each row
// and for rows that are columns, element(offset) and put(offset, x, c).
#pragma once

#include "device/arithmetic.h"
#include "device/index.h"
#include "hipep/rows.h"

namespace hipep {
namespace {

template <class Work>
struct RowState {
  Work first, second, count;
};
template <class Work>
HIPEP_DEVICE RowState<Work> shuffle_xor(RowState<Work> state, int mask) {
  return {shuffle_xor(state.first, mask), shuffle_xor(state.second, mask), shuffle_xor(state.count, mask)};
}
template <class Work>
HIPEP_DEVICE RowState<Work> shuffle_down(RowState<Work> state, int by) {
  return {shuffle_down(state.first, by), shuffle_down(state.second, by), shuffle_down(state.count, by)};
}

template <class Op>
struct Merge {
  const Op& op;
  HIPEP_DEVICE RowState<typename Op::Work> operator()(RowState<typename Op::Work> a,
                                                      RowState<typename Op::Work> b) const {
    return op.merge(a, b);
  }
};

template <class Work>
struct Sum {
  static constexpr Work initial = 0;
  HIPEP_DEVICE Work operator()(Work a, Work b) const { return a + b; }
};
template <class Work>
struct Greatest {
  static constexpr Work initial = -static_cast<Work>(__builtin_huge_val());
  HIPEP_DEVICE Work operator()(Work a, Work b) const { return a < b ? b : a; }
};

template <int N, class T, class Work>
HIPEP_DEVICE void load_pack(const T* from, Work* to) {
  const Pack<T, N> pack = *reinterpret_cast<const Pack<T, N>*>(from);
  for (int j = 0; j < N; ++j) to[j] = static_cast<Work>(widen(pack.item[j]));
}
template <int N, class T, class Work>
HIPEP_DEVICE void store_pack(T* to, const Work* from) {
  Pack<T, N> pack;
  for (int j = 0; j < N; ++j) pack.item[j] = narrow<T>(from[j]);
  *reinterpret_cast<Pack<T, N>*>(to) = pack;
}

// Elements that a thread holds, N of them in a pack.
template <class Work, int N>
struct row_items {
  static constexpr int count = HIPEP_ROW_ITEMS(sizeof(Work), N > 1);
};
// What a whole row or segment has at most where one thread is the block.
template <class Work>
struct row_limit {
  static constexpr int count = HIPEP_ROW_HOST_ITEMS(sizeof(Work));
};

struct RowPart {
  int64_t row, begin, count;
};
HIPEP_DEVICE RowPart find_part(const hipep_rows& rows, int64_t part) {
  if (rows.splits == 1) return {part, 0, rows.extent};
  int64_t at;
  const int64_t row = split(part, rows.splits, rows.splits_divisor, rows.large != 0, &at);
  const int64_t begin = at * rows.segment;
  return {row, begin, least(rows.segment, rows.extent - begin)};
}

// ---- One thread: all of a part in an array, in loops that vectorise. ----

template <class Combine, class Work, class F>
HIPEP_DEVICE Work reduce_lanes(Work* x, int64_t count, Combine combine, F f) {
  constexpr int lanes = 32;  // on every instruction set, for the same bits; g++ unrolls 16 and then does not vectorise
  Work lane[lanes];
  for (int j = 0; j < lanes; ++j) lane[j] = Combine::initial;
  int64_t k = 0;
  for (; k + lanes <= count; k += lanes) {
    for (int j = 0; j < lanes; ++j) lane[j] = combine(lane[j], f(x[k + j]));
  }
  for (int j = 0; k + j < count; ++j) lane[j] = combine(lane[j], f(x[k + j]));
  for (int width = lanes / 2; width > 0; width /= 2) {
    for (int j = 0; j < width; ++j) lane[j] = combine(lane[j], lane[j + width]);
  }
  return lane[0];
}

template <class Op>
HIPEP_DEVICE RowState<typename Op::Work> reduce_run(const Op& op, typename Op::Work* x, int64_t count) {
  using Work = typename Op::Work;
  Work first = 0;
  if (op.has_first()) {
    first = reduce_lanes(x, count, typename Op::First{}, [&](Work& value) { return op.first(value); });
    first = op.close_first(first, static_cast<Work>(count));
  }
  const Work second = reduce_lanes(x, count, Sum<Work>{}, [&](Work& value) { return op.second(value, first); });
  return {first, second, static_cast<Work>(count)};
}

template <class Op>
HIPEP_DEVICE void held_serial(const Op& op, const hipep_rows& rows, RowState<typename Op::Work>* states, Range range) {
  using Work = typename Op::Work;
  Work x[row_limit<Work>::count];
  for (int64_t p = range.begin; p < range.end; ++p) {
    const RowPart part = find_part(rows, p);
    op.load_run(part.row, part.begin, part.count, x);
    op.loaded_run(part.row, part.begin, part.count, x);
    const RowState<Work> state = reduce_run(op, x, part.count);
    if (states != nullptr) {
      states[p] = state;
    } else {
      const auto coefficients = op.close(state);
      op.store_run(part.row, part.begin, part.count, x, coefficients);
      op.finish(part.row, coefficients);
    }
  }
}

// ---- A group of threads: all of a part in registers. ----

template <int BLOCK, class T, class Combine>
HIPEP_DEVICE T group_reduce(const Grid<BLOCK>& grid, int threads, T value, Combine combine) {
  if (threads == BLOCK) return block_reduce(grid, value, combine);
  for (int by = threads / 2; by > 0; by /= 2) value = combine(value, shuffle_xor(value, by));
  return value;
}

// A value that the compiler does not know: it would keep a comparison for each element in scalar registers otherwise.
HIPEP_DEVICE int forgotten(int value) {
#if defined(HIPEP_AMD)
  asm volatile("" : "+v"(value));
#endif
  return value;
}

template <class Op, int N, int BLOCK>
struct HeldPart {
  using Work = typename Op::Work;
  static constexpr int packs = row_items<Work, N>::count / N;
  const Op& op;
  const Grid<BLOCK>& grid;
  RowPart part;
  int threads, lane, count;
  Work x[packs * N];

  HIPEP_DEVICE int at(int pack) const { return (pack * threads + lane) * N; }

  HIPEP_DEVICE void load() {
#pragma unroll
    for (int i = 0; i < packs; ++i) {
      if (at(i) >= count) continue;
      op.template load<N>(part.row, part.begin + at(i), x + i * N);
      op.template loaded<N>(part.row, part.begin + at(i), x + i * N);
    }
  }
  template <class Combine, class F>
  HIPEP_DEVICE Work reduce(Combine combine, F f) {
    const int limit = forgotten(count);
    Work value = Combine::initial;
#pragma unroll
    for (int i = 0; i < packs; ++i) {
      if (at(i) < limit) {
#pragma unroll
        for (int j = 0; j < N; ++j) value = combine(value, f(x[i * N + j]));
      }
    }
    return group_reduce(grid, threads, value, combine);
  }
  HIPEP_DEVICE RowState<Work> state() {
    const Op& own = op;
    Work first = 0;
    if (own.has_first()) {
      first = reduce(typename Op::First{}, [&own](Work& value) { return own.first(value); });
      first = own.close_first(first, static_cast<Work>(count));
    }
    const Work second = reduce(Sum<Work>{}, [&own, first](Work& value) { return own.second(value, first); });
    return {first, second, static_cast<Work>(count)};
  }
  template <class Coefficients>
  HIPEP_DEVICE void store(const Coefficients& coefficients) const {
    const int limit = forgotten(count);
#pragma unroll
    for (int i = 0; i < packs; ++i) {
      if (at(i) < limit) op.template store<N>(part.row, part.begin + at(i), x + i * N, coefficients);
    }
  }
};

// Each part of a row by a group of threads; states: NULL, or where a split row's statistics go.
template <class Op, int N, int BLOCK>
HIPEP_DEVICE void rows_held(const Op& op, const hipep_rows& rows, void* states, const Grid<BLOCK>& grid) {
  using State = RowState<typename Op::Work>;
  const int64_t parts = rows.count * rows.splits;
  if constexpr (Grid<BLOCK>::size == 1) {
    held_serial(op, rows, static_cast<State*>(states), grid.units(parts));
  } else {
    const int groups = BLOCK / rows.threads;
    const int lane = grid.thread() % rows.threads;
    const int group = grid.thread() / rows.threads;
    const Range range = grid.units((parts + groups - 1) / groups);
    for (int64_t tile = range.begin; tile < range.end; tile += range.step) {
      const int64_t p = tile * groups + group;
      const bool inside = p < parts;  // the others go along to the barriers
      const RowPart part = inside ? find_part(rows, p) : RowPart{0, 0, 0};
      HeldPart<Op, N, BLOCK> held{op, grid, part, rows.threads, lane, static_cast<int>(part.count), {}};
      held.load();
      const State state = held.state();
      if (!inside) continue;
      if (states != nullptr) {
        if (lane == 0) static_cast<State*>(states)[p] = state;
      } else {
        const auto coefficients = op.close(state);
        held.store(coefficients);
        if (lane == 0) op.finish(part.row, coefficients);
      }
    }
  }
}

// ---- The second launch for split rows. ----

template <class Op, int BLOCK>
HIPEP_DEVICE RowState<typename Op::Work> merge_states(const Op& op, const RowState<typename Op::Work>* states,
                                                      int64_t splits, const Grid<BLOCK>& grid) {
  using Work = typename Op::Work;
  RowState<Work> state = {op.has_first() ? op.close_first(Op::First::initial, 1) : Work(0), 0, 0};
  for (int64_t i = grid.thread(); i < splits; i += Grid<BLOCK>::size) state = op.merge(state, states[i]);
  return block_reduce(grid, state, Merge<Op>{op});
}

template <class Op, int N, int BLOCK>
HIPEP_DEVICE void rows_split(const Op& op, const hipep_rows& rows, const void* states, const Grid<BLOCK>& grid) {
  using Work = typename Op::Work;
  const RowState<Work>* all = static_cast<const RowState<Work>*>(states);
  const Range range = grid.units(rows.count * rows.splits);
  for (int64_t p = range.begin; p < range.end; p += range.step) {
    const RowPart part = find_part(rows, p);
    const RowState<Work> state = merge_states(op, all + part.row * rows.splits, rows.splits, grid);
    const auto coefficients = op.close(state);
    if constexpr (Grid<BLOCK>::size == 1) {
      Work x[row_limit<Work>::count];
      op.load_run(part.row, part.begin, part.count, x);
      for (int64_t j = 0; j < part.count; ++j) op.second(x[j], state.first);
      op.store_run(part.row, part.begin, part.count, x, coefficients);
    } else {
#pragma unroll 1
      for (int64_t k = grid.thread() * N; k < part.count; k += BLOCK * N) {
        Work x[N];
        op.template load<N>(part.row, part.begin + k, x);
        for (int j = 0; j < N; ++j) op.second(x[j], state.first);
        op.template store<N>(part.row, part.begin + k, x, coefficients);
      }
    }
    if (part.begin == 0 && grid.thread() == 0) op.finish(part.row, coefficients);
  }
}

}  // namespace
}  // namespace hipep

// The kernels that a hipep_row_kernels names for rows of neighbouring elements of type T.
#define HIPEP_ROW_KERNELS(name, suffix, Args, T, ...)                                       \
  HIPEP_KERNEL(name##_held_##suffix, Args, HIPEP_ROW_BLOCK) {                               \
    hipep::rows_held<__VA_ARGS__, 1>(__VA_ARGS__(args), args.rows, args.states, grid);      \
  }                                                                                         \
  HIPEP_KERNEL(name##_held_wide_##suffix, Args, HIPEP_ROW_BLOCK) {                          \
    constexpr int items = hipep::wide<sizeof(T)>::items;                                    \
    hipep::rows_held<__VA_ARGS__, items>(__VA_ARGS__(args), args.rows, args.states, grid);  \
  }                                                                                         \
  HIPEP_KERNEL(name##_split_##suffix, Args, HIPEP_ROW_BLOCK) {                              \
    hipep::rows_split<__VA_ARGS__, 1>(__VA_ARGS__(args), args.rows, args.states, grid);     \
  }                                                                                         \
  HIPEP_KERNEL(name##_split_wide_##suffix, Args, HIPEP_ROW_BLOCK) {                         \
    constexpr int items = hipep::wide<sizeof(T)>::items;                                    \
    hipep::rows_split<__VA_ARGS__, items>(__VA_ARGS__(args), args.rows, args.states, grid); \
  }
