#include "device/exp_log.h"
#include "device/reduce.h"

namespace hipep {
namespace {

// Exponentials relative to the greatest element.
struct Exponentials {
  double greatest, sum;
};
HIPEP_DEVICE Exponentials shuffle_xor(Exponentials value, int mask) {
  return {shuffle_xor(value.greatest, mask), shuffle_xor(value.sum, mask)};
}
HIPEP_DEVICE Exponentials shuffle_down(Exponentials value, int by) {
  return {shuffle_down(value.greatest, by), shuffle_down(value.sum, by)};
}
template <>
struct Word<Exponentials> {
  using type = Exponentials;
};
template <>
struct Type<Exponentials> : TypeOf<Exponentials, uint64_t, int64_t, true> {};

// E: the type in which exponentials are computed.
template <class E>
struct AddExponentials {
  HIPEP_DEVICE Exponentials operator()(Exponentials a, Exponentials b) const {
    const bool swap = b.greatest > a.greatest;
    const Exponentials high = swap ? b : a, low = swap ? a : b;
    const double factor = static_cast<double>(exponential_below(static_cast<E>(low.greatest - high.greatest)));
    const bool equal = low.greatest == high.greatest;  // at infinity the difference is NaN
    return {high.greatest, high.sum + (equal ? low.sum : low.sum * factor)};
  }
};

template <class X, class Y, class E>
struct LogSumExp {
  using In = X;
  using Out = Y;
  using Value = Exponentials;
  using Combine = AddExponentials<E>;
  static constexpr int unrolled = 1;
  static constexpr bool packed = false;
  static constexpr Exponentials initial = {-__builtin_huge_val(), 0.0};

  HIPEP_DEVICE explicit LogSumExp(const hipep_reduce_args&) {}
  HIPEP_DEVICE Value load(X x) const {
    if constexpr (sizeof(X) == sizeof(Exponentials)) {
      return x;
    } else {
      return {static_cast<double>(widen(x)), 1.0};
    }
  }
  HIPEP_DEVICE Y store(Value value) const {
    if constexpr (sizeof(Y) == sizeof(Exponentials)) {
      return value;
    } else {  // the logarithm of 0 is -infinity, and so is the greatest of nothing
      return narrow<Y>(value.greatest + logarithm(value.sum));
    }
  }
};

}  // namespace
}  // namespace hipep

#define LOG_SUM_EXP(name, X, Y, E) \
  HIPEP_KERNEL(reduce_##name, hipep_reduce_args, 256) { hipep::reduce<hipep::LogSumExp<X, Y, E>>(args, grid); }
#define PASSES(suffix, T, E)                                    \
  LOG_SUM_EXP(log_sum_exp_##suffix, T, T, E)                    \
  LOG_SUM_EXP(exponentials_##suffix, T, hipep::Exponentials, E) \
  LOG_SUM_EXP(log_exponentials_##suffix, hipep::Exponentials, T, E)

PASSES(f16, hipep::half, float)
PASSES(bf16, hipep::bfloat16, float)
PASSES(f32, float, float)
PASSES(f64, double, double)
LOG_SUM_EXP(exponentials, hipep::Exponentials, hipep::Exponentials, double)
