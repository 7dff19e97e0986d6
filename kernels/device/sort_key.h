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

// An element in the total order of a row.
template <class Key>
struct Candidate {
  Key key;
  int64_t index;
};
template <class Key, class Index>
HIPEP_DEVICE bool precedes(Key a, Index a_index, Key b, Index b_index) {
  return a > b || (a == b && a_index < b_index);
}
template <class Key>
HIPEP_DEVICE Candidate<Key> shuffle_xor(Candidate<Key> value, int mask) {
  return {shuffle_xor(value.key, mask), shuffle_xor(value.index, mask)};
}
template <class Key>
HIPEP_DEVICE Candidate<Key> shuffle_down(Candidate<Key> value, int by) {
  return {shuffle_down(value.key, by), shuffle_down(value.index, by)};
}
struct Better {
  template <class Key>
  HIPEP_DEVICE Candidate<Key> operator()(Candidate<Key> a, Candidate<Key> b) const {
    return precedes(b.key, b.index, a.key, a.index) ? b : a;
  }
};

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
template <class Word>
struct Packing {
  int index_bits;  // of the row's extent
  HIPEP_DEVICE Word none_above() const { return (Word(1) << index_bits) - 1; }
  template <class Key>
  HIPEP_DEVICE Word pack(Key key, int64_t index) const {
    return (Word(key) << index_bits) | (none_above() - static_cast<Word>(index));
  }
  HIPEP_DEVICE int64_t index(Word word) const { return static_cast<int64_t>(none_above() - (word & none_above())); }
};

}  // namespace
}  // namespace hipep
