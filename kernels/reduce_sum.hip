#include "device/exp_log.h"
#include "device/reduce.h"

namespace hipep {
namespace {

struct Itself {
  template <class V>
  static HIPEP_DEVICE V apply(V x) {
    return x;
  }
};
struct Square {
  template <class V>
  static HIPEP_DEVICE V apply(V x) {
    return x * x;
  }
};
struct Times {
  static constexpr int initial = 1;
  template <class V>
  HIPEP_DEVICE V operator()(V a, V b) const {
    return a * b;
  }
};
struct Added : Plus {
  static constexpr int initial = 0;
};

HIPEP_DEVICE double finished(const hipep_reduce_args& args, double value) {
  const double reduced = static_cast<double>(args.reduced);
  switch (args.finish) {
    case HIPEP_FINISH_MEAN: return value / reduced;
    case HIPEP_FINISH_ROOT: return square_root(value);
    case HIPEP_FINISH_LOGARITHM: return logarithm(value);
    case HIPEP_FINISH_DEVIATION: return square_root(value / reduced) + 1e-9;
    default: return value;
  }
}
HIPEP_DEVICE uint32_t finished(const hipep_reduce_args&, uint32_t value) { return value; }
HIPEP_DEVICE uint64_t finished(const hipep_reduce_args& args, uint64_t value) {
  if (args.finish == HIPEP_FINISH_NONE || args.reduced == 0) return value;
  if (args.finish == HIPEP_FINISH_UNSIGNED_MEAN) return value / static_cast<uint64_t>(args.reduced);
  return static_cast<uint64_t>(static_cast<int64_t>(value) / args.reduced);
}

// Map: of an element before it is combined.
template <class X, class Y, class V, class Map = Itself, class C = Added>
struct Total {
  using In = X;
  using Out = Y;
  using Value = V;
  using Combine = C;
  static constexpr int unrolled = 4;
  static constexpr bool packed = true;
  static constexpr Value initial = C::initial;
  const hipep_reduce_args& args;

  HIPEP_DEVICE explicit Total(const hipep_reduce_args& a) : args(a) {}
  HIPEP_DEVICE Value load(X x) const { return Map::apply(static_cast<Value>(widen(x))); }
  HIPEP_DEVICE Y store(Value value) const { return narrow<Y>(static_cast<Value>(finished(args, value))); }
};

// |x| of a signed integer, as an unsigned one.
template <class X, class V>
struct Magnitude {
  static HIPEP_DEVICE V apply(V x) { return static_cast<X>(x) < 0 ? V(0) - x : x; }
};

}  // namespace
}  // namespace hipep

#define TOTAL(name, ...) \
  HIPEP_KERNEL(reduce_##name, hipep_reduce_args, 256) { hipep::reduce<hipep::Total<__VA_ARGS__>>(args, grid); }
// Whole reductions of an operator, and its first passes.
#define FLOATS(op, ...)                                                \
  TOTAL(op##_f16_f16, hipep::half, hipep::half, __VA_ARGS__)           \
  TOTAL(op##_f16_f64, hipep::half, double, __VA_ARGS__)                \
  TOTAL(op##_bf16_bf16, hipep::bfloat16, hipep::bfloat16, __VA_ARGS__) \
  TOTAL(op##_bf16_f64, hipep::bfloat16, double, __VA_ARGS__)           \
  TOTAL(op##_f32_f32, float, float, __VA_ARGS__)                       \
  TOTAL(op##_f32_f64, float, double, __VA_ARGS__)                      \
  TOTAL(op##_f64_f64, double, double, __VA_ARGS__)
// Passes after the first.
#define LAST(op, ...)                                        \
  TOTAL(op##_f64_f16, double, hipep::half, __VA_ARGS__)      \
  TOTAL(op##_f64_bf16, double, hipep::bfloat16, __VA_ARGS__) \
  TOTAL(op##_f64_f32, double, float, __VA_ARGS__)

FLOATS(sum, double)
LAST(sum, double)
FLOATS(sum_abs, double, hipep::Abs)
FLOATS(sum_square, double, hipep::Square)
FLOATS(prod, double, hipep::Itself, hipep::Times)
LAST(prod, double, hipep::Itself, hipep::Times)

TOTAL(sum_u32, uint32_t, uint32_t, uint32_t)
TOTAL(sum_u64, uint64_t, uint64_t, uint64_t)
TOTAL(sum_abs_i32, uint32_t, uint32_t, uint32_t, hipep::Magnitude<int32_t, uint32_t>)
TOTAL(sum_abs_i64, uint64_t, uint64_t, uint64_t, hipep::Magnitude<int64_t, uint64_t>)
TOTAL(sum_square_u32, uint32_t, uint32_t, uint32_t, hipep::Square)
TOTAL(sum_square_u64, uint64_t, uint64_t, uint64_t, hipep::Square)
TOTAL(prod_u32, uint32_t, uint32_t, uint32_t, hipep::Itself, hipep::Times)
TOTAL(prod_u64, uint64_t, uint64_t, uint64_t, hipep::Itself, hipep::Times)
