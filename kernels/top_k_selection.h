// Selection by one block, from a row or from a list of words (key and index as one number, see sort_key.h).
#pragma once
#include "top_k_row.h"

namespace hipep {
namespace {

// Words that earlier blocks have left in memory, zeros among them.
template <class Word, class Key_, int BLOCK>
struct ListedWords {
  using Key = Key_;
  using Some = Elements<Key, 1>;
  const Word* words;
  int count, thread, index_bits;

  HIPEP_DEVICE int units() const { return count; }
  HIPEP_DEVICE uint32_t least_low() const { return 0; }
  HIPEP_DEVICE uint32_t most_low() const { return static_cast<uint32_t>((uint64_t{1} << index_bits) - 1); }
  HIPEP_DEVICE Some load(int at) const {
    const Word word = at < count ? words[at] : Word(0);
    return {{static_cast<Key>(word >> index_bits)}, {static_cast<uint32_t>(word) & most_low()}};
  }
  template <class F>
  HIPEP_DEVICE void each_group(F f) const {
    for (int tile = 0; tile < count; tile += 4 * BLOCK) {
      Some some[4];
      HIPEP_UNROLL
      for (int g = 0; g < 4; ++g) some[g] = load(tile + g * BLOCK + thread);
      HIPEP_UNROLL
      for (int g = 0; g < 4; ++g) f(some[g], g);
    }
  }
  template <class F>
  HIPEP_DEVICE void each(F f) const {
    for (int tile = 0; tile < count; tile += BLOCK) f(load(tile + thread));
  }
};

// What elements reach: a larger key, or this key and at least this lower part of the word. No padding and no zero word
// reaches one whose lower part is at least 1 and at most that of an element.
template <class Key>
struct Limit {
  Key key;
  uint32_t low;
  HIPEP_DEVICE bool reached(Key other, uint32_t other_low) const {
    return other > key || (other == key && other_low >= low);
  }
};

// The least and the most of what the threads give.
template <class T, int BLOCK>
HIPEP_DEVICE void block_bounds(const Grid<BLOCK>& grid, T* least, T* most) {
  static_assert(warps<BLOCK>::even, "blocks are warps by a power of two");
  HIPEP_SHARED(T, partial, 2 * warps<BLOCK>::most);
  constexpr int count = warps<BLOCK>::count;
  const int lane = grid.thread() % warp_size(), warp = grid.thread() / warp_size();
  const T above = warp_max(*most), below = warp_max(static_cast<T>(~*least));
  block_sync();  // partial may still be read from an earlier call
  if (lane == 0) {
    partial[2 * warp] = above;
    partial[2 * warp + 1] = below;
  }
  block_sync();
  *most = warp_max(partial[2 * (lane % count)]);
  *least = static_cast<T>(~warp_max(partial[2 * (lane % count) + 1]));
}

// What a block selects with: a histogram, and room for the words that it selects.
template <class Word_, class Key_, int BLOCK>
struct Bench {
  using Word = Word_;
  using Key = Key_;
  static constexpr int digit = BLOCK >= 512 ? 10 : 9, bin_count = 1 << digit;
  static constexpr int room = (BLOCK >= 512 ? 32768 : 8192) / static_cast<int>(sizeof(Word));
  uint32_t* bins;
  uint32_t* found;  // 3: a bin, what lies above it, the number of selected words
  Word* words;
  uint16_t* order;
  int index_bits;

  HIPEP_DEVICE Word pack(Key key, uint32_t low) const { return Word(key) << index_bits | low; }
};
#define HIPEP_BENCH(Bits, BLOCK)                                 \
  using Word = typename Row<Bits>::Word;                         \
  using Selection = Bench<Word, typename Row<Bits>::Key, BLOCK>; \
  HIPEP_SHARED(uint32_t, bins, Selection::bin_count);            \
  HIPEP_SHARED(uint32_t, found, 3);                              \
  HIPEP_SHARED(Word, selected_words, Selection::room);           \
  HIPEP_SHARED(uint16_t, selected_order, Selection::room);       \
  const Selection bench = {bins, found, selected_words, selected_order, a.index_bits}

constexpr uint32_t kNoBin = ~0u;

template <class Word, class Key, int BLOCK>
HIPEP_DEVICE void clear_bins(const Grid<BLOCK>& grid, const Bench<Word, Key, BLOCK>& bench) {
  for (int bin = grid.thread(); bin < bench.bin_count; bin += BLOCK) bench.bins[bin] = 0;
  if (grid.thread() == 0) {
    bench.found[0] = kNoBin;
    bench.found[1] = 0;
  }
}

template <class T>
HIPEP_DEVICE int bit_length(T value) {
  return value == 0 ? 0 : 64 - leading_zeros(static_cast<uint64_t>(value));
}

// The bin of the k-th best and what lies above it, found by the first warp; kNoBin if there are less.
template <class Word, class Key, int BLOCK>
HIPEP_DEVICE uint32_t find_bin(const Grid<BLOCK>& grid, const Bench<Word, Key, BLOCK>& bench, uint32_t k,
                               uint32_t* above) {
  constexpr int bin_count = Bench<Word, Key, BLOCK>::bin_count;
  block_sync();
  if (grid.thread() < warp_size()) {
    const int share = bin_count / warp_size(), lane = grid.thread();
    const uint32_t* const own = bench.bins + bin_count - (lane + 1) * share;
    uint32_t sum = 0;
    for (int i = 0; i < share; ++i) sum += own[(i + lane) % share];  // lanes read from different banks
    uint32_t before = sum;
    for (int by = 1; by < warp_size(); by *= 2) {
      const uint32_t other = shuffle_up(before, by);
      if (lane >= by) before += other;
    }
    before -= sum;
    if (before < k && k <= before + sum) {
      int bin = share - 1;
      for (; before + own[bin] < k; --bin) before += own[bin];
      bench.found[0] = static_cast<uint32_t>(bin_count - (lane + 1) * share + bin);
      bench.found[1] = before;
    }
  }
  block_sync();
  *above = bench.found[1];
  return bench.found[0];
}

// A key that at least k elements have or exceed, and few more, and the best key of all, found from the best keys of
// groups of elements. False if there are too few groups, or groups of which nothing is known.
template <class Own, class Word, class Key, int BLOCK>
HIPEP_DEVICE bool bound(const Grid<BLOCK>& grid, const Bench<Word, Key, BLOCK>& bench, const Own& own, uint32_t k,
                        Key* low, Key* top) {
  const int groups = own.units() < 4 * BLOCK ? own.units() : 4 * BLOCK;
  if (2 * k > static_cast<uint32_t>(groups)) return false;
  const bool one = 2 * k <= BLOCK && groups >= BLOCK;  // group a thread
  Key best[4] = {0, 0, 0, 0};
  own.each_group([&](const typename Own::Some& some, int g) {
    HIPEP_UNROLL
    for (int v = 0; v < Own::Some::size; ++v) best[g] = some.key[v] > best[g] ? some.key[v] : best[g];
  });
  HIPEP_UNROLL
  for (int g = 1; g < 4; ++g) best[0] = one && best[g] > best[0] ? best[g] : best[0];
  Key least = ~Key(0), most = 0;
  HIPEP_UNROLL
  for (int g = 0; g < 4; ++g) {
    if (one && g > 0) best[g] = 0;
    least = best[g] != 0 && best[g] < least ? best[g] : least;
    most = best[g] > most ? best[g] : most;
  }
  clear_bins(grid, bench);
  block_bounds(grid, &least, &most);
  const int length = bit_length(static_cast<Key>(most - least));
  const int shift = length > bench.digit ? length - bench.digit : 0;
  HIPEP_UNROLL
  for (int g = 0; g < 4; ++g) {
    if (best[g] != 0) shared_atomic_add(&bench.bins[static_cast<int>((best[g] - least) >> shift)], 1u);
  }
  uint32_t above = 0;
  const uint32_t bin = find_bin(grid, bench, k, &above);
  *top = most;
  if (bin != kNoBin) *low = least + (Key(bin) << shift);
  return bin != kNoBin;
}

// Puts the words that reach the limit into bench.words while there is room; returns how many there are.
template <class Own, class Word, class Key, int BLOCK>
HIPEP_DEVICE uint32_t gather(const Grid<BLOCK>& grid, const Bench<Word, Key, BLOCK>& bench, const Own& own,
                             const Limit<Key>& limit, uint32_t capacity) {
  constexpr int size = Own::Some::size;
  if (grid.thread() == 0) bench.found[2] = 0;
  block_sync();
  const int lane = grid.thread() % warp_size();
  const uint64_t below = (uint64_t{1} << lane) - 1;
  own.each([&](const typename Own::Some& some) {
    uint64_t mask[size];
    uint32_t total = 0;
    HIPEP_UNROLL
    for (int v = 0; v < size; ++v) {
      mask[v] = ballot(limit.reached(some.key[v], some.low[v]));
      total += static_cast<uint32_t>(popcount(mask[v]));
    }
    if (total == 0) return;
    uint32_t at = 0;
    if (lane == 0) at = shared_atomic_add(&bench.found[2], total);
    at = shuffle(at, 0);
    HIPEP_UNROLL
    for (int v = 0; v < size; ++v) {
      const uint32_t own_at = at + static_cast<uint32_t>(popcount(mask[v] & below));
      if ((mask[v] >> lane & 1) != 0 && own_at < capacity) bench.words[own_at] = bench.pack(some.key[v], some.low[v]);
      at += static_cast<uint32_t>(popcount(mask[v]));
    }
  });
  block_sync();
  return bench.found[2];
}

// Equal elements would queue for one bin: the two bins that many lanes of a warp may share are added to at once.
template <class Word, class Key, int BLOCK>
HIPEP_DEVICE void count_in_bin(const Grid<BLOCK>& grid, const Bench<Word, Key, BLOCK>& bench, bool inside, int bin) {
  const int lane = grid.thread() % warp_size();
  uint64_t left = ballot(inside);
  for (int round = 0; round < 2 && left != 0; ++round) {
    const int leader = popcount((left & (~left + 1)) - 1);
    const int theirs = shuffle(bin, leader);
    const uint64_t same = ballot(inside && bin == theirs);
    if (lane == leader) shared_atomic_add(&bench.bins[theirs], static_cast<uint32_t>(popcount(same)));
    inside = inside && bin != theirs;
    left &= ~same;
  }
  if (inside) shared_atomic_add(&bench.bins[bin], 1u);
}

// The part of [least, most] that holds the wanted-th best of the values that project gives; takes what lies above from
// wanted. project(key, low, &value) is false for elements that are out of the question.
template <class Own, class Word, class Key, class Value, int BLOCK, class Project>
HIPEP_DEVICE void narrow(const Grid<BLOCK>& grid, const Bench<Word, Key, BLOCK>& bench, const Own& own, Value* least,
                         Value* most, uint32_t* wanted, Project project) {
  const int length = bit_length(static_cast<Value>(*most - *least));
  const int shift = length > bench.digit ? length - bench.digit : 0;
  block_sync();  // found may still be read
  clear_bins(grid, bench);
  block_sync();
  own.each([&](const typename Own::Some& some) {
    HIPEP_UNROLL
    for (int v = 0; v < Own::Some::size; ++v) {
      Value value = 0;
      const bool inside = project(some.key[v], some.low[v], &value);
      count_in_bin(grid, bench, inside, static_cast<int>((value - *least) >> shift));
    }
  });
  uint32_t above = 0;
  const Value bin = find_bin(grid, bench, *wanted, &above);
  *wanted -= above;
  *least += bin << shift;
  const Value extra = (Value(1) << shift) - 1;
  *most = *most - *least < extra ? *most : static_cast<Value>(*least + extra);
}

// Puts at least k and at most capacity words into bench.words, the best ones of all. Returns their number.
template <class Own, class Word, class Key, int BLOCK>
HIPEP_DEVICE uint32_t select_words(const Grid<BLOCK>& grid, const Bench<Word, Key, BLOCK>& bench, const Own& own,
                                   uint32_t k, uint32_t capacity) {
  const uint32_t least_low = own.least_low() > 1 ? own.least_low() : 1;
  Key guess = 0, top = ~Key(0);
  bool known = own.count <= static_cast<int>(capacity) || bound(grid, bench, own, k, &guess, &top);
  Key first = guess, last = ~Key(0);
  uint32_t first_low = least_low, last_low = own.most_low(), wanted = k;
  bool tied = guess == top;  // k elements or more are as good as any
  known = known && !tied;
  for (;;) {
    if (known) {
      const uint32_t total = gather(grid, bench, own, Limit<Key>{first, first_low}, capacity);
      if (total <= capacity) return total;
    }
    if (!tied) {
      Key least = ~Key(0), most = 0;
      own.each([&](const typename Own::Some& some) {
        HIPEP_UNROLL
        for (int v = 0; v < Own::Some::size; ++v) {
          const bool inside = some.key[v] >= first && some.key[v] <= last && some.low[v] >= least_low;
          least = inside && some.key[v] < least ? some.key[v] : least;
          most = inside && some.key[v] > most ? some.key[v] : most;
        }
      });
      block_bounds(grid, &least, &most);
      first = least;
      last = most;
      tied = first == last;
      if (!tied) {
        narrow(grid, bench, own, &first, &last, &wanted, [&](Key key, uint32_t low, Key* value) {
          *value = key;
          return key >= least && key <= most && low >= least_low;
        });
      }
    }
    if (tied) {
      narrow(grid, bench, own, &first_low, &last_low, &wanted,
             [&, from = first_low, to = last_low](Key key, uint32_t low, uint32_t* value) {
               *value = low;
               return key == first && low >= from && low <= to;
             });
    }
    known = true;
  }
}

}  // namespace
}  // namespace hipep
