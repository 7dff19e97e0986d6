// Ranks of the words that a block has selected in shared memory.
#pragma once
#include "top_k_selection.h"

namespace hipep {
namespace {

// Sorts count words (a power of two) in shared memory, best first.
template <class Word, int BLOCK>
HIPEP_DEVICE void bitonic_sort(const Grid<BLOCK>& grid, Word* words, int count) {
  for (int size = 2; size <= count; size *= 2) {
    for (int stride = size / 2; stride > 0; stride /= 2) {
      block_sync();
      for (int t = grid.thread(); t < count / 2; t += BLOCK) {
        const int i = 2 * t - (t & (stride - 1)), j = i + stride;
        const Word a = words[i], b = words[j];
        if ((b > a) == ((i & size) == 0)) {
          words[i] = b;
          words[j] = a;
        }
      }
    }
  }
  block_sync();
}

constexpr int kFew = 128;

// Few words: eight threads count the words above one.
template <class Word, int BLOCK, class Store>
HIPEP_DEVICE void rank_few(const Grid<BLOCK>& grid, const Word* words, int count, int k, Store store) {
  constexpr int share = 8;
  const int part = grid.thread() % share;
  for (int begin = 0; begin < count; begin += BLOCK / share) {
    const int at = begin + grid.thread() / share;
    const Word own = at < count ? words[at] : Word(0);
    int rank = 0;
    for (int j = part; j < count; j += share) rank += words[j] > own ? 1 : 0;
    for (int by = share / 2; by > 0; by /= 2) rank += shuffle_xor(rank, by);
    if (part == 0 && at < count && rank < k) store(rank, own);
  }
}

// Evenly spread words fall into bins of a few; where many meet, they are sorted.
template <class Word, class Key, int BLOCK, class Store>
HIPEP_DEVICE void rank_many(const Grid<BLOCK>& grid, const Bench<Word, Key, BLOCK>& bench, int count, int k,
                            Store store) {
  constexpr uint32_t crowd = 256;
  constexpr int share = (Bench<Word, Key, BLOCK>::bin_count + BLOCK - 1) / BLOCK;  // bins of one thread
  Key least = ~Key(0), most = 0;
  for (int slot = grid.thread(); slot < count; slot += BLOCK) {
    const Key key = static_cast<Key>(bench.words[slot] >> bench.index_bits);
    least = key < least ? key : least;
    most = key > most ? key : most;
  }
  clear_bins(grid, bench);
  block_bounds(grid, &least, &most);
  const int length = bit_length(static_cast<Key>(most - least));
  const int shift = length > bench.digit ? length - bench.digit : 0;
  const auto bin_of = [&](Word word) {
    return static_cast<int>((most - static_cast<Key>(word >> bench.index_bits)) >> shift);
  };
  for (int slot = grid.thread(); slot < count; slot += BLOCK) {
    shared_atomic_add(&bench.bins[bin_of(bench.words[slot])], 1u);
  }
  block_sync();
  uint32_t own[share], sum = 0, total = 0;
  HIPEP_UNROLL
  for (int b = 0; b < share; ++b) {
    const int bin = grid.thread() * share + b;
    own[b] = bin < bench.bin_count ? bench.bins[bin] : 0;
    sum += own[b];
    if (own[b] > crowd) bench.found[1] = 1;
  }
  uint32_t before = block_scan(grid, sum, &total);
  HIPEP_UNROLL
  for (int b = 0; b < share; ++b) {
    const int bin = grid.thread() * share + b;
    if (bin < bench.bin_count) bench.bins[bin] = before;
    before += own[b];
  }
  block_sync();
  if (bench.found[1] != 0) {
    int padded = 1;
    while (padded < count) padded *= 2;
    for (int i = count + grid.thread(); i < padded; i += BLOCK) bench.words[i] = 0;
    bitonic_sort(grid, bench.words, padded);
    for (int i = grid.thread(); i < k; i += BLOCK) store(i, bench.words[i]);
    return;
  }
  // Each bin's counter runs from where the bin begins to where it ends.
  for (int slot = grid.thread(); slot < count; slot += BLOCK) {
    bench.order[shared_atomic_add(&bench.bins[bin_of(bench.words[slot])], 1u)] = static_cast<uint16_t>(slot);
  }
  block_sync();
  for (int slot = grid.thread(); slot < count; slot += BLOCK) {
    const Word word = bench.words[slot];
    const int bin = bin_of(word);
    const int begin = bin > 0 ? static_cast<int>(bench.bins[bin - 1]) : 0, end = static_cast<int>(bench.bins[bin]);
    int rank = begin;
    for (int j = begin; j < end && rank < k; ++j) rank += bench.words[bench.order[j]] > word ? 1 : 0;
    if (rank < k) store(rank, word);
  }
}

// Stores the k best of the words that a block has: those of a row, or of what was left of it.
template <class Bits, class Own, class Word, class Key, int BLOCK>
HIPEP_DEVICE void store_best(const TopKArgs& a, const Grid<BLOCK>& grid, const Bench<Word, Key, BLOCK>& bench,
                             const Row<Bits>& row, const Own& own) {
  const int k = static_cast<int>(a.k);
  const int count =
      static_cast<int>(select_words(grid, bench, own, static_cast<uint32_t>(k), static_cast<uint32_t>(a.capacity)));
  const auto store = [&](int rank, Word word) {
    const Packing<Word> packing = {a.index_bits};
    row.store(a, rank, packing.index(word));
  };
  if (count <= kFew) {
    rank_few(grid, bench.words, count, k, store);
  } else {
    rank_many(grid, bench, count, k, store);
  }
}

// Whether this block is the last of those that share a ticket; it then sees what all have written, and the ticket is
// zero again.
template <int BLOCK>
HIPEP_DEVICE bool last_block(const Grid<BLOCK>& grid, uint32_t* ticket, int64_t blocks) {
  HIPEP_SHARED(uint32_t, drawn, 1);
  device_fence();
  block_sync();
  if (grid.thread() == 0) {
    drawn[0] = global_atomic_add(ticket, 1u);
    if (drawn[0] + 1 == blocks) *ticket = 0;
  }
  block_sync();
  device_fence();
  return drawn[0] + 1 == blocks;
}

}  // namespace
}  // namespace hipep
