// Operators and conversions by dtype. A value is loaded by widen(), computed, and stored by narrow<T>().
#pragma once

#include "device/device.h"

namespace hipep {
namespace {

template <class T>
HIPEP_DEVICE T widen(T value) {
  return value;
}
HIPEP_DEVICE float widen(half value) { return to_float(value); }
HIPEP_DEVICE float widen(bfloat16 value) { return to_float(value); }

template <class T>
struct Type {
  using Wrapping = T;  // arithmetic without overflow: unsigned, at least as wide as int
  using Bits = T;
  using Signed = T;
  static constexpr bool is_float = false;
};
template <class W, class B, class S, bool FLOAT>
struct TypeOf {
  using Wrapping = W;
  using Bits = B;
  using Signed = S;
  static constexpr bool is_float = FLOAT;
};
template <>
struct Type<half> : TypeOf<float, uint16_t, int16_t, true> {};
template <>
struct Type<bfloat16> : TypeOf<float, uint16_t, int16_t, true> {};
template <>
struct Type<float> : TypeOf<float, uint32_t, int32_t, true> {};
template <>
struct Type<double> : TypeOf<double, uint64_t, int64_t, true> {};
template <>
struct Type<int8_t> : TypeOf<uint32_t, uint8_t, int8_t, false> {};
template <>
struct Type<int16_t> : TypeOf<uint32_t, uint16_t, int16_t, false> {};
template <>
struct Type<int32_t> : TypeOf<uint32_t, uint32_t, int32_t, false> {};
template <>
struct Type<int64_t> : TypeOf<uint64_t, uint64_t, int64_t, false> {};
template <>
struct Type<uint8_t> : TypeOf<uint32_t, uint8_t, int8_t, false> {};
template <>
struct Type<uint16_t> : TypeOf<uint32_t, uint16_t, int16_t, false> {};
template <>
struct Type<uint32_t> : TypeOf<uint32_t, uint32_t, int32_t, false> {};
template <>
struct Type<uint64_t> : TypeOf<uint64_t, uint64_t, int64_t, false> {};

template <class T, class V>
struct Narrow {
  static HIPEP_DEVICE T from(V value) { return static_cast<T>(value); }
};
template <>
struct Narrow<half, float> {
  static HIPEP_DEVICE half from(float value) { return to_half(value); }
};
template <>
struct Narrow<bfloat16, float> {
  static HIPEP_DEVICE bfloat16 from(float value) { return to_bfloat16(value); }
};

// Rounded to float such that a second rounding to fewer bits gives what one rounding would: an inexact result has an
// odd last bit.
HIPEP_DEVICE float round_to_odd(double value) {
  const float nearest = static_cast<float>(value);
  const double back = static_cast<double>(nearest);
  const uint32_t bits = bits_of(nearest);
  const double distance = value < 0 ? back - value : value - back;  // > 0: the odd neighbour is farther from zero
  const uint32_t other = distance > 0 ? bits + 1 : bits - 1;
  const bool keep = back == value || (bits & 1u) != 0 || value != value;
  return keep ? nearest : float_of(other);
}
template <>
struct Narrow<half, double> {
  static HIPEP_DEVICE half from(double value) { return to_half(round_to_odd(value)); }
};
template <>
struct Narrow<bfloat16, double> {
  static HIPEP_DEVICE bfloat16 from(double value) { return to_bfloat16(round_to_odd(value)); }
};

template <class T, class V>
HIPEP_DEVICE T narrow(V value) {
  return Narrow<T, V>::from(value);
}

struct Add {
  template <class T>
  static HIPEP_DEVICE T apply(T a, T b) {
    using W = typename Type<T>::Wrapping;
    return static_cast<T>(static_cast<W>(a) + static_cast<W>(b));
  }
};
struct Sub {
  template <class T>
  static HIPEP_DEVICE T apply(T a, T b) {
    using W = typename Type<T>::Wrapping;
    return static_cast<T>(static_cast<W>(a) - static_cast<W>(b));
  }
};
struct Mul {
  template <class T>
  static HIPEP_DEVICE T apply(T a, T b) {
    using W = typename Type<T>::Wrapping;
    return static_cast<T>(static_cast<W>(a) * static_cast<W>(b));
  }
};
struct Div {
  template <class T>
  static HIPEP_DEVICE T apply(T a, T b) {
    if constexpr (Type<T>::is_float) {
      return a / b;
    } else {
      using W = typename Type<T>::Wrapping;
      const bool negate = static_cast<T>(-1) < T(0) && b == static_cast<T>(-1);  // the minimum by -1 traps
      const T safe = b == 0 || negate ? T(1) : b;
      const T quotient = static_cast<T>(a / safe);
      return b == 0 ? T(0) : negate ? static_cast<T>(W(0) - static_cast<W>(a)) : quotient;
    }
  }
};
struct Min {
  template <class T>
  static HIPEP_DEVICE T apply(T a, T b) {
    return (a < b) | (a != a) ? a : b;
  }
};
struct Max {
  template <class T>
  static HIPEP_DEVICE T apply(T a, T b) {
    return (a > b) | (a != a) ? a : b;
  }
};

struct Relu {
  template <class T>
  static HIPEP_DEVICE T apply(T x) {
    return (x > T(0)) | (x != x) ? x : T(0);
  }
};
struct Neg {
  template <class T>
  static HIPEP_DEVICE T apply(T x) {
    if constexpr (Type<T>::is_float) {
      return -x;
    } else {
      using W = typename Type<T>::Wrapping;
      return static_cast<T>(W(0) - static_cast<W>(x));
    }
  }
};
struct Abs {
  template <class T>
  static HIPEP_DEVICE T apply(T x) {
    if constexpr (!Type<T>::is_float) {
      return x < 0 ? Neg::apply(x) : x;
    } else if constexpr (sizeof(T) == 4) {
      return __builtin_fabsf(x);
    } else {
      return __builtin_fabs(x);
    }
  }
};

}  // namespace
}  // namespace hipep
