#include "device/arithmetic.h"
#include "device/convert.h"
#include "device/device.h"
#include "device/index.h"
#include "hipep/elementwise.h"

namespace hipep {
namespace {

template <class X, class Y, class F, int BLOCK>
HIPEP_DEVICE void cast(const hipep_map_args& args, const Grid<BLOCK>& grid) {
  map_elements<F>(grid, static_cast<const X*>(args.x), static_cast<Y*>(args.y), args.count, args.wide != 0);
}

}  // namespace
}  // namespace hipep

#define CAST(from, to, X, Y, ...) \
  HIPEP_KERNEL(cast_##from##_##to, hipep_map_args, 256) { hipep::cast<X, Y, hipep::__VA_ARGS__>(args, grid); }

// Truncation takes the low bits of either sign, extension depends on the sign of the source only.
#define RESIZE(from, to, X, Y) CAST(from, to, X, Y, Resize<X, Y>)
RESIZE(u16, u8, uint16_t, uint8_t)
RESIZE(u32, u8, uint32_t, uint8_t)
RESIZE(u32, u16, uint32_t, uint16_t)
RESIZE(u64, u8, uint64_t, uint8_t)
RESIZE(u64, u16, uint64_t, uint16_t)
RESIZE(u64, u32, uint64_t, uint32_t)
RESIZE(i8, u16, int8_t, uint16_t)
RESIZE(i8, u32, int8_t, uint32_t)
RESIZE(i8, u64, int8_t, uint64_t)
RESIZE(u8, u16, uint8_t, uint16_t)
RESIZE(u8, u32, uint8_t, uint32_t)
RESIZE(u8, u64, uint8_t, uint64_t)
RESIZE(i16, u32, int16_t, uint32_t)
RESIZE(i16, u64, int16_t, uint64_t)
RESIZE(u16, u32, uint16_t, uint32_t)
RESIZE(u16, u64, uint16_t, uint64_t)
RESIZE(i32, u64, int32_t, uint64_t)
RESIZE(u32, u64, uint32_t, uint64_t)

#define NON_ZERO(from, X) CAST(from, bool, X, uint8_t, NonZero<X>)
NON_ZERO(u8, uint8_t)
NON_ZERO(u16, uint16_t)
NON_ZERO(u32, uint32_t)
NON_ZERO(u64, uint64_t)
NON_ZERO(f16, hipep::half)
NON_ZERO(bf16, hipep::bfloat16)
NON_ZERO(f32, float)
NON_ZERO(f64, double)

#define TRUNCATE(from, X, V)                             \
  CAST(from, i8, X, int8_t, Truncate<X, int8_t, V>)      \
  CAST(from, i16, X, int16_t, Truncate<X, int16_t, V>)   \
  CAST(from, i32, X, int32_t, Truncate<X, int32_t, V>)   \
  CAST(from, i64, X, int64_t, Truncate<X, int64_t, V>)   \
  CAST(from, u8, X, uint8_t, Truncate<X, uint8_t, V>)    \
  CAST(from, u16, X, uint16_t, Truncate<X, uint16_t, V>) \
  CAST(from, u32, X, uint32_t, Truncate<X, uint32_t, V>) \
  CAST(from, u64, X, uint64_t, Truncate<X, uint64_t, V>)
TRUNCATE(f16, hipep::half, float)
TRUNCATE(bf16, hipep::bfloat16, float)
TRUNCATE(f32, float, float)
TRUNCATE(f64, double, double)

#define FROM_INTEGER(from, X)                                           \
  CAST(from, f16, X, hipep::half, FromInteger<X, hipep::half>)          \
  CAST(from, bf16, X, hipep::bfloat16, FromInteger<X, hipep::bfloat16>) \
  CAST(from, f32, X, float, FromInteger<X, float>)                      \
  CAST(from, f64, X, double, FromInteger<X, double>)
FROM_INTEGER(i8, int8_t)
FROM_INTEGER(i16, int16_t)
FROM_INTEGER(i32, int32_t)
FROM_INTEGER(i64, int64_t)
FROM_INTEGER(u8, uint8_t)
FROM_INTEGER(u16, uint16_t)
FROM_INTEGER(u32, uint32_t)
FROM_INTEGER(u64, uint64_t)

#define ROUND(from, to, X, Y) CAST(from, to, X, Y, Round<X, Y>)
ROUND(f16, bf16, hipep::half, hipep::bfloat16)
ROUND(f16, f32, hipep::half, float)
ROUND(f16, f64, hipep::half, double)
ROUND(bf16, f16, hipep::bfloat16, hipep::half)
ROUND(bf16, f32, hipep::bfloat16, float)
ROUND(bf16, f64, hipep::bfloat16, double)
ROUND(f32, f16, float, hipep::half)
ROUND(f32, bf16, float, hipep::bfloat16)
ROUND(f32, f64, float, double)
ROUND(f64, f16, double, hipep::half)
ROUND(f64, bf16, double, hipep::bfloat16)
ROUND(f64, f32, double, float)
