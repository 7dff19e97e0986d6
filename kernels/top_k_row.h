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

// Elements begin .. end of a row as the threads of a block read them, in vectors where they lie so. What lies
// beyond the end counts as elements that rank last. A row is read again in each pass, from the cache: it takes no
// registers, and may have any length.
template <class Bits, int BLOCK>
struct RowPart {
  using Key = typename Row<Bits>::Key;
  using Word = typename Row<Bits>::Word;
  static constexpr int vector = sizeof(Bits) < 8 ? 4 : 2;
  struct alignas(vector * sizeof(Bits)) Vector {
    Bits at[vector];
  };
  // Reached by the elements with a larger key, and by those with this key up to a place in the part.
  struct Limit {
    Key key;
    int last;
  };

  const Bits* x;
  int64_t stride, begin;
  SortOrder order;
  int count, thread, index_bits;
  bool aligned;

  HIPEP_DEVICE RowPart(const Grid<BLOCK>& grid, const TopKArgs& a, const Row<Bits>& row, int64_t first, int64_t end)
      : x(row.x + first * row.stride),
        stride(row.stride),
        begin(first),
        order(a.order),
        count(static_cast<int>(end - first)),
        thread(grid.thread()),
        index_bits(a.index_bits),
        aligned(row.stride == 1 && reinterpret_cast<uintptr_t>(x) % sizeof(Vector) == 0) {}

  HIPEP_DEVICE Vector load(int at) const {
    if (aligned && at + vector <= count) return *reinterpret_cast<const Vector*>(x + at);
    Vector some;
    HIPEP_UNROLL
    for (int v = 0; v < vector; ++v) some.at[v] = at + v < count ? x[int64_t{at + v} * stride] : Bits(0);
    return some;
  }
  HIPEP_DEVICE Key key_of(Bits bits, int at) const { return at < count ? sort_key(bits, order) : Key(0); }
  HIPEP_DEVICE Word pack(Key key, int at) const {
    const Packing<Word> packing = {index_bits};
    return packing.pack(key, begin + at);
  }
  HIPEP_DEVICE int units() const { return (count + vector - 1) / vector; }

  // The best words of the vectors that a thread reads, in four groups.
  HIPEP_DEVICE void best_of_groups(Word (&best)[4]) const {
    Key most[4] = {0, 0, 0, 0};
    int place[4] = {-1, -1, -1, -1};
    for (int tile = 0; tile < count; tile += 4 * BLOCK * vector) {
      Vector loaded[4];
      HIPEP_UNROLL
      for (int g = 0; g < 4; ++g) loaded[g] = load(tile + (g * BLOCK + thread) * vector);
      HIPEP_UNROLL
      for (int g = 0; g < 4; ++g) {
        HIPEP_UNROLL
        for (int v = 0; v < vector; ++v) {
          const int at = tile + (g * BLOCK + thread) * vector + v;
          const Key key = key_of(loaded[g].at[v], at);
          if (at >= count || (place[g] >= 0 && key <= most[g])) continue;
          most[g] = key;
          place[g] = at;
        }
      }
    }
    HIPEP_UNROLL
    for (int g = 0; g < 4; ++g) best[g] = place[g] < 0 ? Word(0) : pack(most[g], place[g]);
  }
  HIPEP_DEVICE Limit limit(Word word) const {
    const Packing<Word> packing = {index_bits};
    const int64_t last = packing.index(word) - begin;
    return {static_cast<Key>(word >> index_bits), static_cast<int>(last < 0 ? -1 : last < count ? last : count)};
  }
  // Calls f(key, place) for as many elements on every thread.
  template <class F>
  HIPEP_DEVICE void each_key(F f) const {
    for (int tile = 0; tile < count; tile += BLOCK * vector) {
      const int at = tile + thread * vector;
      const Vector some = load(at);
      HIPEP_UNROLL
      for (int v = 0; v < vector; ++v) f(key_of(some.at[v], at + v), at + v);
    }
  }
  // Calls f(reaches, word()) for as many elements on every thread.
  template <class F>
  HIPEP_DEVICE void each_against(const Limit& low, F f) const {
    each_key([&](Key key, int at) {
      f(at < count && (key > low.key || (key == low.key && at <= low.last)), [&] { return pack(key, at); });
    });
  }
  template <class F>
  HIPEP_DEVICE void each(F f) const {
    each_key([&](Key key, int at) {
      if (at < count) f(pack(key, at));
    });
  }
};

}  // namespace
}  // namespace hipep
