#include "device/device.h"
#include "device/index.h"
#include "hipep/movement.h"

namespace hipep {
namespace {

// The index at position i, counted from the start; -1 if it is out of range.
HIPEP_DEVICE int64_t gather_index(const hipep_gather_args& args, int64_t i) {
  int64_t index =
      args.wide_indices ? static_cast<const int64_t*>(args.indices)[i] : static_cast<const int32_t*>(args.indices)[i];
  index += index < 0 ? args.extent : 0;
  return index >= 0 && index < args.extent ? index : -1;
}

// Rows of one unit, on one thread.
template <class Unit>
HIPEP_DEVICE void gather_units(const hipep_gather_args& args, Range range) {
  int64_t i = range.begin % args.index_count;
  const Unit* data = static_cast<const Unit*>(args.data) + range.begin / args.index_count * args.extent;
  for (int64_t at = range.begin; at < range.end; ++at) {
    const int64_t index = gather_index(args, i);
    static_cast<Unit*>(args.y)[at] = index < 0 ? Unit{} : data[index];
    if (++i == args.index_count) {
      i = 0;
      data += args.extent;
    }
  }
}

template <class Unit, int BLOCK>
HIPEP_DEVICE void gather(const hipep_gather_args& args, const Grid<BLOCK>& grid) {
  const Unit* data = static_cast<const Unit*>(args.data);
  Unit* y = static_cast<Unit*>(args.y);
  const Range range = grid.elements(args.count);
  if (Grid<BLOCK>::size == 1 && args.inner == 1) return gather_units<Unit>(args, range);
  for (int64_t at = range.begin; at < range.end;) {
    int64_t column, i;
    const int64_t row = split(at, args.inner, args.inner_divisor, args.large, &column);
    const int64_t outer = split(row, args.index_count, args.index_divisor, args.large, &i);
    const int64_t index = gather_index(args, i);
    const Unit* from = data + (outer * args.extent + index) * args.inner + column;
    if constexpr (Grid<BLOCK>::size == 1) {
      const int64_t length = least(args.inner - column, range.end - at);
      if (index < 0) {
        __builtin_memset(y + at, 0, length * sizeof(Unit));
      } else {
        __builtin_memcpy(y + at, from, length * sizeof(Unit));
      }
      at += length;
    } else {
      y[at] = index < 0 ? Unit{} : *from;
      at += range.step;
    }
  }
}

}  // namespace
}  // namespace hipep

HIPEP_KERNEL(gather_x1, hipep_gather_args, 256) { hipep::gather<uint8_t>(args, grid); }
HIPEP_KERNEL(gather_x2, hipep_gather_args, 256) { hipep::gather<uint16_t>(args, grid); }
HIPEP_KERNEL(gather_x4, hipep_gather_args, 256) { hipep::gather<uint32_t>(args, grid); }
HIPEP_KERNEL(gather_x8, hipep_gather_args, 256) { hipep::gather<uint64_t>(args, grid); }
HIPEP_KERNEL(gather_x16, hipep_gather_args, 256) { hipep::gather<hipep::Pack<uint32_t, 4>>(args, grid); }
