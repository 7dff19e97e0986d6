#include "device/device.h"
#include "device/layout.h"
#include "hipep/strided.h"

namespace hipep {
namespace {

constexpr int kBlock = 256;
constexpr int kWords = 32;  // a tile has so many words a side, of ITEMS units each
constexpr int kLines = kBlock / kWords;

struct Tile {
  int64_t row, column;  // its first ones
  Offsets base;
};

template <int SIDE>
HIPEP_DEVICE Tile tile_at(const hipep_transpose_args& args, int64_t index) {
  int64_t row, column;
  const int64_t above = split(index, args.column_tiles, args.column_divisor, args.large, &column);
  const int64_t batch = split(above, args.row_tiles, args.row_divisor, args.large, &row);
  Tile tile = {row * SIDE, column * SIDE, locate(args.batch, batch)};
  tile.base.at[0] += tile.column + tile.row * args.x_step;
  tile.base.at[1] += tile.row + tile.column * args.y_step;
  return tile;
}

// One thread: within a tile both sides stay in the nearest cache.
template <class Unit>
HIPEP_DEVICE void transpose_tile(const hipep_transpose_args& args, const Tile& tile) {
  const Unit* x = static_cast<const Unit*>(args.x) + tile.base.at[0];
  Unit* y = static_cast<Unit*>(args.y) + tile.base.at[1];
  const int64_t rows = least(args.rows - tile.row, kWords), columns = least(args.columns - tile.column, kWords);
  for (int64_t column = 0; column < columns; ++column) {
    for (int64_t row = 0; row < rows; ++row) y[column * args.y_step + row] = x[row * args.x_step + column];
  }
}

// A block: words of ITEMS units each go through shared memory, transposed within squares of ITEMS by ITEMS units.
template <class Unit, int ITEMS, int BLOCK>
HIPEP_DEVICE void transpose_tile(const hipep_transpose_args& args, const Grid<BLOCK>& grid, const Tile& tile) {
  using Word = Pack<Unit, ITEMS>;
  HIPEP_SHARED(Word, shared, ITEMS * kWords * (kWords + 1));
  const Unit* x = static_cast<const Unit*>(args.x) + tile.base.at[0];
  Unit* y = static_cast<Unit*>(args.y) + tile.base.at[1];
  const int lane = grid.thread() % kWords, line = grid.thread() / kWords;
  const int rows = static_cast<int>(least((args.rows - tile.row) / ITEMS, kWords));
  const int columns = static_cast<int>(least((args.columns - tile.column) / ITEMS, kWords));
  for (int row = line; row < rows && lane < columns; row += kLines) {
    Word from[ITEMS];
    for (int i = 0; i < ITEMS; ++i) {
      from[i] = *reinterpret_cast<const Word*>(x + (row * ITEMS + i) * args.x_step + lane * ITEMS);
    }
    for (int i = 0; i < ITEMS; ++i) {
      Word to;
      for (int j = 0; j < ITEMS; ++j) to.item[j] = from[j].item[i];
      shared[(i * kWords + lane) * (kWords + 1) + row] = to;
    }
  }
  block_sync();
  for (int column = line; column < columns && lane < rows; column += kLines) {
    for (int i = 0; i < ITEMS; ++i) {
      *reinterpret_cast<Word*>(y + (column * ITEMS + i) * args.y_step + lane * ITEMS) =
          shared[(i * kWords + column) * (kWords + 1) + lane];
    }
  }
  block_sync();
}

template <class Unit, int ITEMS, int BLOCK>
HIPEP_DEVICE void transpose(const hipep_transpose_args& args, const Grid<BLOCK>& grid) {
  const Range tiles = grid.units(args.tiles);
  for (int64_t i = tiles.begin; i < tiles.end; i += tiles.step) {
    if constexpr (Grid<BLOCK>::size == 1) {
      transpose_tile<Unit>(args, tile_at<kWords>(args, i));
    } else {
      transpose_tile<Unit, ITEMS>(args, grid, tile_at<kWords * ITEMS>(args, i));
    }
  }
}

}  // namespace
}  // namespace hipep

HIPEP_KERNEL(transpose_x1, hipep_transpose_args, 256) { hipep::transpose<uint8_t, 1>(args, grid); }
HIPEP_KERNEL(transpose_x2, hipep_transpose_args, 256) { hipep::transpose<uint16_t, 1>(args, grid); }
HIPEP_KERNEL(transpose_x4, hipep_transpose_args, 256) { hipep::transpose<uint32_t, 1>(args, grid); }
HIPEP_KERNEL(transpose_x8, hipep_transpose_args, 256) { hipep::transpose<uint64_t, 1>(args, grid); }
HIPEP_KERNEL(transpose_x16, hipep_transpose_args, 256) { hipep::transpose<hipep::Pack<uint32_t, 4>, 1>(args, grid); }
// Four units of a byte, or two of two bytes, at a time.
HIPEP_KERNEL(transpose_words_x1, hipep_transpose_args, 256) { hipep::transpose<uint8_t, 4>(args, grid); }
HIPEP_KERNEL(transpose_words_x2, hipep_transpose_args, 256) { hipep::transpose<uint16_t, 2>(args, grid); }
