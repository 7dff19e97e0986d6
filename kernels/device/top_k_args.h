// Arguments of the TopK kernels, shared by their planner.
#pragma once
#include <stdint.h>

namespace hipep {

// How the stored bits of an element type order: made from the ONNX type, so that kernels need to know its width only.
struct SortOrder {
  uint64_t infinity;  // bits of +infinity of a floating-point type; 0: an integer type
  uint64_t flip;      // exclusive-or that turns ascending bits (integers) or keys (floats) into "larger is better"
};

// Row r is the elements (r / inner, 0..extent, r % inner) of x[outer, extent, inner].
struct TopKArgs {
  const void* x;
  void* values;      // NULL: not wanted
  int64_t* indices;  // NULL: not wanted
  // rows * k candidates (sort key and index) of the variant that sorts in workspace, and where a merge puts them.
  void* keys;
  int64_t* places;
  void* next_keys;
  int64_t* next_places;
  int64_t rows, extent, inner, k;
  int64_t run;  // length of the sorted runs that a merge finds
  // The variants that take a row in pieces: packed words, and a ticket for each row.
  void* words;
  uint32_t* tickets;
  int64_t first_row;      // rows counts from here
  int64_t row_bytes;      // of words
  int64_t pieces, piece;  // of a row, and the elements of one of them; the last may be shorter
  int64_t slots;          // words that a piece leaves behind, zeros among them
  int64_t capacity;       // most words that a block ranks: at least k
  int32_t lanes;          // neighbouring threads of one group
  int32_t index_bits;
  SortOrder order;
};

struct TopKHostArgs {
  static constexpr int64_t tile_bytes = 4096;  // of keys: the columns of a unit of top_k_columns

  const void* x;
  void* values;
  int64_t* indices;
  uint8_t* scratch;  // tasks * scratch_bytes
  int64_t scratch_bytes;
  int64_t tasks;  // equal shares of the rows (or tiles of columns); one unit each
  int64_t rows, extent, inner, k;
  int64_t columns;   // of a tile, when inner > 1
  int64_t capacity;  // candidates that the buffer holds
  int64_t maxima;    // that the first bound is the k-th of; 0: every element is a candidate
  int64_t sections;  // of the row, whose last `sample` elements the maxima are taken over
  int64_t sample;    // a multiple of maxima
  SortOrder order;
};

}  // namespace hipep
