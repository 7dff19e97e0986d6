#include "device/device.h"
#include "device/index.h"
#include "hipep/pad.h"

namespace hipep {
namespace {

// The position along an axis of x that stands at a position before or after it.
HIPEP_DEVICE int64_t repeated(int32_t mode, int64_t position, int64_t extent) {
  if (position >= 0 && position < extent) return position;
  if (mode == HIPEP_PAD_EDGE || extent == 1) return position < 0 ? 0 : extent - 1;
  const int64_t period = mode == HIPEP_PAD_WRAP ? extent : 2 * extent - 2;
  position %= period;
  position += position < 0 ? period : 0;
  return position < extent ? position : period - position;
}

template <class Unit>
HIPEP_DEVICE Unit fill_unit(const hipep_pad_args& args) {
  uint64_t bits = 0;
  if (args.value != nullptr) {
    switch (args.value_bytes) {
      case 1: bits = *static_cast<const uint8_t*>(args.value) * 0x0101010101010101ull; break;
      case 2: bits = *static_cast<const uint16_t*>(args.value) * 0x0001000100010001ull; break;
      case 4: bits = *static_cast<const uint32_t*>(args.value) * 0x0000000100000001ull; break;
      default: bits = *static_cast<const uint64_t*>(args.value); break;
    }
  }
  const uint64_t words[2] = {bits, bits};
  Unit unit;
  __builtin_memcpy(&unit, words, sizeof unit);
  return unit;
}

// Where the row with the outer indices of `row` begins in x; -1 if it lies outside.
HIPEP_DEVICE int64_t row_offset(const hipep_pad_args& args, int64_t row) {
  int64_t offset = 0;
  bool inside = true;
  for (int axis = args.rank - 2; axis >= 0; --axis) {
    int64_t position;
    row = split(row, args.dims[axis], args.divisors[axis], args.large, &position);
    position -= args.before[axis];
    if (args.mode == HIPEP_PAD_CONSTANT) {
      inside = inside && position >= 0 && position < args.extents[axis];
    } else {
      position = repeated(args.mode, position, args.extents[axis]);
    }
    offset += position * args.strides[axis];
  }
  return inside ? offset : -1;
}

// The columns [begin, end) of one row of y.
template <class Unit>
HIPEP_DEVICE void pad_row(const hipep_pad_args& args, int64_t offset, Unit fill, Unit* y, int64_t begin, int64_t end) {
  const int inner = args.rank - 1;
  const int64_t before = args.before[inner], extent = args.extents[inner], stride = args.strides[inner];
  const int64_t first = offset < 0 ? end : least(before > begin ? before : begin, end);
  const int64_t last = offset < 0 ? end : least(before + extent > first ? before + extent : first, end);
  const Unit* x = static_cast<const Unit*>(args.x) + offset;
  const bool constant = args.mode == HIPEP_PAD_CONSTANT;
  for (int64_t i = begin; i < first; ++i) {
    y[i] = constant ? fill : x[repeated(args.mode, i - before, extent) * stride];
  }
  if (stride == 1) {
    if (last > first) __builtin_memcpy(y + first, x + (first - before), (last - first) * sizeof(Unit));
  } else {
    for (int64_t i = first; i < last; ++i) y[i] = x[(i - before) * stride];
  }
  for (int64_t i = last; i < end; ++i) {
    y[i] = constant ? fill : x[repeated(args.mode, i - before, extent) * stride];
  }
}

template <class Unit, int BLOCK>
HIPEP_DEVICE void pad(const hipep_pad_args& args, const Grid<BLOCK>& grid) {
  const int inner = args.rank - 1;
  const Unit fill = fill_unit<Unit>(args);
  Unit* y = static_cast<Unit*>(args.y);
  const Range range = grid.elements(args.count);
  for (int64_t at = range.begin; at < range.end;) {
    int64_t column;
    const int64_t row = split(at, args.dims[inner], args.divisors[inner], args.large, &column);
    const int64_t offset = row_offset(args, row);
    if constexpr (Grid<BLOCK>::size == 1) {
      const int64_t end = least(args.dims[inner], column + range.end - at);
      pad_row(args, offset, fill, y + (at - column), column, end);
      at += end - column;
    } else {
      int64_t position = column - args.before[inner];
      const bool outside = position < 0 || position >= args.extents[inner];
      const bool constant = args.mode == HIPEP_PAD_CONSTANT;
      if (outside && !constant) position = repeated(args.mode, position, args.extents[inner]);
      const bool filled = offset < 0 || (outside && constant);
      y[at] = filled ? fill : static_cast<const Unit*>(args.x)[offset + position * args.strides[inner]];
      at += range.step;
    }
  }
}

}  // namespace
}  // namespace hipep

HIPEP_KERNEL(pad_x1, hipep_pad_args, 256) { hipep::pad<uint8_t>(args, grid); }
HIPEP_KERNEL(pad_x2, hipep_pad_args, 256) { hipep::pad<uint16_t>(args, grid); }
HIPEP_KERNEL(pad_x4, hipep_pad_args, 256) { hipep::pad<uint32_t>(args, grid); }
HIPEP_KERNEL(pad_x8, hipep_pad_args, 256) { hipep::pad<uint64_t>(args, grid); }
HIPEP_KERNEL(pad_x16, hipep_pad_args, 256) { hipep::pad<hipep::Pack<uint32_t, 4>>(args, grid); }
