// Selection by one block among words (key and index as one number, see sort_key.h), whether they come from a
// row or from a list that earlier blocks have left.
#pragma once
#include "top_k_row.h"

namespace hipep {
namespace {

template <class Word>
struct Wider {
  HIPEP_DEVICE Word operator()(Word a, Word b) const { return a < b ? b : a; }
};
template <class Word>
HIPEP_DEVICE int bit_length(Word value) {
  int length = 0;
  HIPEP_UNROLL
  for (int step = 4 * static_cast<int>(sizeof(Word)); step > 0; step /= 2) {
    const Word high = value >> step;
    length += high != 0 ? step : 0;
    value = high != 0 ? high : value;
  }
  return length + (value != 0 ? 1 : 0);
}

// Words that earlier blocks have left in memory, zeros among them.
template <class Word_, int BLOCK>
struct ListedWords {
  using Word = Word_;
  using Limit = Word_;
  const Word* words;
  int count, thread;

  HIPEP_DEVICE Word load(int at) const { return at < count ? words[at] : Word(0); }
  HIPEP_DEVICE int units() const { return count; }
  HIPEP_DEVICE void best_of_groups(Word (&best)[4]) const {
    HIPEP_UNROLL
    for (int g = 0; g < 4; ++g) best[g] = 0;
    for (int tile = 0; tile < count; tile += 4 * BLOCK) {
      Word loaded[4];
      HIPEP_UNROLL
      for (int g = 0; g < 4; ++g) loaded[g] = load(tile + g * BLOCK + thread);
      HIPEP_UNROLL
      for (int g = 0; g < 4; ++g) best[g] = loaded[g] > best[g] ? loaded[g] : best[g];
    }
  }
  HIPEP_DEVICE Limit limit(Word low) const { return low; }
  template <class F>
  HIPEP_DEVICE void each_against(Limit low, F f) const {
    for (int tile = 0; tile < count; tile += BLOCK) {
      const Word word = load(tile + thread);
      f(word >= low, [&] { return word; });
    }
  }
  template <class F>
  HIPEP_DEVICE void each(F f) const {
    for (int at = thread; at < count; at += BLOCK) f(words[at]);
  }
};

// The least and the most of what the threads give; a thread without gives ~0 and 0.
template <class Word, int BLOCK>
HIPEP_DEVICE void block_bounds(const Grid<BLOCK>& grid, Word* least, Word* most) {
  static_assert(warps<BLOCK>::even, "blocks are warps by a power of two");
  HIPEP_SHARED(Word, partial, 2 * warps<BLOCK>::most);
  constexpr int count = warps<BLOCK>::count;
  const int lane = grid.thread() % warp_size(), warp = grid.thread() / warp_size();
  const Wider<Word> wider;
  Word above = warp_reduce(*most, wider), below = warp_reduce(static_cast<Word>(~*least), wider);
  block_sync();  // partial may still be read from an earlier call
  if (lane == 0) {
    partial[2 * warp] = above;
    partial[2 * warp + 1] = below;
  }
  block_sync();
  above = partial[2 * (lane % count)];
  below = partial[2 * (lane % count) + 1];
  for (int by = count / 2; by > 0; by /= 2) {
    above = wider(above, shuffle_xor(above, by));
    below = wider(below, shuffle_xor(below, by));
  }
  *most = above;
  *least = ~below;
}

// What a block of BLOCK threads selects with: a histogram of two bins a thread, and the words that it has selected.
template <class Word, int BLOCK>
struct Bench {
  static constexpr int bin_count = 2 * BLOCK, room = 2 * BLOCK;
  static constexpr int digit = BLOCK == 1024 ? 11 : BLOCK == 512 ? 10 : 9;
  static_assert(bin_count == 1 << digit, "blocks of 256, 512 or 1024");
  uint32_t* bins;
  uint32_t* found;  // 3: a bin, what lies above it, the number of selected words
  Word* words;
  uint16_t* order;
};
#define HIPEP_BENCH(Word, BLOCK)                     \
  HIPEP_SHARED(uint32_t, bins, 2 * BLOCK);           \
  HIPEP_SHARED(uint32_t, found, 3);                  \
  HIPEP_SHARED(Word, selected_words, 2 * BLOCK);     \
  HIPEP_SHARED(uint16_t, selected_order, 2 * BLOCK); \
  const Bench<Word, BLOCK> bench = {bins, found, selected_words, selected_order}

constexpr uint32_t kNoBin = ~0u;

template <class Word, int BLOCK>
HIPEP_DEVICE void clear_bins(const Grid<BLOCK>& grid, const Bench<Word, BLOCK>& bench) {
  bench.bins[grid.thread()] = bench.bins[grid.thread() + BLOCK] = 0;
  if (grid.thread() == 0) {
    bench.found[0] = kNoBin;
    bench.found[1] = 0;
  }
}

// The bin of the k-th best and what lies above it; kNoBin if there are less.
template <class Word, int BLOCK>
HIPEP_DEVICE uint32_t find_bin(const Grid<BLOCK>& grid, const Bench<Word, BLOCK>& bench, uint32_t k, uint32_t* above) {
  block_sync();
  const int top = bench.bin_count - 1 - 2 * grid.thread();
  const uint32_t first = bench.bins[top], second = bench.bins[top - 1];
  uint32_t total = 0;
  const uint32_t before = block_scan(grid, first + second, &total);
  if (before < k && k <= before + first + second) {
    const bool deeper = before + first < k;
    bench.found[0] = static_cast<uint32_t>(deeper ? top - 1 : top);
    bench.found[1] = deeper ? before + first : before;
  }
  block_sync();
  *above = bench.found[1];
  return bench.found[0];
}

// A word that at least k reach, found from the best words of groups of elements: few more than k reach it. 0 if there
// are too few groups.
template <class Own, class Word, int BLOCK>
HIPEP_DEVICE Word bound(const Grid<BLOCK>& grid, const Bench<Word, BLOCK>& bench, const Own& own, uint32_t k) {
  const int groups = own.units() < 4 * BLOCK ? own.units() : 4 * BLOCK;
  if (2 * k > static_cast<uint32_t>(groups)) return 0;
  Word best[4];
  own.best_of_groups(best);
  if (2 * k <= BLOCK && groups >= BLOCK) {  // one group a thread
    HIPEP_UNROLL
    for (int g = 1; g < 4; ++g) {
      best[0] = best[g] > best[0] ? best[g] : best[0];
      best[g] = 0;
    }
  }
  Word least = ~Word(0), most = 0;
  HIPEP_UNROLL
  for (int g = 0; g < 4; ++g) {
    if (best[g] == 0) continue;
    least = best[g] < least ? best[g] : least;
    most = best[g] > most ? best[g] : most;
  }
  clear_bins(grid, bench);
  block_bounds(grid, &least, &most);
  const int length = bit_length(static_cast<Word>(most - least));
  const int shift = length > bench.digit ? length - bench.digit : 0;
  HIPEP_UNROLL
  for (int g = 0; g < 4; ++g) {
    if (best[g] != 0) shared_atomic_add(&bench.bins[static_cast<int>((best[g] - least) >> shift)], 1u);
  }
  uint32_t above = 0;
  const uint32_t bin = find_bin(grid, bench, k, &above);
  return bin == kNoBin ? Word(0) : static_cast<Word>(least + (Word(bin) << shift));
}

// Puts the words that reach low into bench.words while there is room; returns how many there are. What a caller wrote
// to shared memory before is visible to all after it.
template <class Own, class Word, int BLOCK>
HIPEP_DEVICE uint32_t gather_words(const Grid<BLOCK>& grid, const Bench<Word, BLOCK>& bench, const Own& own, Word low,
                                   uint32_t capacity) {
  if (grid.thread() == 0) bench.found[2] = 0;
  block_sync();
  const int lane = grid.thread() % warp_size();
  const uint64_t below = (uint64_t{1} << lane) - 1;
  own.each_against(own.limit(low), [&](bool reaches, auto word) {
    const uint64_t mask = ballot(reaches);
    if (mask == 0) return;
    uint32_t at = 0;
    if (lane == 0) at = shared_atomic_add(&bench.found[2], static_cast<uint32_t>(popcount(mask)));
    at = shuffle(at, 0) + static_cast<uint32_t>(popcount(mask & below));
    if (reaches && at < capacity) bench.words[at] = word();
  });
  block_sync();
  return bench.found[2];
}

// Puts at least k and at most capacity words into bench.words, the best ones of all. Returns their number.
template <class Own, class Word, int BLOCK>
HIPEP_DEVICE uint32_t select_words(const Grid<BLOCK>& grid, const Bench<Word, BLOCK>& bench, const Own& own, Word first,
                                   uint32_t k, uint32_t capacity) {
  Word last = ~Word(0);
  uint32_t wanted = k;  // from first .. last
  bool narrow = first == 0;
  if (narrow) first = 1;
  for (;;) {
    if (narrow) {
      Word least = ~Word(0), most = 0;
      own.each([&](Word w) {
        const bool inside = w >= first && w <= last;
        least = inside && w < least ? w : least;
        most = inside && w > most ? w : most;
      });
      clear_bins(grid, bench);
      block_bounds(grid, &least, &most);
      const int length = bit_length(static_cast<Word>(most - least));
      const int shift = length > bench.digit ? length - bench.digit : 0;
      own.each([&](Word w) {
        if (w >= first && w <= last) shared_atomic_add(&bench.bins[static_cast<int>((w - least) >> shift)], 1u);
      });
      uint32_t above = 0;
      const Word bin = find_bin(grid, bench, wanted, &above);
      wanted -= above;
      first = least + (bin << shift);
      const Word extra = (Word(1) << shift) - 1;
      last = most - first < extra ? most : first + extra;
    }
    const uint32_t total = gather_words(grid, bench, own, first, capacity);
    if (total <= capacity) return total;
    narrow = true;
  }
}

}  // namespace
}  // namespace hipep
