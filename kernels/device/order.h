// Ordering keys: signed integers of the element's size that compare as the elements do, NaN above all. With a mask of
// all ones the order is reversed (NaN stays on top): one kernel finds maxima and minima. Integer keys reduce in any
// order to the same result, so that compilers vectorise.
#pragma once

#include "device/convert.h"
#include "device/index.h"
#include "hipep/reduce.h"

namespace hipep {
namespace {

template <class T>
struct Infinity;
template <>
struct Infinity<half> {
  static constexpr uint16_t bits = 0x7c00;
};
template <>
struct Infinity<bfloat16> {
  static constexpr uint16_t bits = 0x7f80;
};
template <>
struct Infinity<float> {
  static constexpr uint32_t bits = 0x7f800000;
};
template <>
struct Infinity<double> {
  static constexpr uint64_t bits = 0x7ff0000000000000;
};

template <class T>
HIPEP_DEVICE typename Type<T>::Signed signed_bits(T value) {
  typename Type<T>::Signed bits;
  __builtin_memcpy(&bits, &value, sizeof bits);
  return bits;
}

// By masks: from a conditional g++ makes a branch in the loop around it, which then is not vectorised.
template <class T>
HIPEP_DEVICE typename Type<T>::Signed nan_on_top(typename Type<T>::Signed key, typename Type<T>::Signed magnitude) {
  using Key = typename Type<T>::Signed;
  const Key nan = static_cast<Key>(-static_cast<Key>(magnitude > static_cast<Key>(Infinity<T>::bits)));
  return static_cast<Key>((key & ~nan) | (nan & Limits<Key>::most));
}

// Total order, -0 below +0: the key gives the element back. For unsigned types the mask also carries the sign bit.
template <class T>
struct TotalOrder {
  using Key = typename Type<T>::Signed;
  static constexpr Key top = Limits<Key>::most;

  static HIPEP_DEVICE Key key(T value, Key mask) {
    const Key bits = signed_bits(value);
    if constexpr (Type<T>::is_float) {
      const Key ordered = static_cast<Key>((bits < 0 ? bits ^ top : bits) ^ mask);
      return nan_on_top<T>(ordered, static_cast<Key>(bits & top));
    } else {
      return static_cast<Key>(bits ^ mask);
    }
  }
  static HIPEP_DEVICE T element(Key key, Key mask) {
    Key bits = static_cast<Key>(key ^ mask);
    if constexpr (Type<T>::is_float) {
      bits = static_cast<Key>(bits < 0 ? bits ^ top : bits);
      bits = key == top ? static_cast<Key>(Infinity<T>::bits | (Infinity<T>::bits >> 1)) : bits;
    }
    T value;
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
  }
};

// The order of comparison: -0 equals +0.
template <class T>
struct ValueOrder {
  using Key = typename Type<T>::Signed;

  static HIPEP_DEVICE Key key(T value, Key mask) {
    if constexpr (Type<T>::is_float) {
      const Key bits = signed_bits(value);
      const Key magnitude = static_cast<Key>(bits & Limits<Key>::most);
      const Key ordered = static_cast<Key>(((bits < 0) != (mask < 0)) ? -magnitude : magnitude);
      return nan_on_top<T>(ordered, magnitude);
    } else {
      return TotalOrder<T>::key(value, mask);
    }
  }
};

// The type in which a key goes through shuffles.
template <class Key>
struct Word {
  using type = int32_t;
};
template <>
struct Word<int64_t> {
  using type = int64_t;
};
template <>
struct Word<uint32_t> {
  using type = uint32_t;
};
template <>
struct Word<uint64_t> {
  using type = uint64_t;
};
template <>
struct Word<double> {
  using type = double;
};

// The segment of x that one output reduces.
struct Segment {
  int64_t begin, end;  // positions along the extent
  int64_t base;        // element of x at position 0
};
HIPEP_DEVICE Segment find_segment(const hipep_reduce_args& args, int64_t output) {
  if (args.inner == 1 && args.splits == 1) return {0, args.extent, output * args.extent};
  int64_t column, split_index;
  const int64_t row = split(output, args.inner, args.inner_divisor, args.large != 0, &column);
  const int64_t outer = split(row, args.splits, args.splits_divisor, args.large != 0, &split_index);
  const int64_t begin = split_index * args.segment;
  return {begin, least(begin + args.segment, args.extent), outer * args.extent * args.inner + column};
}

}  // namespace
}  // namespace hipep
