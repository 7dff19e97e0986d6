#include "device/device.h"
#include "device/index.h"
#include "hipep/movement.h"

namespace hipep {
namespace {

template <class Unit, int BLOCK>
HIPEP_DEVICE void copy_units(const hipep_copy_args& args, const Grid<BLOCK>& grid) {
  const int64_t units = args.bytes / static_cast<int64_t>(sizeof(Unit));
  const Range range = grid.elements(units);
  for (int64_t i = range.begin; i < range.end; i += range.step) {
    static_cast<Unit*>(args.y)[i] = static_cast<const Unit*>(args.x)[i];
  }
  const int64_t done = units * static_cast<int64_t>(sizeof(Unit));
  const Range rest = grid.elements(args.bytes - done);
  for (int64_t i = rest.begin; i < rest.end; i += rest.step) {
    static_cast<uint8_t*>(args.y)[done + i] = static_cast<const uint8_t*>(args.x)[done + i];
  }
}

template <int BLOCK>
HIPEP_DEVICE void copy(const hipep_copy_args& args, const Grid<BLOCK>& grid) {
  if constexpr (Grid<BLOCK>::size == 1) {
    const Range range = grid.elements(args.bytes);
    __builtin_memcpy(static_cast<uint8_t*>(args.y) + range.begin, static_cast<const uint8_t*>(args.x) + range.begin,
                     range.end - range.begin);
  } else {
    switch (args.width) {
      case 16: return copy_units<Pack<uint32_t, 4>>(args, grid);
      case 8: return copy_units<uint64_t>(args, grid);
      case 4: return copy_units<uint32_t>(args, grid);
      case 2: return copy_units<uint16_t>(args, grid);
      default: return copy_units<uint8_t>(args, grid);
    }
  }
}

}  // namespace
}  // namespace hipep

HIPEP_KERNEL(copy, hipep_copy_args, 256) { hipep::copy(args, grid); }

HIPEP_KERNEL(store, hipep_store_args, 64) {
  const hipep::Range range = grid.elements(args.bytes);
  uint8_t* y = static_cast<uint8_t*>(args.y);
  for (int64_t i = range.begin; i < range.end; i += range.step) y[i] = args.value[i];
}
