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

// Evenly spread words fall into bins of one or two; where many meet, they are sorted.
template <class Word, int BLOCK, class Store>
HIPEP_DEVICE void rank_many(const Grid<BLOCK>& grid, const Bench<Word, BLOCK>& bench, int count, int k, Store store) {
  constexpr uint32_t crowd = 64;
  Word own[2], least = ~Word(0), most = 0;
  HIPEP_UNROLL
  for (int i = 0; i < 2; ++i) {
    const int slot = grid.thread() + i * BLOCK;
    own[i] = slot < count ? bench.words[slot] : Word(0);
    if (slot < count) {
      least = own[i] < least ? own[i] : least;
      most = own[i] > most ? own[i] : most;
    }
  }
  clear_bins(grid, bench);
  block_bounds(grid, &least, &most);
  const int length = bit_length(static_cast<Word>(most - least));
  const int shift = length > bench.digit ? length - bench.digit : 0;
  int bin[2] = {0, 0};
  uint32_t at[2] = {0, 0};
  HIPEP_UNROLL
  for (int i = 0; i < 2; ++i) {
    if (grid.thread() + i * BLOCK >= count) continue;
    bin[i] = static_cast<int>((most - own[i]) >> shift);
    at[i] = shared_atomic_add(&bench.bins[bin[i]], 1u);
  }
  block_sync();
  const uint32_t first = bench.bins[2 * grid.thread()], second = bench.bins[2 * grid.thread() + 1];
  uint32_t total = 0;
  const uint32_t before = block_scan(grid, first + second, &total);
  bench.bins[2 * grid.thread()] = before;
  bench.bins[2 * grid.thread() + 1] = before + first;
  if (first > crowd || second > crowd) bench.found[1] = 1;
  block_sync();
  if (bench.found[1] != 0) {
    int padded = 1;
    while (padded < count) padded *= 2;
    for (int i = count + grid.thread(); i < padded; i += BLOCK) bench.words[i] = 0;
    bitonic_sort(grid, bench.words, padded);
    for (int i = grid.thread(); i < k; i += BLOCK) store(i, bench.words[i]);
    return;
  }
  HIPEP_UNROLL
  for (int i = 0; i < 2; ++i) {
    const int slot = grid.thread() + i * BLOCK;
    if (slot < count) bench.order[bench.bins[bin[i]] + at[i]] = static_cast<uint16_t>(slot);
  }
  block_sync();
  HIPEP_UNROLL
  for (int i = 0; i < 2; ++i) {
    if (grid.thread() + i * BLOCK >= count) continue;
    const int begin = static_cast<int>(bench.bins[bin[i]]);
    const int end = bin[i] + 1 < bench.bin_count ? static_cast<int>(bench.bins[bin[i] + 1]) : count;
    int rank = begin;
    for (int j = begin; j < end; ++j) rank += bench.words[bench.order[j]] > own[i] ? 1 : 0;
    if (rank < k) store(rank, own[i]);
  }
}

// Calls store(rank, word) for the k best of the count words in bench.words.
template <class Word, int BLOCK, class Store>
HIPEP_DEVICE void rank_words(const Grid<BLOCK>& grid, const Bench<Word, BLOCK>& bench, int count, int k, Store store) {
  if (count <= BLOCK / 4) {
    rank_few(grid, bench.words, count, k, store);
  } else {
    rank_many(grid, bench, count, k, store);
  }
}

// Stores the k best of the words that a block has: those of a row, or of what was left of it.
template <class Bits, class Own, int BLOCK>
HIPEP_DEVICE void store_best(const TopKArgs& a, const Grid<BLOCK>& grid,
                             const Bench<typename Row<Bits>::Word, BLOCK>& bench, const Row<Bits>& row, const Own& own,
                             typename Row<Bits>::Word first) {
  const uint32_t count =
      select_words(grid, bench, own, first, static_cast<uint32_t>(a.k), static_cast<uint32_t>(a.capacity));
  const Packing<typename Row<Bits>::Word> packing = {a.index_bits};
  rank_words(grid, bench, static_cast<int>(count), static_cast<int>(a.k),
             [&](int rank, typename Row<Bits>::Word word) { row.store(a, rank, packing.index(word)); });
}

// A lower bound for select_words: all words if they fit, the bound of their parts, or none.
template <class Own, class Word, int BLOCK>
HIPEP_DEVICE Word first_bound(const Grid<BLOCK>& grid, const Bench<Word, BLOCK>& bench, const Own& own, int64_t k,
                              int64_t capacity) {
  return own.count <= capacity ? Word(1) : bound(grid, bench, own, static_cast<uint32_t>(k));
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
