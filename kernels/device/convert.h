// Conversions between element types, the same bits on every target.
#pragma once

#include "device/arithmetic.h"

namespace hipep {
namespace {

template <class T>
struct Limits {
  static constexpr int bits = sizeof(T) * 8;
  static constexpr bool is_signed = static_cast<T>(-1) < T(0);
  static constexpr T most = is_signed ? static_cast<T>((uint64_t(1) << (bits - 1)) - 1) : static_cast<T>(~uint64_t(0));
  static constexpr T least = is_signed ? static_cast<T>(-most - 1) : T(0);
  static constexpr int exponent = is_signed ? bits - 1 : bits;  // most is 2^exponent - 1
};

// Integer to wider or narrower integer.
template <class X, class Y>
struct Resize {
  static HIPEP_DEVICE Y apply(X x) { return static_cast<Y>(x); }
};

template <class X>
struct NonZero {
  static HIPEP_DEVICE uint8_t apply(X x) { return static_cast<uint8_t>(widen(x) != 0); }
};

// Float to integer, toward zero; the nearest end of the range outside of it, 0 for NaN.
template <class X, class Y, class V>
struct Truncate {
  static HIPEP_DEVICE Y apply(X x) {
    constexpr V end = static_cast<V>(uint64_t(1) << (Limits<Y>::exponent - 1)) * 2;
    constexpr V low = static_cast<V>(Limits<Y>::least);
    const V value = static_cast<V>(widen(x));
    const bool above = value >= end, below = value < low;
    const V safe = above | below | (value != value) ? V(0) : value;
    Y y;
    if constexpr (sizeof(Y) < 4) {
      y = static_cast<Y>(static_cast<int32_t>(safe));
    } else {
      y = static_cast<Y>(safe);
    }
    y = above ? Limits<Y>::most : y;
    return below ? Limits<Y>::least : y;
  }
};

// Integer to float, rounded once.
template <class X, class Y>
struct FromInteger {
  static HIPEP_DEVICE Y apply(X x) { return static_cast<Y>(x); }
};
template <class X>
struct FromInteger<X, half> {
  static HIPEP_DEVICE half apply(X x) {
    if constexpr (sizeof(X) >= 4) {  // 65536 is exact in float and rounds to infinity, as all beyond it
      x = x > X(65536) ? X(65536) : x;
      if constexpr (Limits<X>::is_signed) x = x < X(-65536) ? X(-65536) : x;
      return to_half(static_cast<float>(static_cast<int32_t>(x)));
    }
    return to_half(static_cast<float>(x));
  }
};
template <class X>
struct FromInteger<X, bfloat16> {
  static HIPEP_DEVICE bfloat16 apply(X x) {
    if constexpr (sizeof(X) == 4) {
      // From 2^24 on the low 8 bits only say whether the value is exact: fold them into the next bit.
      const X folded = static_cast<X>((x & ~X(0xff)) | ((x & X(0xff)) != 0 ? X(0x100) : X(0)));
      const bool small = static_cast<uint32_t>(x) + (Limits<X>::is_signed ? 1u << 24 : 0u) <=
                         (Limits<X>::is_signed ? 1u << 25 : 1u << 24);
      return to_bfloat16(static_cast<float>(small ? x : folded));
    } else if constexpr (sizeof(X) == 8) {
      const X folded = static_cast<X>((x & ~X(0x7ff)) | ((x & X(0x7ff)) != 0 ? X(0x800) : X(0)));
      const bool small = static_cast<uint64_t>(x) + (Limits<X>::is_signed ? uint64_t(1) << 53 : 0) <=
                         (Limits<X>::is_signed ? uint64_t(1) << 54 : uint64_t(1) << 53);
      return narrow<bfloat16>(static_cast<double>(small ? x : folded));
    } else {
      return to_bfloat16(static_cast<float>(x));
    }
  }
};

// Float to float.
template <class X, class Y>
struct Round {
  static HIPEP_DEVICE Y apply(X x) { return narrow<Y>(widen(x)); }
};

}  // namespace
}  // namespace hipep
