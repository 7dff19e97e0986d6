// Sort keys: unsigned integers whose order is TopK's. NaN is above everything, all NaNs tie, and so do the two zeros.
#pragma once
#include "device/top_k_args.h"

namespace hipep {
namespace {

template <class Bits>
struct sort_key_of {
  using type = uint32_t;
};
template <>
struct sort_key_of<uint64_t> {
  using type = uint64_t;
};

// The larger key is the better element; uses the lowest 8 * sizeof(Bits) bits.
template <class Bits>
HIPEP_DEVICE typename sort_key_of<Bits>::type sort_key(Bits stored, const SortOrder& order) {
  using Key = typename sort_key_of<Bits>::type;
  constexpr Key sign = Key(1) << (8 * sizeof(Bits) - 1);
  const Key bits = stored;
  Key key = bits;
  if (order.infinity != 0) {
    const Key magnitude = bits & (sign - 1);
    key = (bits & sign) != 0 ? sign - magnitude : sign + magnitude;  // both zeros become sign
    key = magnitude > static_cast<Key>(order.infinity) ? sign + (sign - 1) : key;
  }
  return key ^ static_cast<Key>(order.flip);
}

// The total order of a row's elements.
template <class Key, class Index>
HIPEP_DEVICE bool precedes(Key a, Index a_index, Key b, Index b_index) {
  return a > b || (a == b && a_index < b_index);
}

// A key and an index as one number: the larger is the better element, and no two elements of a row have the same. Zero
// is no element's.
template <class Key>
struct word_of {
  using type = uint64_t;
};
template <>
struct word_of<uint64_t> {
  using type = unsigned __int128;
};
// The lower part of a word is larger for a smaller index; it has index_bits bits, enough for the row's extent and for
// what blocks read beyond it.
template <class Word>
struct Packing {
  int index_bits;
  HIPEP_DEVICE int64_t index(Word word) const {
    const Word most = (Word(1) << index_bits) - 1;
    return static_cast<int64_t>(most - (word & most));
  }
};

}  // namespace
}  // namespace hipep
