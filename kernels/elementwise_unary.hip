#include "device/arithmetic.h"
#include "device/device.h"
#include "device/index.h"
#include "hipep/elementwise.h"

namespace hipep {
namespace {

template <class Op, class T>
struct Unary {
  static HIPEP_DEVICE T apply(T x) { return narrow<T>(Op::apply(widen(x))); }
};
// float16 and bfloat16 alike.
template <>
struct Unary<Neg, uint16_t> {
  static HIPEP_DEVICE uint16_t apply(uint16_t bits) { return static_cast<uint16_t>(bits ^ 0x8000u); }
};
template <>
struct Unary<Abs, uint16_t> {
  static HIPEP_DEVICE uint16_t apply(uint16_t bits) { return static_cast<uint16_t>(bits & 0x7fffu); }
};

template <class Op, class T, int BLOCK>
HIPEP_DEVICE void unary(const hipep_map_args& args, const Grid<BLOCK>& grid) {
  map_elements<Unary<Op, T>>(grid, static_cast<const T*>(args.x), static_cast<T*>(args.y), args.count, args.wide != 0);
}

}  // namespace
}  // namespace hipep

#define UNARY(name, Op, suffix, T) \
  HIPEP_KERNEL(name##_##suffix, hipep_map_args, 256) { hipep::unary<hipep::Op, T>(args, grid); }
#define UNARY_OF_WORDS(name, Op) \
  UNARY(name, Op, f32, float)    \
  UNARY(name, Op, f64, double)   \
  UNARY(name, Op, i8, int8_t)    \
  UNARY(name, Op, i16, int16_t)  \
  UNARY(name, Op, i32, int32_t)  \
  UNARY(name, Op, i64, int64_t)

UNARY(relu, Relu, f16, hipep::half)
UNARY(relu, Relu, bf16, hipep::bfloat16)
UNARY_OF_WORDS(relu, Relu)
UNARY(neg, Neg, sign16, uint16_t)
UNARY_OF_WORDS(neg, Neg)
UNARY(abs, Abs, sign16, uint16_t)
UNARY_OF_WORDS(abs, Abs)
