// TopK for one thread a row: a lower bound of the k-th key, one scan against it, selection and sort of what is left.
#include "host/top_k_sort.h"

namespace hipep {
namespace {
namespace host {

template <class Bits, class Key, class Index>
struct TopK {
  using Word = typename WordOf<Key>::type;
  const TopKHostArgs& a;
  const Keys<Bits, Key> map;
  Key* keys;                 // capacity + slack
  Index* places;             // likewise
  Key* work;                 // the larger of capacity and maxima, + slack
  Key* greater;              // kRankLimit + slack
  Word *words, *more_words;  // k each
  Bits* columns;             // a.columns * a.extent

  HIPEP_DEVICE TopK(const TopKHostArgs& args, int64_t task) : a(args), map(args.order) {
    uint8_t* at = a.scratch + task * a.scratch_bytes;
    const int64_t slack = kTile, room = a.capacity > a.maxima ? a.capacity : a.maxima;
    auto take = [&at](int64_t bytes) {
      uint8_t* const taken = at;
      at += (bytes + 63) / 64 * 64;
      return taken;
    };
    keys = reinterpret_cast<Key*>(take((a.capacity + slack) * static_cast<int64_t>(sizeof(Key))));
    places = reinterpret_cast<Index*>(take((a.capacity + slack) * static_cast<int64_t>(sizeof(Index))));
    work = reinterpret_cast<Key*>(take((room + slack) * static_cast<int64_t>(sizeof(Key))));
    greater = reinterpret_cast<Key*>(take((kRankLimit + slack) * static_cast<int64_t>(sizeof(Key))));
    words = reinterpret_cast<Word*>(take(a.k * static_cast<int64_t>(sizeof(Word))));
    more_words = reinterpret_cast<Word*>(take(a.k * static_cast<int64_t>(sizeof(Word))));
    columns = reinterpret_cast<Bits*>(at);
  }

  HIPEP_DEVICE void copy(Key* __restrict to, const Key* __restrict from, int64_t count) const {
    for (int64_t i = 0; i < count; ++i) to[i] = from[i];
  }

  // A key that at least k elements reach: the k-th of the maxima of disjoint sets of elements. Each section of the row
  // gives its last elements, dealt out to the sets, which makes ascending rows as good as random ones.
  HIPEP_DEVICE Key bound(const Bits* x) const {
    Key* const maxima = work;
    for (int64_t i = 0; i < a.maxima; ++i) maxima[i] = Keys<Bits, Key>::worst;
    for (int64_t s = 1; s <= a.sections; ++s) {
      const int64_t end = a.extent / a.sections * s + a.extent % a.sections * s / a.sections;
      for (int64_t i = end - a.sample; i < end; i += a.maxima) map.raise(x + i, a.maxima, maxima);
    }
    map.settle(maxima, a.maxima);
    return kth(maxima, a.maxima, a.k, greater).key;
  }

  HIPEP_DEVICE Cut<Key> cut(int64_t count) const {
    copy(work, keys, count);
    return kth(work, count, a.k, greater);
  }

  // Candidates in the order of their places, at least k of them, the k best among them.
  HIPEP_DEVICE int64_t collect(const Bits* x) const {
    if (a.maxima == 0) {
      map.map(x, a.extent, keys);
      for (int64_t i = 0; i < a.extent; ++i) places[i] = static_cast<Index>(i);
      return a.extent;
    }
    const Key floor = bound(x);
    // Elements equal to the floor count until there are k candidates; later ones lose the tie to those.
    bool filling = true;
    bool everything = floor == Keys<Bits, Key>::worst;
    Key above = everything ? floor : floor - 1;
    Window<Bits> window(map, above);
    Key tile[kTile];
    int64_t count = 0;
    for (int64_t i = 0; i < a.extent; i += kTile) {
      if (!everything) i = next_tile(x, i, a.extent, window);
      if (i >= a.extent) break;
      const int64_t left = a.extent - i < kTile ? a.extent - i : kTile;
      map.map(x + i, left, tile);
      if (everything) {
        copy(keys + count, tile, left);
        for (int64_t j = 0; j < left; ++j) places[count + j] = static_cast<Index>(i + j);
        count += left;
      } else {
        count += append(tile, left, static_cast<Index>(i), above, keys + count, places + count);
      }
      bool raised = false;
      if (filling && count >= a.k) {
        filling = everything = false;
        above = floor;
        raised = true;
      }
      if (count > a.capacity - kTile) {
        const Cut<Key> best = cut(count);
        count = keep_best(keys, places, count, best);
        above = best.key;
        raised = true;
      }
      if (raised) {
        if (above >= map.best) break;
        window = Window<Bits>(map, above);
      }
    }
    return count;
  }

  __attribute__((noinline)) void row(const Bits* x, int64_t x_step, const Bits* contiguous, int64_t output,
                                     int64_t step) const {
    int64_t count = collect(contiguous);
    if (count > kRankLimit && count > a.k) count = keep_best(keys, places, count, cut(count));
    if (count <= kRankLimit) {
      count_greater(keys, count, greater);
      uint8_t ties[kRankLimit] = {};
      for (int64_t i = 0; i < count; ++i) {
        const int64_t rank = static_cast<int64_t>(greater[i]) + ties[greater[i]]++;
        if (rank < a.k) store(x, x_step, rank, places[i], output, step);
      }
      return;
    }
    const Word* const sorted = radix_sort(keys, places, count, words, more_words);
    for (int64_t i = 0; i < a.k; ++i) store(x, x_step, i, static_cast<Index>(sorted[i]), output, step);
  }

  HIPEP_DEVICE void store(const Bits* x, int64_t x_step, int64_t rank, Index place, int64_t output,
                          int64_t step) const {
    const int64_t at = output + rank * step;
    if (a.values != nullptr) static_cast<Bits*>(a.values)[at] = x[static_cast<int64_t>(place) * x_step];
    if (a.indices != nullptr) a.indices[at] = static_cast<int64_t>(place);
  }

  HIPEP_DEVICE void rows(int64_t begin, int64_t end) const {
    const Bits* x = static_cast<const Bits*>(a.x);
    for (int64_t r = begin; r < end; ++r) row(x + r * a.extent, 1, x + r * a.extent, r * a.k, 1);
  }

  // Tiles of neighbouring columns, copied together so that whole cache lines are used.
  HIPEP_DEVICE void tiles(int64_t begin, int64_t end) const {
    const int64_t per_outer = (a.inner + a.columns - 1) / a.columns;
    for (int64_t t = begin; t < end; ++t) {
      const int64_t outer = t / per_outer, first = t % per_outer * a.columns;
      const int64_t width = a.inner - first < a.columns ? a.inner - first : a.columns;
      const Bits* const x = static_cast<const Bits*>(a.x) + outer * a.extent * a.inner + first;
      for (int64_t i = 0; i < a.extent; ++i) {
        for (int64_t c = 0; c < width; ++c) columns[c * a.extent + i] = x[i * a.inner + c];
      }
      for (int64_t c = 0; c < width; ++c) {
        row(x + c, a.inner, columns + c * a.extent, outer * a.k * a.inner + first + c, a.inner);
      }
    }
  }
};

template <class Bits, class Key, class Index, int BLOCK>
HIPEP_DEVICE void top_k_rows(const TopKHostArgs& a, const Grid<BLOCK>& grid) {
  const Range tasks = grid.units(a.tasks);
  const int64_t units = a.inner == 1 ? a.rows : a.rows / a.inner * ((a.inner + a.columns - 1) / a.columns);
  for (int64_t task = tasks.begin; task < tasks.end; task += tasks.step) {
    const TopK<Bits, Key, Index> top_k(a, task);
    const int64_t begin = units / a.tasks * task + units % a.tasks * task / a.tasks;
    const int64_t end = units / a.tasks * (task + 1) + units % a.tasks * (task + 1) / a.tasks;
    if (a.inner == 1) {
      top_k.rows(begin, end);
    } else {
      top_k.tiles(begin, end);
    }
  }
}

}  // namespace host
}  // namespace
}  // namespace hipep

#define HIPEP_TOP_K_ROWS(name, Bits, Key, Index) \
  HIPEP_KERNEL(name, hipep::TopKHostArgs, 1) { hipep::host::top_k_rows<Bits, Key, Index>(args, grid); }
HIPEP_TOP_K_ROWS(top_k_rows_8, uint8_t, int32_t, uint32_t)
HIPEP_TOP_K_ROWS(top_k_rows_16, uint16_t, int32_t, uint32_t)
HIPEP_TOP_K_ROWS(top_k_rows_32, uint32_t, int32_t, uint32_t)
HIPEP_TOP_K_ROWS(top_k_rows_64, uint64_t, int64_t, int64_t)
// Rows of 2^32 elements and more.
HIPEP_TOP_K_ROWS(top_k_huge_rows_8, uint8_t, int64_t, int64_t)
HIPEP_TOP_K_ROWS(top_k_huge_rows_16, uint16_t, int64_t, int64_t)
HIPEP_TOP_K_ROWS(top_k_huge_rows_32, uint32_t, int64_t, int64_t)
