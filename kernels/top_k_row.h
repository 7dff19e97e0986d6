// A row of the input as the threads of a block hold it: sort keys in registers.
#pragma once
#include "device/device.h"
#include "device/sort_key.h"

#ifndef HIPEP_UNROLL
#define HIPEP_UNROLL
#endif

namespace hipep {
namespace {

template <class Bits>
struct Row {
  using Key = typename sort_key_of<Bits>::type;
  using Word = typename word_of<Key>::type;
  const Bits* x;
  int64_t stride, output;

  HIPEP_DEVICE Row(const TopKArgs& a, int64_t row) : stride(a.inner) {
    const int64_t outer = a.inner == 1 ? row : row / a.inner, column = row - outer * a.inner;
    x = static_cast<const Bits*>(a.x) + outer * a.extent * a.inner + column;
    output = outer * a.k * a.inner + column;
  }
  HIPEP_DEVICE void store(const TopKArgs& a, int64_t rank, int64_t index) const {
    const int64_t at = output + rank * stride;
    if (a.values != nullptr) static_cast<Bits*>(a.values)[at] = x[index * stride];
    if (a.indices != nullptr) a.indices[at] = index;
  }
};

// Elements that one thread reads at once: the key and the lower part of the word (see Packing) of each.
template <class Key_, int N>
struct Elements {
  using Key = Key_;
  static constexpr int size = N;
  Key key[N];
  uint32_t low[N];
};

// Elements begin .. end of a row as the threads of a block read them, in vectors where they lie so. What lies beyond
// the end counts as elements that rank last. A row is read again in each pass, from the cache: it takes no registers,
// and may have any length.
template <class Bits, int BLOCK>
struct RowPart {
  using Key = typename Row<Bits>::Key;
  static constexpr int vector = sizeof(Bits) < 8 ? 4 : 2;
  using Some = Elements<Key, vector>;
  struct alignas(vector * sizeof(Bits)) Vector {
    Bits at[vector];
  };

  const Bits* x;
  int64_t stride;
  SortOrder order;
  int count, thread;
  uint32_t top;  // the lower part of the first element's word
  bool aligned;

  HIPEP_DEVICE RowPart(const Grid<BLOCK>& grid, const TopKArgs& a, const Row<Bits>& row, int64_t first, int64_t end)
      : x(row.x + first * row.stride),
        stride(row.stride),
        order(a.order),
        count(static_cast<int>(end - first)),
        thread(grid.thread()),
        top(static_cast<uint32_t>((uint64_t{1} << a.index_bits) - 1 - static_cast<uint64_t>(first))),
        aligned(row.stride == 1 && reinterpret_cast<uintptr_t>(x) % sizeof(Vector) == 0) {}

  HIPEP_DEVICE int units() const { return (count + vector - 1) / vector; }
  HIPEP_DEVICE uint32_t least_low() const { return top - static_cast<uint32_t>(count - 1); }
  HIPEP_DEVICE uint32_t most_low() const { return top; }

  HIPEP_DEVICE Some load(int at) const {
    Some some;
    if (aligned && at + vector <= count) {
      const Vector loaded = *reinterpret_cast<const Vector*>(x + at);
      HIPEP_UNROLL
      for (int v = 0; v < vector; ++v) some.key[v] = sort_key(loaded.at[v], order);
    } else {
      HIPEP_UNROLL
      for (int v = 0; v < vector; ++v) {
        some.key[v] = at + v < count ? sort_key(x[int64_t{at + v} * stride], order) : Key(0);
      }
    }
    HIPEP_UNROLL
    for (int v = 0; v < vector; ++v) some.low[v] = top - static_cast<uint32_t>(at + v);
    return some;
  }
  // Calls f(elements, group) for as many vectors on every thread, four at a time.
  template <class F>
  HIPEP_DEVICE void each_group(F f) const {
    for (int tile = 0; tile < count; tile += 4 * BLOCK * vector) {
      Some some[4];
      HIPEP_UNROLL
      for (int g = 0; g < 4; ++g) some[g] = load(tile + (g * BLOCK + thread) * vector);
      HIPEP_UNROLL
      for (int g = 0; g < 4; ++g) f(some[g], g);
    }
  }
  // Calls f(elements) for as many vectors on every thread.
  template <class F>
  HIPEP_DEVICE void each(F f) const {
    for (int tile = 0; tile < count; tile += BLOCK * vector) f(load(tile + thread * vector));
  }
};

}  // namespace
}  // namespace hipep
