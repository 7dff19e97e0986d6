// TopK of short rows by counting, and of any row by a sort in workspace. Keys come from the bits and the order of the
// type, so a kernel exists once per width.
#include "top_k_row.h"

#ifndef HIPEP_SERIAL

namespace hipep {
namespace {

constexpr int kRankExtent = 512;  // rows up to here are ranked by counting
constexpr int kSortTile = 2048;   // candidates sorted in shared memory at once

// Calls f(key, index) for this thread's share of a row; four loads are under way at a time.
template <class Bits, int BLOCK, class F>
HIPEP_DEVICE void each(const TopKArgs& a, const Grid<BLOCK>& grid, const Row<Bits>& row, F f) {
  constexpr int64_t step = Grid<BLOCK>::size;
  const Bits* const x = row.x;
  const int64_t stride = row.stride;
  int64_t i = grid.thread();
  for (; i + 3 * step < a.extent; i += 4 * step) {
    const Bits b = x[i * stride], c = x[(i + step) * stride];
    const Bits d = x[(i + 2 * step) * stride], e = x[(i + 3 * step) * stride];
    f(sort_key(b, a.order), i);
    f(sort_key(c, a.order), i + step);
    f(sort_key(d, a.order), i + 2 * step);
    f(sort_key(e, a.order), i + 3 * step);
  }
  for (; i < a.extent; i += step) f(sort_key(x[i * stride], a.order), i);
}

// Short rows: an element's place is the number of elements before it. Several rows share a block.
template <class Bits, int BLOCK>
HIPEP_DEVICE void top_k_rank(const TopKArgs& a, const Grid<BLOCK>& grid) {
  using Key = typename Row<Bits>::Key;
  HIPEP_SHARED(Key, keys, kRankExtent);
  const int extent = static_cast<int>(a.extent);
  int group = 1;
  while (group < extent && group < Grid<BLOCK>::size) group *= 2;
  const int slots = Grid<BLOCK>::size / group;
  const int slot = grid.thread() / group, lane = grid.thread() % group;
  Key* const own = keys + slot * extent;
  const Range tiles = grid.units((a.rows + slots - 1) / slots);
  for (int64_t tile = tiles.begin; tile < tiles.end; tile += tiles.step) {
    const int64_t r = tile * slots + slot;
    const bool inside = r < a.rows;
    const Row<Bits> row(a, inside ? r : 0);
    block_sync();  // the keys of the last tile are still being read
    for (int i = lane; inside && i < extent; i += group) own[i] = sort_key(row.x[i * row.stride], a.order);
    block_sync();
    for (int i = lane; inside && i < extent; i += group) {
      const Key key = own[i];
      int rank = 0;
      for (int j = 0; j < extent; ++j) rank += precedes(own[j], j, key, i) ? 1 : 0;
      if (rank < a.k) row.store(a, rank, i);
    }
  }
}

// The k best of a row are the elements whose key is above `key`, or equal to it with an index of at most `last`.
template <class Key>
struct Cut {
  Key key;
  int64_t last;
};

template <class Count>
struct Histogram {
  Count* bins;   // 256, shared
  Count* found;  // 3, shared: the digit, the elements above it, the elements in it
};

// One digit of radix selection. digit(key, i) is negative for elements that are out of the question. Returns the digit
// of the remaining-th best element and takes the elements above it from remaining; *all: the whole bin is wanted.
template <class Bits, int BLOCK, class Count, class Digit>
HIPEP_DEVICE int refine(const TopKArgs& a, const Grid<BLOCK>& grid, const Row<Bits>& row, Histogram<Count> h,
                        Digit digit, Count* remaining, bool* all) {
  constexpr int size = Grid<BLOCK>::size;
  constexpr int share = size < 256 ? 256 / size : 1;  // bins of one thread
  for (int bin = grid.thread(); bin < 256; bin += size) h.bins[bin] = 0;
  block_sync();
  int run = -1;  // equal digits in a row go into the histogram together: equal elements would queue for one bin
  Count length = 0;
  each(a, grid, row, [&](typename Row<Bits>::Key key, int64_t i) {
    const int d = digit(key, i);
    if (d != run) {
      if (run >= 0) shared_atomic_add(&h.bins[run], length);
      run = d;
      length = 0;
    }
    ++length;
  });
  if (run >= 0) shared_atomic_add(&h.bins[run], length);
  block_sync();
  const int top = 255 - grid.thread() * share;
  Count own = 0, total = 0;
  for (int b = 0; b < share && top - b >= 0; ++b) own += h.bins[top - b];
  Count above = block_scan(grid, own, &total);
  for (int b = 0; b < share && top - b >= 0; ++b) {
    const Count in = h.bins[top - b];
    if (above < *remaining && *remaining <= above + in) {
      h.found[0] = static_cast<Count>(top - b);
      h.found[1] = above;
      h.found[2] = in;
    }
    above += in;
  }
  block_sync();
  *remaining -= h.found[1];
  *all = *remaining == h.found[2];
  const int chosen = static_cast<int>(h.found[0]);
  block_sync();
  return chosen;
}

// Radix selection over the digits of the key and then, where ties are cut, over those of the index counted from the
// end.
template <class Bits, int BLOCK, class Count>
HIPEP_DEVICE Cut<typename Row<Bits>::Key> select(const TopKArgs& a, const Grid<BLOCK>& grid, const Row<Bits>& row,
                                                 Histogram<Count> h) {
  using Key = typename Row<Bits>::Key;
  if (a.k >= a.extent) return {0, a.extent};
  Count remaining = static_cast<Count>(a.k);
  bool all = false;
  Key prefix = 0;
  for (int shift = 8 * (static_cast<int>(sizeof(Bits)) - 1); shift >= 0; shift -= 8) {
    const int digit = refine(
        a, grid, row, h,
        [=](Key key, int64_t) {
          const Key high = key >> shift;
          return (high >> 8) == prefix ? static_cast<int>(high & 255) : -1;
        },
        &remaining, &all);
    prefix = prefix << 8 | static_cast<Key>(digit);
    if (all) return {static_cast<Key>(prefix << shift), a.extent};
  }
  const int64_t end = a.extent - 1;
  int64_t place = 0;
  int shift = 0;
  while (end >> shift >= 256) shift += 8;
  for (; shift >= 0; shift -= 8) {
    const int digit = refine(
        a, grid, row, h,
        [=](Key key, int64_t i) {
          const int64_t high = (end - i) >> shift;
          return key == prefix && (high >> 8) == place ? static_cast<int>(high & 255) : -1;
        },
        &remaining, &all);
    place = place << 8 | digit;
    if (all) break;
  }
  return {prefix, end - (shift > 0 ? place << shift : place)};
}

// Sorts count candidates (a power of two) in shared memory, best first.
template <class Key, class Index, int BLOCK>
HIPEP_DEVICE void bitonic_sort(const Grid<BLOCK>& grid, Key* keys, Index* places, int count) {
  for (int size = 2; size <= count; size *= 2) {
    for (int stride = size / 2; stride > 0; stride /= 2) {
      block_sync();
      for (int t = grid.thread(); t < count / 2; t += Grid<BLOCK>::size) {
        const int i = 2 * t - (t & (stride - 1)), j = i + stride;
        const Key a = keys[i], b = keys[j];
        const Index p = places[i], q = places[j];
        if (precedes(b, q, a, p) == ((i & size) == 0)) {
          keys[i] = b;
          keys[j] = a;
          places[i] = q;
          places[j] = p;
        }
      }
    }
  }
  block_sync();
}

// The sort in workspace: collect, sort tiles, merge runs (one launch a doubling), store.
template <class Bits, int BLOCK>
HIPEP_DEVICE void top_k_collect(const TopKArgs& a, const Grid<BLOCK>& grid) {
  using Key = typename Row<Bits>::Key;
  using Count = unsigned long long;
  HIPEP_SHARED(Count, bins, 256);
  HIPEP_SHARED(Count, found, 4);
  const Range rows = grid.units(a.rows);
  for (int64_t r = rows.begin; r < rows.end; r += rows.step) {
    const Row<Bits> row(a, r);
    Key* const keys = static_cast<Key*>(a.keys) + r * a.k;
    int64_t* const places = a.places + r * a.k;
    const Cut<Key> cut = select(a, grid, row, Histogram<Count>{bins, found});
    if (grid.thread() == 0) found[3] = 0;
    block_sync();
    each(a, grid, row, [&](Key key, int64_t i) {
      if (key > cut.key || (key == cut.key && i <= cut.last)) {
        const Count slot = shared_atomic_add(&found[3], Count(1));
        keys[slot] = key;
        places[slot] = i;
      }
    });
    block_sync();
  }
}

template <class Key, int BLOCK>
HIPEP_DEVICE void top_k_sort_tile(const TopKArgs& a, const Grid<BLOCK>& grid) {
  HIPEP_SHARED(Key, keys, kSortTile);
  HIPEP_SHARED(int64_t, places, kSortTile);
  const int64_t tiles = (a.k + kSortTile - 1) / kSortTile;
  const Range units = grid.units(a.rows * tiles);
  for (int64_t u = units.begin; u < units.end; u += units.step) {
    const int64_t begin = u / tiles * a.k + u % tiles * kSortTile;
    const int64_t left = a.k - u % tiles * kSortTile;
    const int count = left < kSortTile ? static_cast<int>(left) : kSortTile;
    for (int i = grid.thread(); i < kSortTile; i += Grid<BLOCK>::size) {
      keys[i] = i < count ? static_cast<const Key*>(a.keys)[begin + i] : Key(0);
      places[i] = i < count ? a.places[begin + i] : INT64_MAX;
    }
    bitonic_sort(grid, keys, places, kSortTile);
    for (int i = grid.thread(); i < count; i += Grid<BLOCK>::size) {
      static_cast<Key*>(a.keys)[begin + i] = keys[i];
      a.places[begin + i] = places[i];
    }
    block_sync();
  }
}

// A candidate of one run goes behind those of the neighbouring run that precede it.
template <class Key, int BLOCK>
HIPEP_DEVICE void top_k_merge(const TopKArgs& a, const Grid<BLOCK>& grid) {
  const Range range = grid.elements(a.rows * a.k);
  for (int64_t e = range.begin; e < range.end; e += range.step) {
    const int64_t row = e / a.k * a.k, at = e - row;
    const Key* const keys = static_cast<const Key*>(a.keys) + row;
    const int64_t* const places = a.places + row;
    const int64_t first = at / (2 * a.run) * (2 * a.run);
    const int64_t middle = first + a.run < a.k ? first + a.run : a.k;
    const int64_t last = middle + a.run < a.k ? middle + a.run : a.k;
    const bool left = at < middle;
    const Key key = keys[at];
    const int64_t place = places[at];
    const int64_t begin = left ? middle : first;
    int64_t low = begin, high = left ? last : middle;
    while (low < high) {
      const int64_t probe = low + (high - low) / 2;
      const bool before = precedes(keys[probe], places[probe], key, place);
      low = before ? probe + 1 : low;
      high = before ? high : probe;
    }
    const int64_t to = row + first + (at - (left ? first : middle)) + (low - begin);
    static_cast<Key*>(a.next_keys)[to] = key;
    a.next_places[to] = place;
  }
}

template <class Bits, int BLOCK>
HIPEP_DEVICE void top_k_store(const TopKArgs& a, const Grid<BLOCK>& grid) {
  const Range range = grid.elements(a.rows * a.k);
  for (int64_t e = range.begin; e < range.end; e += range.step) {
    Row<Bits>(a, e / a.k).store(a, e % a.k, a.places[e]);
  }
}

}  // namespace
}  // namespace hipep

#define HIPEP_TOP_K(width)                                                                                         \
  HIPEP_KERNEL(top_k_rank_##width, hipep::TopKArgs, 256) { hipep::top_k_rank<uint##width##_t>(args, grid); }       \
  HIPEP_KERNEL(top_k_collect_##width, hipep::TopKArgs, 512) { hipep::top_k_collect<uint##width##_t>(args, grid); } \
  HIPEP_KERNEL(top_k_store_##width, hipep::TopKArgs, 256) { hipep::top_k_store<uint##width##_t>(args, grid); }
HIPEP_TOP_K(8)
HIPEP_TOP_K(16)
HIPEP_TOP_K(32)
HIPEP_TOP_K(64)
HIPEP_KERNEL(top_k_sort_tile_32, hipep::TopKArgs, 1024) { hipep::top_k_sort_tile<uint32_t>(args, grid); }
HIPEP_KERNEL(top_k_sort_tile_64, hipep::TopKArgs, 1024) { hipep::top_k_sort_tile<uint64_t>(args, grid); }
HIPEP_KERNEL(top_k_merge_32, hipep::TopKArgs, 256) { hipep::top_k_merge<uint32_t>(args, grid); }
HIPEP_KERNEL(top_k_merge_64, hipep::TopKArgs, 256) { hipep::top_k_merge<uint64_t>(args, grid); }
#endif
