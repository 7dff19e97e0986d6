// Host TopK: selection among candidates and their sort. Candidates are keys with places, places ascending.
#pragma once
#include "host/top_k_lanes.h"

namespace hipep {
namespace {
namespace host {

constexpr int64_t kRankLimit = 128;  // up to here a place is the number of candidates before it

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
#elif defined(__AVX2__)
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif
template <class Key>
struct Lanes {
  typedef Key type __attribute__((vector_size(kVectorBytes), aligned(sizeof(Key)), may_alias));
  static constexpr int64_t count = kVectorBytes / sizeof(Key);
};

// The k best are the keys above `key` and the first `equal` of those that equal it.
template <class Key>
struct Cut {
  Key key;
  int64_t equal;
};

// greater[i] = how many of the keys are above keys[i]; reads and writes whole pairs of vectors.
template <class Key>
HIPEP_DEVICE void count_greater(const Key* keys, int64_t count, Key* greater) {
  using V = typename Lanes<Key>::type;
  constexpr int64_t step = Lanes<Key>::count;
  for (int64_t i = 0; i < count; i += 2 * step) {
    const V first = *reinterpret_cast<const V*>(keys + i), second = *reinterpret_cast<const V*>(keys + i + step);
    V sum = {}, more = {};
    for (int64_t j = 0; j < count; ++j) {
      const V other = keys[j] - V{};
      sum -= other > first;
      more -= other > second;
    }
    *reinterpret_cast<V*>(greater + i) = sum;
    *reinterpret_cast<V*>(greater + i + step) = more;
  }
}

template <class Key>
HIPEP_DEVICE int64_t keep_between(Key* keys, int64_t count, Key low, Key high) {
  int64_t kept = 0;
  for (int64_t i = 0; i < count; ++i) {
    const Key key = keys[i];
    keys[kept] = key;
    kept += (key >= low) & (key <= high) ? 1 : 0;
  }
  return kept;
}
#ifdef __AVX512F__
HIPEP_DEVICE int64_t keep_between(int32_t* keys, int64_t count, int32_t low, int32_t high) {
  const __m512i from = _mm512_set1_epi32(low), to = _mm512_set1_epi32(high);
  int64_t kept = 0, i = 0;
  for (; i < count; i += 16) {
    const __mmask16 inside = count - i >= 16 ? 0xffff : static_cast<__mmask16>((1u << (count - i)) - 1);
    const __m512i key = _mm512_loadu_si512(keys + i);
    const __mmask16 keep = _mm512_mask_cmple_epi32_mask(_mm512_mask_cmpge_epi32_mask(inside, key, from), key, to);
    _mm512_storeu_si512(keys + kept, _mm512_maskz_compress_epi32(keep, key));
    kept += __builtin_popcount(keep);
  }
  return kept;
}
#endif

// Finds the k-th best key, 1 <= k <= count, and destroys keys. Each round divides the range of the keys by 256, so
// no order of the input is worse than another. keys and greater have two vectors of slack behind them.
template <class Key>
HIPEP_DEVICE Cut<Key> kth(Key* keys, int64_t count, int64_t k, Key* greater) {
  using Unsigned = typename Integers<sizeof(Key)>::Unsigned;
  if (k == 1) {
    Key best = keys[0];
    for (int64_t i = 0; i < count; ++i) best = keys[i] > best ? keys[i] : best;
    return {best, 1};
  }
  for (;;) {
    if (count <= kRankLimit) {
      count_greater(keys, count, greater);
      Key key = keys[0];
      int64_t above = -1;
      for (int64_t i = 0; i < count; ++i) {
        const bool take = greater[i] < k && greater[i] > above;
        above = take ? static_cast<int64_t>(greater[i]) : above;
        key = take ? keys[i] : key;
      }
      return {key, k - above};
    }
    Key low = keys[0], high = keys[0];
    for (int64_t i = 0; i < count; ++i) {
      low = keys[i] < low ? keys[i] : low;
      high = keys[i] > high ? keys[i] : high;
    }
    const Unsigned range = static_cast<Unsigned>(high) - static_cast<Unsigned>(low);
    if (range == 0) return {low, k};
    const int bits = 64 - __builtin_clzll(range);
    const int shift = bits > 8 ? bits - 8 : 0;
    uint32_t bins[4][256] = {};
    int64_t i = 0;
    for (; i + 4 <= count; i += 4) {
      for (int lane = 0; lane < 4; ++lane) {
        ++bins[lane][(static_cast<Unsigned>(keys[i + lane]) - static_cast<Unsigned>(low)) >> shift];
      }
    }
    for (; i < count; ++i) ++bins[0][(static_cast<Unsigned>(keys[i]) - static_cast<Unsigned>(low)) >> shift];
    for (int bin = 0; bin < 256; ++bin) bins[0][bin] += bins[1][bin] + bins[2][bin] + bins[3][bin];
    int bin = 255;
    while (bins[0][bin] < k) k -= bins[0][bin--];
    const Unsigned first = static_cast<Unsigned>(low) + (static_cast<Unsigned>(bin) << shift);
    if (shift == 0) return {static_cast<Key>(first), k};
    const Unsigned span = (Unsigned(1) << shift) - 1;
    const Unsigned room = static_cast<Unsigned>(high) - first;  // first + span may overflow
    count = keep_between(keys, count, static_cast<Key>(first), static_cast<Key>(first + (span < room ? span : room)));
  }
}

// Moves the candidates [begin, end) whose key is at least the given one to keys[kept...], in order.
template <class Key, class Index>
HIPEP_DEVICE int64_t keep_from(Key* keys, Index* places, int64_t begin, int64_t end, int64_t kept, Key least) {
  for (int64_t i = begin; i < end; ++i) {
    const Key key = keys[i];
    const Index place = places[i];
    keys[kept] = key;
    places[kept] = place;
    kept += key >= least ? 1 : 0;
  }
  return kept;
}
#ifdef __AVX512F__
HIPEP_DEVICE int64_t keep_from(int32_t* keys, uint32_t* places, int64_t begin, int64_t end, int64_t kept,
                               int32_t least) {
  const __m512i threshold = _mm512_set1_epi32(least);
  for (int64_t i = begin; i < end; i += 16) {
    const __mmask16 inside = end - i >= 16 ? 0xffff : static_cast<__mmask16>((1u << (end - i)) - 1);
    const __m512i key = _mm512_loadu_si512(keys + i), place = _mm512_loadu_si512(places + i);
    const __mmask16 keep = _mm512_mask_cmpge_epi32_mask(inside, key, threshold);
    // What lies behind the end is yet to be read.
    _mm512_mask_storeu_epi32(keys + kept, inside, _mm512_maskz_compress_epi32(keep, key));
    _mm512_mask_storeu_epi32(places + kept, inside, _mm512_maskz_compress_epi32(keep, place));
    kept += __builtin_popcount(keep);
  }
  return kept;
}
#endif

// Keeps the candidates of the cut, in order.
template <class Key, class Index>
HIPEP_DEVICE int64_t keep_best(Key* keys, Index* places, int64_t count, Cut<Key> cut) {
  constexpr int64_t step = 64;
  int64_t end = 0, equal = 0;  // the first cut.equal equal keys lie before end
  while (end + step <= count) {
    Key in_step = 0;
    for (int64_t i = 0; i < step; ++i) in_step += keys[end + i] == cut.key ? 1 : 0;
    if (equal + in_step > cut.equal) break;
    equal += in_step;
    end += step;
  }
  for (; end < count && equal < cut.equal; ++end) equal += keys[end] == cut.key ? 1 : 0;
  const int64_t kept = keep_from(keys, places, int64_t{0}, end, int64_t{0}, cut.key);
  if (end == count || cut.key == Key(~(Key(1) << (8 * sizeof(Key) - 1)))) return kept;
  return keep_from(keys, places, end, count, kept, Key(cut.key + 1));
}

template <class Key>
struct WordOf;
template <>
struct WordOf<int32_t> {
  using type = uint64_t;
};
template <>
struct WordOf<int64_t> {
  using type = unsigned __int128;
};

// Least-significant-digit radix sort, best first. Words are the distance from the best key and, in the lower half, the
// place. Stable, so equal keys stay in the order of their places; bytes that no distance needs cost nothing. Returns
// where the result lies.
template <class Key, class Index, class Word>
HIPEP_DEVICE const Word* radix_sort(const Key* keys, const Index* places, int64_t count, Word* from, Word* to) {
  using Unsigned = typename Integers<sizeof(Key)>::Unsigned;
  constexpr int half = 8 * sizeof(Key);
  Key low = keys[0], high = keys[0];
  for (int64_t i = 0; i < count; ++i) {
    low = keys[i] < low ? keys[i] : low;
    high = keys[i] > high ? keys[i] : high;
  }
  const Unsigned range = static_cast<Unsigned>(high) - static_cast<Unsigned>(low);
  const int digits = range == 0 ? 0 : (71 - __builtin_clzll(range)) / 8;
  Index bins[sizeof(Key)][256];
  __builtin_memset(bins, 0, static_cast<size_t>(digits) * sizeof bins[0]);
  for (int64_t i = 0; i < count; ++i) {
    const Unsigned distance = static_cast<Unsigned>(high) - static_cast<Unsigned>(keys[i]);
    from[i] = Word(distance) << half | Word(places[i]);
    for (int digit = 0; digit < digits; ++digit) ++bins[digit][(distance >> (8 * digit)) & 255];
  }
  for (int digit = 0; digit < digits; ++digit) {
    Index* const starts = bins[digit];
    Index sum = 0;
    for (int bin = 0; bin < 256; ++bin) {
      const Index in = starts[bin];
      starts[bin] = sum;
      sum += in;
    }
    const int shift = half + 8 * digit;
    for (int64_t i = 0; i < count; ++i) {
      const Word word = from[i];
      to[starts[static_cast<uint32_t>(word >> shift) & 255]++] = word;
    }
    Word* const swap = from;
    from = to;
    to = swap;
  }
  return from;
}

}  // namespace host
}  // namespace
}  // namespace hipep
