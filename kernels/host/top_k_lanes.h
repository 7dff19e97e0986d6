// Host TopK: vectors of sort keys, and the two scans over a row that everything else is built on.
#pragma once
#if defined(__AVX512F__) || defined(__AVX2__)
#include <immintrin.h>
#endif
#include "device/device.h"
#include "device/top_k_args.h"

namespace hipep {
namespace {
namespace host {

constexpr int64_t kTile = 64;  // elements looked at in one go

template <int BYTES>
struct Integers;
template <>
struct Integers<1> {
  using Signed = int8_t;
  using Unsigned = uint8_t;
};
template <>
struct Integers<2> {
  using Signed = int16_t;
  using Unsigned = uint16_t;
};
template <>
struct Integers<4> {
  using Signed = int32_t;
  using Unsigned = uint32_t;
};
template <>
struct Integers<8> {
  using Signed = int64_t;
  using Unsigned = uint64_t;
};

// Signed keys compare in one instruction of every instruction set. Key may be wider than the element.
template <class Bits, class Key>
struct Keys {
  using Signed = typename Integers<sizeof(Bits)>::Signed;
  static constexpr Bits sign = Bits(Bits(1) << (8 * sizeof(Bits) - 1));
  static constexpr Bits most = Bits(sign - 1);

  Signed infinity;  // 0: integers
  Signed flip;
  Key best;                                                  // no element has a larger key
  static constexpr Key worst = -static_cast<Key>(most) - 1;  // nor a smaller one

  HIPEP_DEVICE explicit Keys(const SortOrder& order) {
    infinity = static_cast<Signed>(order.infinity);
    // Unlike sort_key, integers keep the sign bit of signed types and turn that of unsigned ones.
    flip = static_cast<Signed>(order.infinity != 0 ? order.flip : order.flip ^ sign);
    best = infinity != 0 && flip != 0 ? infinity - 1 : static_cast<Signed>(most);
  }

  HIPEP_DEVICE Signed of_float(Bits bits) const {
    const Signed magnitude = static_cast<Signed>(bits & most);
    Signed key = static_cast<Signed>(bits) < 0 ? static_cast<Signed>(-magnitude) : magnitude;
    key = magnitude > infinity ? static_cast<Signed>(most) : key;
    return static_cast<Signed>(key ^ flip);
  }
  HIPEP_DEVICE Signed of_integer(Bits bits) const { return static_cast<Signed>(static_cast<Signed>(bits) ^ flip); }

  HIPEP_DEVICE void map(const Bits* __restrict x, int64_t count, Key* __restrict out) const {
    if (infinity != 0) {
      for (int64_t i = 0; i < count; ++i) out[i] = of_float(x[i]);
    } else {
      for (int64_t i = 0; i < count; ++i) out[i] = of_integer(x[i]);
    }
  }
  // maxima[i] = the better of maxima[i] and the element x[i], by rough keys: they misplace NaN and order the zeros, and
  // become keys by settle().
  HIPEP_DEVICE void raise(const Bits* __restrict x, int64_t count, Key* __restrict maxima) const {
    const Signed magnitude = infinity != 0 ? static_cast<Signed>(most) : Signed(0);
    for (int64_t i = 0; i < count; ++i) {
      const Signed bits = static_cast<Signed>(x[i]);
      const Key rough = static_cast<Signed>(bits ^ (static_cast<Signed>(bits < 0 ? -1 : 0) & magnitude) ^ flip);
      maxima[i] = rough > maxima[i] ? rough : maxima[i];
    }
  }
  HIPEP_DEVICE void settle(Key* __restrict maxima, int64_t count) const {
    if (infinity == 0) return;
    for (int64_t i = 0; i < count; ++i) {
      const Signed rough = static_cast<Signed>(maxima[i] ^ flip);
      maxima[i] =
          of_float(static_cast<Bits>(rough ^ (static_cast<Signed>(rough < 0 ? -1 : 0) & static_cast<Signed>(most))));
    }
  }
};

// The bits of the elements whose key is above a threshold, as (bits ^ flip) > limit for integers, and for floats as two
// intervals of (bits + shift) <= limit, compared as signed integers: exact for NaN and for subnormals in any mode.
template <class Bits>
struct Window {
  using Signed = typename Integers<sizeof(Bits)>::Signed;
  bool floating;
  Bits shift[2] = {0, 0};
  Signed limit[2] = {0, 0};

  HIPEP_DEVICE void interval(int at, Bits first, Bits last) {
    constexpr Bits sign = Bits(Bits(1) << (8 * sizeof(Bits) - 1));
    shift[at] = static_cast<Bits>(sign - first);
    limit[at] = static_cast<Signed>(static_cast<Bits>(last - first + sign));
  }

  HIPEP_DEVICE void both(Bits first, Bits last) {
    interval(0, first, last);
    interval(1, first, last);
  }

  template <class Key>
  HIPEP_DEVICE Window(const Keys<Bits, Key>& keys, Key above) {
    constexpr Bits sign = Keys<Bits, Key>::sign, most = Keys<Bits, Key>::most;
    const Bits infinity = static_cast<Bits>(keys.infinity);
    floating = keys.infinity != 0;
    if (!floating) {
      shift[0] = static_cast<Bits>(keys.flip);
      limit[0] = static_cast<Signed>(above);
    } else if (keys.flip == 0) {
      const Bits nan = static_cast<Bits>((sign | infinity) + 1);  // the first with the sign bit
      if (above >= 0) {
        interval(0, static_cast<Bits>((above < keys.infinity ? static_cast<Bits>(above) : infinity) + 1), most);
        interval(1, nan, static_cast<Bits>(sign | most));
      } else {
        both(nan, static_cast<Bits>(most - static_cast<Bits>(above)));  // across zero
      }
    } else {
      const Key below = ~above;
      if (below > 0) {
        interval(0, 0, static_cast<Bits>((below <= keys.infinity ? static_cast<Bits>(below) : Bits(infinity + 1)) - 1));
        interval(1, sign, static_cast<Bits>(sign | infinity));
      } else {
        both(static_cast<Bits>(sign - static_cast<Bits>(below) + 1), static_cast<Bits>(sign | infinity));
      }
    }
  }
};

template <class Bits>
HIPEP_DEVICE bool any_in_tile(const Bits* __restrict x, const Window<Bits>& w) {
  using Signed = typename Integers<sizeof(Bits)>::Signed;
  Signed any = 0;
  if (w.floating) {
    for (int i = 0; i < kTile; ++i) {
      any |= static_cast<Signed>(static_cast<Bits>(x[i] + w.shift[0])) <= w.limit[0] ? Signed(-1) : Signed(0);
      any |= static_cast<Signed>(static_cast<Bits>(x[i] + w.shift[1])) <= w.limit[1] ? Signed(-1) : Signed(0);
    }
  } else {
    for (int i = 0; i < kTile; ++i) {
      any |= static_cast<Signed>(static_cast<Bits>(x[i] ^ w.shift[0])) > w.limit[0] ? Signed(-1) : Signed(0);
    }
  }
  return any != 0;
}

#ifdef __AVX512F__
// outside: the lanes that no element of the window has been in so far.
HIPEP_DEVICE bool any_in_tile(const uint32_t* x, const Window<uint32_t>& w) {
  const __m512i shift = _mm512_set1_epi32(static_cast<int>(w.shift[0])), limit = _mm512_set1_epi32(w.limit[0]);
  __mmask16 outside = 0xffff;
  if (w.floating) {
    const __m512i shift2 = _mm512_set1_epi32(static_cast<int>(w.shift[1])), limit2 = _mm512_set1_epi32(w.limit[1]);
    for (int i = 0; i < kTile; i += 16) {
      const __m512i v = _mm512_loadu_si512(x + i);
      outside = _mm512_mask_cmpgt_epi32_mask(outside, _mm512_add_epi32(v, shift), limit);
      outside = _mm512_mask_cmpgt_epi32_mask(outside, _mm512_add_epi32(v, shift2), limit2);
    }
  } else {
    for (int i = 0; i < kTile; i += 16) {
      const __m512i v = _mm512_xor_si512(_mm512_loadu_si512(x + i), shift);
      outside = _mm512_mask_cmple_epi32_mask(outside, v, limit);
    }
  }
  return outside != 0xffff;
}
HIPEP_DEVICE bool any_in_tile(const uint64_t* x, const Window<uint64_t>& w) {
  const __m512i shift = _mm512_set1_epi64(static_cast<int64_t>(w.shift[0])), limit = _mm512_set1_epi64(w.limit[0]);
  __mmask8 outside = 0xff;
  if (w.floating) {
    const __m512i shift2 = _mm512_set1_epi64(static_cast<int64_t>(w.shift[1])), limit2 = _mm512_set1_epi64(w.limit[1]);
    for (int i = 0; i < kTile; i += 8) {
      const __m512i v = _mm512_loadu_si512(x + i);
      outside = _mm512_mask_cmpgt_epi64_mask(outside, _mm512_add_epi64(v, shift), limit);
      outside = _mm512_mask_cmpgt_epi64_mask(outside, _mm512_add_epi64(v, shift2), limit2);
    }
  } else {
    for (int i = 0; i < kTile; i += 8) {
      const __m512i v = _mm512_xor_si512(_mm512_loadu_si512(x + i), shift);
      outside = _mm512_mask_cmple_epi64_mask(outside, v, limit);
    }
  }
  return outside != 0xff;
}
#endif

// The first of the tiles from begin on that holds an element of the window, or the last, partial tile.
template <class Bits>
HIPEP_DEVICE int64_t next_tile(const Bits* x, int64_t begin, int64_t end, const Window<Bits>& window) {
  while (begin + kTile <= end && !any_in_tile(x + begin, window)) begin += kTile;
  return begin;
}

// Appends the elements of a tile whose key is above the threshold; may write kTile elements past the last.
template <class Key, class Index>
HIPEP_DEVICE int64_t append(const Key* tile, int64_t count, Index first, Key above, Key* keys, Index* places) {
  int64_t kept = 0;
  for (int64_t i = 0; i < count; ++i) {
    const Key key = tile[i];
    keys[kept] = key;
    places[kept] = first + static_cast<Index>(i);
    kept += key > above ? 1 : 0;
  }
  return kept;
}

#ifdef __AVX512F__
// Compressed in a register and stored whole: compressing into memory is slow on some processors.
HIPEP_DEVICE int64_t append(const int32_t* tile, int64_t count, uint32_t first, int32_t above, int32_t* keys,
                            uint32_t* places) {
  const __m512i threshold = _mm512_set1_epi32(above);
  const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  int64_t kept = 0;
  for (int64_t i = 0; i < count; i += 16) {
    const __mmask16 inside = count - i >= 16 ? 0xffff : static_cast<__mmask16>((1u << (count - i)) - 1);
    const __m512i key = _mm512_loadu_si512(tile + i);
    const __mmask16 keep = _mm512_mask_cmpgt_epi32_mask(inside, key, threshold);
    const __m512i place =
        _mm512_add_epi32(_mm512_set1_epi32(static_cast<int>(first + static_cast<uint32_t>(i))), lanes);
    _mm512_storeu_si512(keys + kept, _mm512_maskz_compress_epi32(keep, key));
    _mm512_storeu_si512(places + kept, _mm512_maskz_compress_epi32(keep, place));
    kept += __builtin_popcount(keep);
  }
  return kept;
}
#endif

}  // namespace host
}  // namespace
}  // namespace hipep
