// Exponential, logarithm and square root. On the host the first two are branch-free polynomials within 2 units in the
// last place, so that loops vectorise: g++ calls the library for each element.
#pragma once

#include "device/device.h"

namespace hipep {
namespace {

#if defined(HIPEP_AMD) || defined(HIPEP_NVIDIA)

HIPEP_DEVICE float exponential(float x) { return expf(x); }
HIPEP_DEVICE double exponential(double x) { return exp(x); }
HIPEP_DEVICE float exponential_below(float x) { return expf(x); }
HIPEP_DEVICE double exponential_below(double x) { return exp(x); }
HIPEP_DEVICE float logarithm(float x) { return logf(x); }
HIPEP_DEVICE double logarithm(double x) { return log(x); }
HIPEP_DEVICE float square_root(float x) { return sqrtf(x); }
HIPEP_DEVICE double square_root(double x) { return sqrt(x); }

#else

HIPEP_DEVICE uint64_t bits_of(double value) {
  uint64_t bits;
  __builtin_memcpy(&bits, &value, 8);
  return bits;
}
HIPEP_DEVICE double double_of(uint64_t bits) {
  double value;
  __builtin_memcpy(&value, &bits, 8);
  return value;
}

// Adding it rounds to an integer, which the low bits of the sum then hold: no conversion of NaN to an integer.
constexpr float round_float = 12582912.0f;
constexpr double round_double = 6755399441055744.0;

// 2^n; n is an integer within the exponents of normal numbers.
HIPEP_DEVICE float power_of_two(float n) { return float_of((bits_of(n + round_float) + 127u) << 23); }
HIPEP_DEVICE double power_of_two(double n) { return double_of((bits_of(n + round_double) + 1023u) << 52); }

// x as n * ln(2) + rest, and the exponential of the rest.
struct FloatPower {
  float n, factor;
};
HIPEP_DEVICE FloatPower split_power(float x) {
  const float n = (x * 1.44269504088896341f + round_float) - round_float;
  const float r = (x - n * 0.693359375f) - n * -2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  return {n, (p * (r * r) + r) + 1.0f};
}

struct DoublePower {
  double n, factor;
};
HIPEP_DEVICE DoublePower split_power(double x) {
  const double n = (x * 1.44269504088896340736 + round_double) - round_double;
  const double r = (x - n * 6.93147180369123816490e-01) - n * 1.90821492927058770002e-10;
  constexpr double factors[] = {1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040,
                                1.0 / 720,       1.0 / 120,      1.0 / 24,      1.0 / 6,      0.5};
  double p = 1.0 / 6227020800.0;
  for (double factor : factors) p = p * r + factor;
  return {n, (p * (r * r) + r) + 1.0};
}

HIPEP_DEVICE float exponential(float x) {
  x = x > 88.8f ? 88.8f : x;
  x = x < -104.0f ? -104.0f : x;
  const FloatPower power = split_power(x);
  const float half_n = (power.n * 0.5f + round_float) - round_float;  // in two steps: 2^n may be subnormal
  return power.factor * power_of_two(half_n) * power_of_two(power.n - half_n);
}
HIPEP_DEVICE double exponential(double x) {
  x = x > 710.0 ? 710.0 : x;
  x = x < -746.0 ? -746.0 : x;
  const DoublePower power = split_power(x);
  const double half_n = (power.n * 0.5 + round_double) - round_double;
  return power.factor * power_of_two(half_n) * power_of_two(power.n - half_n);
}

// Of x <= 0; subnormal results may be 0.
HIPEP_DEVICE float exponential_below(float x) {
  const FloatPower power = split_power(x);
  const float result = power.factor * power_of_two(power.n);
  return x < -87.3f ? 0.0f : result;
}
HIPEP_DEVICE double exponential_below(double x) {
  const DoublePower power = split_power(x);
  const double result = power.factor * power_of_two(power.n);
  return x < -708.0 ? 0.0 : result;
}

HIPEP_DEVICE float logarithm(float x) {
  const bool subnormal = x < 1.17549435e-38f;
  const uint32_t bits = bits_of(subnormal ? x * 8388608.0f : x);
  // The significand between sqrt(1/2) and sqrt(2), less 1.
  const uint32_t shifted = bits - 0x3f3504f3u;
  const float e = static_cast<float>(static_cast<int32_t>(shifted) >> 23) - (subnormal ? 23.0f : 0.0f);
  const float m = float_of((shifted & 0x007fffffu) + 0x3f3504f3u) - 1.0f;
  float p = 7.0376836292e-2f;
  p = p * m - 1.1514610310e-1f;
  p = p * m + 1.1676998740e-1f;
  p = p * m - 1.2420140846e-1f;
  p = p * m + 1.4249322787e-1f;
  p = p * m - 1.6668057665e-1f;
  p = p * m + 2.0000714765e-1f;
  p = p * m - 2.4999993993e-1f;
  p = p * m + 3.3333331174e-1f;
  const float square = m * m;
  float result = p * (m * square) + e * -2.12194440e-4f;
  result = (m + (result - 0.5f * square)) + e * 0.693359375f;
  result = x == 0.0f ? float_of(0xff800000u) : result;
  result = x < 0.0f ? float_of(0x7fc00000u) : result;
  return x < float_of(0x7f800000u) ? result : x;  // infinity and NaN
}
HIPEP_DEVICE double logarithm(double x) { return __builtin_log(x); }
HIPEP_DEVICE float square_root(float x) { return __builtin_sqrtf(x); }
HIPEP_DEVICE double square_root(double x) { return __builtin_sqrt(x); }

#endif

}  // namespace
}  // namespace hipep
