// TopK with K = 1: the best element of a row, by one block or by several.
#include "top_k_rank.h"

#ifndef HIPEP_SERIAL
namespace hipep {
namespace {

// The best element of a row, a part of it, or of the words that blocks have left: its key and the lower part of its
// word.
template <class Own, int BLOCK>
HIPEP_DEVICE Elements<typename Own::Key, 1> best_of(const Grid<BLOCK>& grid, const Own& own) {
  using Key = typename Own::Key;
  Key keys[4] = {0, 0, 0, 0}, least = 0;
  uint32_t lows[4] = {0, 0, 0, 0}, least_low = 0;
  own.each_group([&](const typename Own::Some& some, int g) {
    HIPEP_UNROLL
    for (int v = 0; v < Own::Some::size; ++v) {  // the lower parts of a group fall
      const bool better = some.key[v] > keys[g] || (some.key[v] == keys[g] && lows[g] == 0);
      keys[g] = better ? some.key[v] : keys[g];
      lows[g] = better ? some.low[v] : lows[g];
    }
  });
  Key most = 0;
  HIPEP_UNROLL
  for (int g = 0; g < 4; ++g) most = keys[g] > most ? keys[g] : most;
  block_bounds(grid, &least, &most);
  uint32_t low = 0;
  HIPEP_UNROLL
  for (int g = 0; g < 4; ++g) low = keys[g] == most && lows[g] > low ? lows[g] : low;
  block_bounds(grid, &least_low, &low);
  return {{most}, {low}};
}

template <class Bits, int BLOCK>
HIPEP_DEVICE void top_k_one(const TopKArgs& a, const Grid<BLOCK>& grid) {
  using Key = typename Row<Bits>::Key;
  using Word = typename Row<Bits>::Word;
  const Packing<Word> packing = {a.index_bits};
  const int64_t pieces = a.pieces;
  const Range units = grid.units(a.rows * pieces);
  for (int64_t u = units.begin; u < units.end; u += units.step) {
    const int64_t r = pieces == 1 ? u : u / pieces, begin = (u - r * pieces) * a.piece;
    const Row<Bits> row(a, a.first_row + r);
    const RowPart<Bits, BLOCK> part(grid, a, row, begin, begin + a.piece < a.extent ? begin + a.piece : a.extent);
    Elements<Key, 1> best = best_of(grid, part);
    if (pieces > 1) {
      Word* const words = static_cast<Word*>(a.words) + r * pieces;
      if (grid.thread() == 0) words[u - r * pieces] = Word(best.key[0]) << a.index_bits | best.low[0];
      if (!last_block(grid, a.tickets + r, pieces)) continue;
      best = best_of(grid, ListedWords<Word, Key, BLOCK>{words, static_cast<int>(pieces), grid.thread(), a.index_bits});
    }
    if (grid.thread() == 0) row.store(a, 0, packing.index(best.low[0]));
  }
}

}  // namespace
}  // namespace hipep

#define HIPEP_TOP_K(width)                                                                                 \
  HIPEP_KERNEL(top_k_one_##width, hipep::TopKArgs, 256) { hipep::top_k_one<uint##width##_t>(args, grid); } \
  HIPEP_KERNEL(top_k_one_tall_##width, hipep::TopKArgs, 512) { hipep::top_k_one<uint##width##_t>(args, grid); }
HIPEP_TOP_K(8)
HIPEP_TOP_K(16)
HIPEP_TOP_K(32)
HIPEP_TOP_K(64)
#endif
