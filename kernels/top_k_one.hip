// TopK with K = 1: the best element of a row, by one block or by several.
#include "top_k_rank.h"

#ifndef HIPEP_SERIAL
namespace hipep {
namespace {

template <class Word, class Own, int BLOCK>
HIPEP_DEVICE Word best_of(const Grid<BLOCK>& grid, const Own& own) {
  Word best[4];
  own.best_of_groups(best);
  HIPEP_UNROLL
  for (int g = 1; g < 4; ++g) best[0] = best[g] > best[0] ? best[g] : best[0];
  return block_reduce(grid, best[0], Wider<Word>());
}

template <class Bits, int BLOCK>
HIPEP_DEVICE void top_k_one(const TopKArgs& a, const Grid<BLOCK>& grid) {
  using Word = typename Row<Bits>::Word;
  const Packing<Word> packing = {a.index_bits};
  const int64_t pieces = a.pieces;
  const Range units = grid.units(a.rows * pieces);
  for (int64_t u = units.begin; u < units.end; u += units.step) {
    const int64_t r = pieces == 1 ? u : u / pieces, begin = (u - r * pieces) * a.piece;
    const Row<Bits> row(a, a.first_row + r);
    const RowPart<Bits, BLOCK> part(grid, a, row, begin, begin + a.piece < a.extent ? begin + a.piece : a.extent);
    Word best = best_of<Word>(grid, part);
    if (pieces > 1) {
      Word* const words = static_cast<Word*>(a.words) + r * pieces;
      if (grid.thread() == 0) words[u - r * pieces] = best;
      if (!last_block(grid, a.tickets + r, pieces)) continue;
      best = best_of<Word>(grid, ListedWords<Word, BLOCK>{words, static_cast<int>(pieces), grid.thread()});
    }
    if (grid.thread() == 0) row.store(a, 0, packing.index(best));
  }
}

}  // namespace
}  // namespace hipep

#define HIPEP_TOP_K(width)                                                                                 \
  HIPEP_KERNEL(top_k_one_##width, hipep::TopKArgs, 256) { hipep::top_k_one<uint##width##_t>(args, grid); } \
  HIPEP_KERNEL(top_k_one_tall_##width, hipep::TopKArgs, 1024) { hipep::top_k_one<uint##width##_t>(args, grid); }
HIPEP_TOP_K(8)
HIPEP_TOP_K(16)
HIPEP_TOP_K(32)
HIPEP_TOP_K(64)
#endif
