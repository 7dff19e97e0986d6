#include "device/arithmetic.h"
#include "device/device.h"
#include "device/index.h"
#include "hipep/elementwise.h"

namespace hipep {
namespace {

template <class Op, class T>
HIPEP_DEVICE T combine(T a, T b) {
  return narrow<T>(Op::apply(widen(a), widen(b)));
}

template <class Op, class T>
HIPEP_DEVICE void combine_row(const T* __restrict__ a, int a_step, const T* __restrict__ b, int b_step,
                              T* __restrict__ y, int64_t length) {
  if (a_step == 0) {
    const T scalar = *a;
    for (int64_t i = 0; i < length; ++i) y[i] = combine<Op>(scalar, b[i]);
  } else if (b_step == 0) {
    const T scalar = *b;
    for (int64_t i = 0; i < length; ++i) y[i] = combine<Op>(a[i], scalar);
  } else {
    for (int64_t i = 0; i < length; ++i) y[i] = combine<Op>(a[i], b[i]);
  }
}

template <class T, int N>
HIPEP_DEVICE Pack<T, N> load_pack(const T* from, int step) {
  if (step != 0) return *reinterpret_cast<const Pack<T, N>*>(from);
  Pack<T, N> pack;
  const T value = *from;
  for (int j = 0; j < N; ++j) pack.item[j] = value;
  return pack;
}

template <class Op, int N, class T>
HIPEP_DEVICE void combine_packs(const hipep_binary_args& args, int64_t first, Range range) {
  for (int64_t p = range.begin; p < range.end; p += range.step) {
    const int64_t at = first + p * N;
    int64_t offsets[2];
    locate(args.shape, at, offsets);
    const Pack<T, N> a = load_pack<T, N>(static_cast<const T*>(args.a) + offsets[0], args.shape.step[0]);
    const Pack<T, N> b = load_pack<T, N>(static_cast<const T*>(args.b) + offsets[1], args.shape.step[1]);
    Pack<T, N> y;
    for (int j = 0; j < N; ++j) y.item[j] = combine<Op>(a.item[j], b.item[j]);
    *reinterpret_cast<Pack<T, N>*>(static_cast<T*>(args.y) + at) = y;
  }
}

template <class Op, class T, int BLOCK>
HIPEP_DEVICE void binary(const hipep_binary_args& args, const Grid<BLOCK>& grid) {
  if constexpr (Grid<BLOCK>::size == 1) {
    const Range range = grid.elements(args.shape.count);
    const T* a = static_cast<const T*>(args.a);
    const T* b = static_cast<const T*>(args.b);
    for (RowWalk<2> walk(args.shape, range.begin, range.end); !walk.done();) {
      const int64_t length = walk.length();
      combine_row<Op>(a + walk.offset(0), args.shape.step[0], b + walk.offset(1), args.shape.step[1],
                      static_cast<T*>(args.y) + walk.index, length);
      walk.advance(length);
    }
  } else {
    constexpr int items = wide<sizeof(T)>::items;
    const int64_t packs = args.wide ? args.shape.count / items : 0;
    combine_packs<Op, items, T>(args, 0, grid.elements(packs));
    combine_packs<Op, 1, T>(args, packs * items, grid.elements(args.shape.count - packs * items));
  }
}

}  // namespace
}  // namespace hipep

#define BINARY(name, Op, suffix, T) \
  HIPEP_KERNEL(name##_##suffix, hipep_binary_args, 256) { hipep::binary<hipep::Op, T>(args, grid); }
#define BINARY_OF_FLOATS(name, Op)        \
  BINARY(name, Op, f16, hipep::half)      \
  BINARY(name, Op, bf16, hipep::bfloat16) \
  BINARY(name, Op, f32, float)            \
  BINARY(name, Op, f64, double)
#define BINARY_OF_UNSIGNED(name, Op) \
  BINARY(name, Op, u8, uint8_t)      \
  BINARY(name, Op, u16, uint16_t)    \
  BINARY(name, Op, u32, uint32_t)    \
  BINARY(name, Op, u64, uint64_t)
#define BINARY_OF_SIGNED(name, Op) \
  BINARY(name, Op, i8, int8_t)     \
  BINARY(name, Op, i16, int16_t)   \
  BINARY(name, Op, i32, int32_t)   \
  BINARY(name, Op, i64, int64_t)

// Wrapping sums, differences and products of signed integers have the bits of the unsigned ones.
BINARY_OF_FLOATS(add, Add)
BINARY_OF_UNSIGNED(add, Add)
BINARY_OF_FLOATS(sub, Sub)
BINARY_OF_UNSIGNED(sub, Sub)
BINARY_OF_FLOATS(mul, Mul)
BINARY_OF_UNSIGNED(mul, Mul)
BINARY_OF_FLOATS(div, Div)
BINARY_OF_UNSIGNED(div, Div)
BINARY_OF_SIGNED(div, Div)
BINARY_OF_FLOATS(min, Min)
BINARY_OF_UNSIGNED(min, Min)
BINARY_OF_SIGNED(min, Min)
BINARY_OF_FLOATS(max, Max)
BINARY_OF_UNSIGNED(max, Max)
BINARY_OF_SIGNED(max, Max)
