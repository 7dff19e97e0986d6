// Block primitives, right for any block and warp size from 1 up.
#pragma once

namespace hipep {
namespace {

// Arrays of one element per warp are sized for the smallest warp that a target has; the last warp may have fewer lanes.
template <int BLOCK>
struct warps {
  static constexpr int most = (block<BLOCK>::size + 31) / 32;
  static constexpr int count = (BLOCK + warp_size() - 1) / warp_size();
  // The warps are whole, and one of them can combine a value from each in halving steps.
  static constexpr bool even = BLOCK % warp_size() == 0 && (count & (count - 1)) == 0 && count <= warp_size();
};

struct Plus {
  template <class T>
  HIPEP_DEVICE T operator()(T a, T b) const {
    return a + b;
  }
};
struct Larger {
  template <class T>
  HIPEP_DEVICE T operator()(T a, T b) const {
    return a < b ? b : a;
  }
};

// Every lane gets op over the lanes of its warp, all of which must be threads of the block.
template <class T, class Op>
HIPEP_DEVICE T warp_reduce(T value, Op op) {
  for (int by = warp_size() / 2; by > 0; by /= 2) value = op(value, shuffle_xor(value, by));
  return value;
}

// The largest over the lanes of a warp, all of which must be threads of the block.
template <class T>
HIPEP_DEVICE T warp_max(T value) {
  return warp_reduce(value, Larger());
}
#ifdef HIPEP_NVIDIA
HIPEP_DEVICE uint32_t warp_max(uint32_t value) { return __reduce_max_sync(0xffffffffu, value); }
#endif

// Every thread gets op over the values of all threads of the block; op is associative and commutative.
template <int BLOCK, class T, class Op>
HIPEP_DEVICE T block_reduce(const Grid<BLOCK>& grid, T value, Op op) {
  if (Grid<BLOCK>::size == 1) return value;
  HIPEP_SHARED(T, partial, warps<BLOCK>::most);
  const int lane = grid.thread() % warp_size();
  const int warp = grid.thread() / warp_size();
  constexpr int count = warps<BLOCK>::count;
  if (BLOCK % warp_size() == 0) {
    value = warp_reduce(value, op);
  } else {
    const int lanes = BLOCK - warp * warp_size();  // of this warp and those after it
    for (int by = warp_size() / 2; by > 0; by /= 2) {
      const T other = shuffle_down(value, by);
      if (lane + by < warp_size() && lane + by < lanes) value = op(value, other);
    }
  }
  block_sync();  // partial may still be read from an earlier call
  if (lane == 0) partial[warp] = value;
  block_sync();
  if (warps<BLOCK>::even) {
    value = partial[lane % count];
    for (int by = count / 2; by > 0; by /= 2) value = op(value, shuffle_xor(value, by));
    return value;
  }
  value = partial[0];
  for (int i = 1; i < count; ++i) value = op(value, partial[i]);
  return value;
}

// Exclusive prefix sum over the threads in order; total is the sum over the block.
template <int BLOCK, class T>
HIPEP_DEVICE T block_scan(const Grid<BLOCK>& grid, T value, T* total) {
  if (Grid<BLOCK>::size == 1) {
    *total = value;
    return T(0);
  }
  HIPEP_SHARED(T, partial, warps<BLOCK>::most);
  const int lane = grid.thread() % warp_size();
  const int warp = grid.thread() / warp_size();
  constexpr int count = warps<BLOCK>::count;
  T inclusive = value;
  for (int by = 1; by < warp_size(); by *= 2) {
    const T other = shuffle_up(inclusive, by);
    if (lane >= by) inclusive += other;
  }
  T exclusive = shuffle_up(inclusive, 1);  // inclusive - value would turn infinities into NaN
  if (lane == 0) exclusive = T(0);
  block_sync();  // partial may still be read from an earlier call
  if (lane == warp_size() - 1 || grid.thread() == BLOCK - 1) partial[warp] = inclusive;
  block_sync();
  T before = T(0), sum = T(0);
  if (warps<BLOCK>::even) {
    const int slot = lane % count;
    inclusive = partial[slot];
    for (int by = 1; by < count; by *= 2) {
      const T other = shuffle_up(inclusive, by);
      if (slot >= by) inclusive += other;
    }
    sum = shuffle(inclusive, count - 1);
    before = shuffle(inclusive, warp > 0 ? warp - 1 : 0);
    if (warp == 0) before = T(0);
  } else {
    for (int i = 0; i < count; ++i) {
      if (i == warp) before = sum;
      sum += partial[i];
    }
  }
  *total = sum;
  return before + exclusive;
}

}  // namespace
}  // namespace hipep
