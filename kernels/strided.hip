#include "device/device.h"
#include "device/layout.h"
#include "hipep/strided.h"

namespace hipep {
namespace {

using Unit16 = Pack<uint32_t, 4>;

template <class Unit>
HIPEP_DEVICE void copy_row(const Unit* __restrict__ x, int64_t x_step, Unit* __restrict__ y, int64_t y_step,
                           int64_t length) {
  if (x_step == 1 && y_step == 1) {
    __builtin_memcpy(y, x, static_cast<size_t>(length) * sizeof(Unit));
  } else if (x_step == 0 && y_step == 1) {
    const Unit value = *x;
    for (int64_t i = 0; i < length; ++i) y[i] = value;
  } else {
    for (int64_t i = 0; i < length; ++i) y[i * y_step] = x[i * x_step];
  }
}

// Units that one thread stores at once.
template <class Unit>
struct pack {
  static constexpr int items = sizeof(Unit) == 1 ? 8 : wide<sizeof(Unit)>::items;
};

// Units whose places in y follow each other. A pack may run over the end of a row, but of one only.
template <class Unit>
HIPEP_DEVICE void copy_packs(const hipep_strided_args& args, Range packs) {
  constexpr int items = pack<Unit>::items;
  const int inner = args.layout.rank - 1;
  const int64_t row = args.layout.dims[inner], step = args.layout.strides[0][inner];
  const Unit* x = static_cast<const Unit*>(args.x);
  for (int64_t p = packs.begin; p < packs.end; p += packs.step) {
    int64_t column;
    const int64_t first = locate(args.layout, p * items, &column).at[0];
    const int64_t left = row - column;
    const int64_t second =
        items > 1 && left < items ? locate(args.layout, p * items + left).at[0] - left * step : first;
    Pack<Unit, items> units;
    for (int j = 0; j < items; ++j) units.item[j] = x[(j < left ? first : second) + j * step];
    static_cast<Pack<Unit, items>*>(args.y)[p] = units;
  }
}

template <class Unit, int BLOCK>
HIPEP_DEVICE void strided(const hipep_strided_args& args, const Grid<BLOCK>& grid) {
  const Unit* x = static_cast<const Unit*>(args.x);
  Unit* y = static_cast<Unit*>(args.y);
  const int64_t count = args.layout.count;
  if constexpr (Grid<BLOCK>::size == 1) {
    const Range range = grid.elements(count);
    for (LayoutWalk walk(args.layout, range.begin, range.end); !walk.done();) {
      const int64_t length = walk.length();
      copy_row(x + walk.offset(0), walk.step(0), y + walk.offset(1), walk.step(1), length);
      walk.advance(length);
    }
  } else {
    constexpr int items = pack<Unit>::items;
    const int64_t packs = args.packed ? count / items : 0;
    copy_packs<Unit>(args, grid.elements(packs));
    const int64_t done = packs * items;
    const Range rest = grid.elements(count - done);
    for (int64_t i = rest.begin; i < rest.end; i += rest.step) {
      const Offsets offsets = locate(args.layout, done + i);
      y[offsets.at[1]] = x[offsets.at[0]];
    }
  }
}

}  // namespace
}  // namespace hipep

HIPEP_KERNEL(strided_x1, hipep_strided_args, 256) { hipep::strided<uint8_t>(args, grid); }
HIPEP_KERNEL(strided_x2, hipep_strided_args, 256) { hipep::strided<uint16_t>(args, grid); }
HIPEP_KERNEL(strided_x4, hipep_strided_args, 256) { hipep::strided<uint32_t>(args, grid); }
HIPEP_KERNEL(strided_x8, hipep_strided_args, 256) { hipep::strided<uint64_t>(args, grid); }
HIPEP_KERNEL(strided_x16, hipep_strided_args, 256) { hipep::strided<hipep::Unit16>(args, grid); }
