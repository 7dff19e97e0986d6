// TopK with many threads a row. Keys come from the bits and the order of the type, so a kernel exists once per width.
#include "device/device.h"
#include "device/sort_key.h"

namespace hipep {
namespace {

constexpr int kRankExtent = 512;  // rows up to here are ranked by counting
constexpr int kRankSort = 512;    // selections up to here as well
constexpr int kSortTile = 2048;   // candidates sorted in shared memory at once

template <class Bits>
struct Row {
  using Key = typename sort_key_of<Bits>::type;
  const Bits* x;
  int64_t extent, stride, output;
  SortOrder order;

  HIPEP_DEVICE Row(const TopKArgs& a, int64_t row) : extent(a.extent), stride(a.inner), order(a.order) {
    const int64_t outer = row / a.inner, column = row % a.inner;
    x = static_cast<const Bits*>(a.x) + outer * a.extent * a.inner + column;
    output = outer * a.k * a.inner + column;
  }
  HIPEP_DEVICE void store(const TopKArgs& a, int64_t rank, int64_t index) const {
    const int64_t at = output + rank * a.inner;
    if (a.values != nullptr) static_cast<Bits*>(a.values)[at] = x[index * stride];
    if (a.indices != nullptr) a.indices[at] = index;
  }
  // Calls f(key, index) for this thread's share of the row; four loads are under way at a time.
  template <int BLOCK, class F>
  HIPEP_DEVICE void each(const Grid<BLOCK>& grid, F f) const {
    constexpr int64_t step = Grid<BLOCK>::size;
    int64_t i = grid.thread();
    for (; i + 3 * step < extent; i += 4 * step) {
      const Bits a = x[i * stride], b = x[(i + step) * stride];
      const Bits c = x[(i + 2 * step) * stride], d = x[(i + 3 * step) * stride];
      f(sort_key(a, order), i);
      f(sort_key(b, order), i + step);
      f(sort_key(c, order), i + 2 * step);
      f(sort_key(d, order), i + 3 * step);
    }
    for (; i < extent; i += step) f(sort_key(x[i * stride], order), i);
  }
};

template <class Bits, int BLOCK>
HIPEP_DEVICE void top_k_one(const TopKArgs& a, const Grid<BLOCK>& grid) {
  using Key = typename Row<Bits>::Key;
  const Range rows = grid.units(a.rows);
  for (int64_t r = rows.begin; r < rows.end; r += rows.step) {
    const Row<Bits> row(a, r);
    Candidate<Key> best = {0, INT64_MAX};
    row.each(grid, [&](Key key, int64_t i) { best = Better()(best, Candidate<Key>{key, i}); });
    best = block_reduce(grid, best, Better());
    if (grid.thread() == 0) row.store(a, 0, best.index);
  }
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
HIPEP_DEVICE int refine(const Grid<BLOCK>& grid, const Row<Bits>& row, Histogram<Count> h, Digit digit,
                        Count* remaining, bool* all) {
  constexpr int size = Grid<BLOCK>::size;
  constexpr int share = size < 256 ? 256 / size : 1;  // bins of one thread
  for (int bin = grid.thread(); bin < 256; bin += size) h.bins[bin] = 0;
  block_sync();
  int run = -1;  // equal digits in a row go into the histogram together: equal elements would queue for one bin
  Count length = 0;
  row.each(grid, [&](typename Row<Bits>::Key key, int64_t i) {
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
HIPEP_DEVICE Cut<typename Row<Bits>::Key> select(const Grid<BLOCK>& grid, const Row<Bits>& row, int64_t k,
                                                 Histogram<Count> h) {
  using Key = typename Row<Bits>::Key;
  if (k >= row.extent) return {0, row.extent};
  Count remaining = static_cast<Count>(k);
  bool all = false;
  Key prefix = 0;
  for (int shift = 8 * (static_cast<int>(sizeof(Bits)) - 1); shift >= 0; shift -= 8) {
    const int digit = refine(
        grid, row, h,
        [=](Key key, int64_t) {
          const Key high = key >> shift;
          return (high >> 8) == prefix ? static_cast<int>(high & 255) : -1;
        },
        &remaining, &all);
    prefix = prefix << 8 | static_cast<Key>(digit);
    if (all) return {static_cast<Key>(prefix << shift), row.extent};
  }
  const int64_t end = row.extent - 1;
  int64_t place = 0;
  int shift = 0;
  while (end >> shift >= 256) shift += 8;
  for (; shift >= 0; shift -= 8) {
    const int digit = refine(
        grid, row, h,
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

// Radix selection, then a sort of the selected in shared memory.
template <class Bits, int BLOCK, int CAPACITY>
HIPEP_DEVICE void top_k_select(const TopKArgs& a, const Grid<BLOCK>& grid) {
  using Key = typename Row<Bits>::Key;
  HIPEP_SHARED(uint32_t, bins, 256);
  HIPEP_SHARED(uint32_t, found, 4);
  HIPEP_SHARED(Key, keys, CAPACITY);
  HIPEP_SHARED(uint32_t, places, CAPACITY);
  const int k = static_cast<int>(a.k);
  int padded = 1;
  while (padded < k) padded *= 2;
  const Range rows = grid.units(a.rows);
  for (int64_t r = rows.begin; r < rows.end; r += rows.step) {
    const Row<Bits> row(a, r);
    const Cut<Key> cut = select(grid, row, a.k, Histogram<uint32_t>{bins, found});
    if (grid.thread() == 0) found[3] = 0;
    block_sync();
    row.each(grid, [&](Key key, int64_t i) {
      if (key > cut.key || (key == cut.key && i <= cut.last)) {
        const uint32_t slot = shared_atomic_add(&found[3], 1u);
        keys[slot] = key;
        places[slot] = static_cast<uint32_t>(i);
      }
    });
    block_sync();
    if (CAPACITY <= kRankSort || k <= kRankSort) {
      for (int i = grid.thread(); i < k; i += Grid<BLOCK>::size) {
        int rank = 0;
        for (int j = 0; j < k; ++j) rank += precedes(keys[j], places[j], keys[i], places[i]) ? 1 : 0;
        row.store(a, rank, places[i]);
      }
    } else {
      for (int i = k + grid.thread(); i < padded; i += Grid<BLOCK>::size) {
        keys[i] = 0;
        places[i] = UINT32_MAX;  // behind every element: an index is less
      }
      bitonic_sort(grid, keys, places, padded);
      for (int i = grid.thread(); i < k; i += Grid<BLOCK>::size) row.store(a, i, places[i]);
    }
    block_sync();
  }
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
    const Cut<Key> cut = select(grid, row, a.k, Histogram<Count>{bins, found});
    if (grid.thread() == 0) found[3] = 0;
    block_sync();
    row.each(grid, [&](Key key, int64_t i) {
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
  HIPEP_KERNEL(top_k_one_##width, hipep::TopKArgs, 256) { hipep::top_k_one<uint##width##_t>(args, grid); }         \
  HIPEP_KERNEL(top_k_one_long_##width, hipep::TopKArgs, 1024) { hipep::top_k_one<uint##width##_t>(args, grid); }   \
  HIPEP_KERNEL(top_k_rank_##width, hipep::TopKArgs, 256) { hipep::top_k_rank<uint##width##_t>(args, grid); }       \
  HIPEP_KERNEL(top_k_select_##width, hipep::TopKArgs, 256) {                                                       \
    hipep::top_k_select<uint##width##_t, 256, hipep::kRankSort>(args, grid);                                       \
  }                                                                                                                \
  HIPEP_KERNEL(top_k_select_long_##width, hipep::TopKArgs, 1024) {                                                 \
    hipep::top_k_select<uint##width##_t, 1024, hipep::kSortTile>(args, grid);                                      \
  }                                                                                                                \
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
