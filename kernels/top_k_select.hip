// TopK by selection: a block for a row, or several for its pieces. Keys come from the bits and the order of the type,
// so a kernel exists once per width.
#include "top_k_rank.h"

#ifndef HIPEP_SERIAL
namespace hipep {
namespace {

template <class Bits, int BLOCK>
HIPEP_DEVICE void top_k_select(const TopKArgs& a, const Grid<BLOCK>& grid) {
  HIPEP_BENCH(Bits, BLOCK);
  const Range rows = grid.units(a.rows);
  for (int64_t r = rows.begin; r < rows.end; r += rows.step) {
    const Row<Bits> row(a, r);
    const RowPart<Bits, BLOCK> own(grid, a, row, 0, a.extent);
    block_sync();  // shared memory is still being read for the last row
    store_best(a, grid, bench, row, own);
  }
}

// A row in pieces: the words of each that may be among the best go to its slots, and the last block of the row selects
// among these.
template <class Bits, int BLOCK>
HIPEP_DEVICE void top_k_split(const TopKArgs& a, const Grid<BLOCK>& grid) {
  HIPEP_BENCH(Bits, BLOCK);
  const int64_t slots = a.slots, pieces = a.pieces;
  const Range units = grid.units(a.rows * pieces);
  for (int64_t u = units.begin; u < units.end; u += units.step) {
    const int64_t r = u / pieces, begin = (u - r * pieces) * a.piece;
    const Row<Bits> row(a, a.first_row + r);
    const RowPart<Bits, BLOCK> part(grid, a, row, begin, begin + a.piece < a.extent ? begin + a.piece : a.extent);
    Word* const words = static_cast<Word*>(a.words) + r * pieces * slots;
    Word* const left = words + (u - r * pieces) * slots;
    block_sync();
    const uint32_t count = select_words(grid, bench, part, static_cast<uint32_t>(a.k), static_cast<uint32_t>(slots));
    for (int64_t i = grid.thread(); i < slots; i += BLOCK) left[i] = i < count ? bench.words[i] : Word(0);
    if (!last_block(grid, a.tickets + r, pieces)) continue;
    const ListedWords<Word, typename Row<Bits>::Key, BLOCK> own = {words, static_cast<int>(pieces * slots),
                                                                   grid.thread(), a.index_bits};
    store_best(a, grid, bench, row, own);
  }
}

}  // namespace
}  // namespace hipep

#define HIPEP_TOP_K(width)                                                                                            \
  HIPEP_KERNEL(top_k_select_##width, hipep::TopKArgs, 256) { hipep::top_k_select<uint##width##_t>(args, grid); }      \
  HIPEP_KERNEL(top_k_select_tall_##width, hipep::TopKArgs, 512) { hipep::top_k_select<uint##width##_t>(args, grid); } \
  HIPEP_KERNEL(top_k_split_##width, hipep::TopKArgs, 512) { hipep::top_k_split<uint##width##_t>(args, grid); }
HIPEP_TOP_K(8)
HIPEP_TOP_K(16)
HIPEP_TOP_K(32)
HIPEP_TOP_K(64)
#endif
