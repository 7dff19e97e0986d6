// TopK of long rows with a K that is not small, in two launches: a word that few more than K elements reach, found from
// the best words of groups of elements; then the elements that reach it, among which the last block of the row selects.
#include "top_k_rank.h"

#ifndef HIPEP_SERIAL
namespace hipep {
namespace {

// At the beginning of a row's workspace; the words of its list follow 256 bytes later.
template <class Key>
struct SieveHead {
  Key key;
  uint32_t low, count;
};

template <class Word, class Key>
struct SieveRow {
  SieveHead<Key>* head;
  Word* words;
  HIPEP_DEVICE SieveRow(const TopKArgs& a, int64_t row) {
    char* const at = static_cast<char*>(a.words) + row * a.row_bytes;
    head = reinterpret_cast<SieveHead<Key>*>(at);
    words = reinterpret_cast<Word*>(at + 256);
  }
};

// The best words of the groups of a piece, the same group of a.lanes neighbouring threads taken together.
template <class Bits, int BLOCK>
HIPEP_DEVICE void top_k_bound(const TopKArgs& a, const Grid<BLOCK>& grid) {
  HIPEP_BENCH(Bits, BLOCK);
  using Key = typename Row<Bits>::Key;
  const int64_t pieces = a.pieces, slots = a.slots;
  const int lanes = a.lanes;
  const Range units = grid.units(a.rows * pieces);
  for (int64_t u = units.begin; u < units.end; u += units.step) {
    const int64_t r = u / pieces, begin = (u - r * pieces) * a.piece;
    const Row<Bits> row(a, a.first_row + r);
    const RowPart<Bits, BLOCK> part(grid, a, row, begin, begin + a.piece < a.extent ? begin + a.piece : a.extent);
    const SieveRow<Word, Key> sieve(a, r);
    Word best[4] = {0, 0, 0, 0};
    part.each_group([&](const auto& some, int g) {
      HIPEP_UNROLL
      for (int v = 0; v < part.vector; ++v) {
        const Word word = bench.pack(some.key[v], some.low[v]);
        best[g] = word > best[g] ? word : best[g];
      }
    });
    Word* const left = sieve.words + (u - r * pieces) * slots;
    HIPEP_UNROLL
    for (int g = 0; g < 4; ++g) {
      for (int by = lanes / 2; by > 0; by /= 2) {
        const Word other = shuffle_xor(best[g], by);
        best[g] = other > best[g] ? other : best[g];
      }
      if (grid.thread() % lanes == 0) left[(g * BLOCK + grid.thread()) / lanes] = best[g];
    }
    if (!last_block(grid, a.tickets + r, pieces)) continue;
    const ListedWords<Word, Key, BLOCK> groups = {sieve.words, static_cast<int>(pieces * slots), grid.thread(),
                                                  a.index_bits};
    const uint32_t count =
        select_words(grid, bench, groups, static_cast<uint32_t>(a.k), static_cast<uint32_t>(a.capacity));
    // Of the words that were selected the least decides, by its key and then by its lower part.
    Key key = ~Key(0), any = 0;
    const uint32_t mask = groups.most_low();
    for (uint32_t i = static_cast<uint32_t>(grid.thread()); i < count; i += BLOCK) {
      const Key other = static_cast<Key>(bench.words[i] >> a.index_bits);
      key = other < key ? other : key;
    }
    block_bounds(grid, &key, &any);
    uint32_t low = ~0u, any_low = 0;
    for (uint32_t i = static_cast<uint32_t>(grid.thread()); i < count; i += BLOCK) {
      const uint32_t other = static_cast<uint32_t>(bench.words[i]) & mask;
      low = static_cast<Key>(bench.words[i] >> a.index_bits) == key && other < low ? other : low;
    }
    block_bounds(grid, &low, &any_low);
    if (grid.thread() == 0) *sieve.head = {key, low, 0};
    block_sync();
  }
}

// Where more elements of a piece reach the bound than shared memory has room for.
template <class Own, class Word, class Key, int BLOCK>
HIPEP_DEVICE void append(const Grid<BLOCK>& grid, const Bench<Word, Key, BLOCK>& bench, const Own& own,
                         const Limit<Key>& limit, Word* to) {
  block_sync();
  if (grid.thread() == 0) bench.found[0] = 0;
  block_sync();
  own.each([&](const typename Own::Some& some) {
    HIPEP_UNROLL
    for (int v = 0; v < Own::Some::size; ++v) {
      if (!limit.reached(some.key[v], some.low[v])) continue;
      to[shared_atomic_add(&bench.found[0], 1u)] = bench.pack(some.key[v], some.low[v]);
    }
  });
}

template <class Bits, int BLOCK>
HIPEP_DEVICE void top_k_sieve(const TopKArgs& a, const Grid<BLOCK>& grid) {
  HIPEP_BENCH(Bits, BLOCK);
  using Key = typename Row<Bits>::Key;
  const int64_t pieces = a.pieces;
  const Range units = grid.units(a.rows * pieces);
  for (int64_t u = units.begin; u < units.end; u += units.step) {
    const int64_t r = u / pieces, begin = (u - r * pieces) * a.piece;
    const Row<Bits> row(a, a.first_row + r);
    const RowPart<Bits, BLOCK> part(grid, a, row, begin, begin + a.piece < a.extent ? begin + a.piece : a.extent);
    const SieveRow<Word, Key> sieve(a, r);
    block_sync();
    const Limit<Key> limit = {sieve.head->key, sieve.head->low};
    const uint32_t total = gather(grid, bench, part, limit, bench.room);
    if (total > 0) {
      if (grid.thread() == 0) bench.found[0] = global_atomic_add(&sieve.head->count, total);
      block_sync();
      Word* const to = sieve.words + bench.found[0];
      if (total <= bench.room) {
        for (uint32_t i = static_cast<uint32_t>(grid.thread()); i < total; i += BLOCK) to[i] = bench.words[i];
      } else {
        append(grid, bench, part, limit, to);
      }
    }
    if (!last_block(grid, a.tickets + r, pieces)) continue;
    const ListedWords<Word, Key, BLOCK> own = {sieve.words, static_cast<int>(sieve.head->count), grid.thread(),
                                               a.index_bits};
    store_best(a, grid, bench, row, own);
  }
}

}  // namespace
}  // namespace hipep

#define HIPEP_TOP_K(width)                                                                                     \
  HIPEP_KERNEL(top_k_bound_##width, hipep::TopKArgs, 512) { hipep::top_k_bound<uint##width##_t>(args, grid); } \
  HIPEP_KERNEL(top_k_sieve_##width, hipep::TopKArgs, 512) { hipep::top_k_sieve<uint##width##_t>(args, grid); }
HIPEP_TOP_K(8)
HIPEP_TOP_K(16)
HIPEP_TOP_K(32)
HIPEP_TOP_K(64)
#endif
