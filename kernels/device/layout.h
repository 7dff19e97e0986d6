// Where the elements of a hipep_layout lie in its two operands.
#pragma once

#include "device/index.h"
#include "hipep/layout.h"

namespace hipep {
namespace {

struct Offsets {
  int64_t at[2];
};

// Also gives the position along the innermost axis.
HIPEP_DEVICE Offsets locate(const hipep_layout& layout, int64_t index, int64_t* column) {
  Offsets found = {{0, 0}};
  if (layout.large) {
    int64_t rest = index, position;
    for (int axis = layout.rank - 1; axis >= 0; --axis) {
      rest = split(rest, layout.dims[axis], layout.divisors[axis], true, &position);
      if (axis == layout.rank - 1) *column = position;
      found.at[0] += position * layout.strides[0][axis];
      found.at[1] += position * layout.strides[1][axis];
    }
    return found;
  }
  uint32_t rest = static_cast<uint32_t>(index);
  int32_t first = 0, second = 0;
  for (int axis = layout.rank - 1; axis >= 0; --axis) {
    const hipep_divisor& by = layout.divisors[axis];
    const uint32_t high = static_cast<uint32_t>((static_cast<uint64_t>(rest) * by.multiplier32) >> 32);
    const uint32_t quotient = axis == 0 ? 0 : (high + rest) >> by.shift;
    const int32_t position = static_cast<int32_t>(rest - quotient * static_cast<uint32_t>(layout.dims[axis]));
    if (axis == layout.rank - 1) *column = position;
    first += position * static_cast<int32_t>(layout.strides[0][axis]);
    second += position * static_cast<int32_t>(layout.strides[1][axis]);
    rest = quotient;
  }
  return {{first, second}};
}

HIPEP_DEVICE Offsets locate(const hipep_layout& layout, int64_t index) {
  int64_t column;
  return locate(layout, index, &column);
}

// Walks the elements [begin, end) in order, a piece of an innermost row at a time.
struct LayoutWalk {
  const hipep_layout& layout;
  int64_t index, end, column;
  int64_t at[HIPEP_LAYOUT_RANK];
  int64_t row[2];

  HIPEP_DEVICE LayoutWalk(const hipep_layout& l, int64_t begin, int64_t stop) : layout(l), index(begin), end(stop) {
    int64_t rest = begin / l.dims[l.rank - 1];
    column = begin - rest * l.dims[l.rank - 1];
    row[0] = row[1] = 0;
    for (int axis = l.rank - 2; axis >= 0; --axis) {
      at[axis] = rest % l.dims[axis];
      rest /= l.dims[axis];
      for (int k = 0; k < 2; ++k) row[k] += at[axis] * l.strides[k][axis];
    }
  }
  HIPEP_DEVICE bool done() const { return index >= end; }
  HIPEP_DEVICE int64_t step(int k) const { return layout.strides[k][layout.rank - 1]; }
  HIPEP_DEVICE int64_t length() const { return least(layout.dims[layout.rank - 1] - column, end - index); }
  HIPEP_DEVICE int64_t offset(int k) const { return row[k] + column * step(k); }
  HIPEP_DEVICE void advance(int64_t length) {
    index += length;
    column = 0;
    for (int axis = layout.rank - 2; axis >= 0; --axis) {
      for (int k = 0; k < 2; ++k) row[k] += layout.strides[k][axis];
      if (++at[axis] < layout.dims[axis]) return;
      for (int k = 0; k < 2; ++k) row[k] -= layout.strides[k][axis] * layout.dims[axis];
      at[axis] = 0;
    }
  }
};

}  // namespace
}  // namespace hipep
