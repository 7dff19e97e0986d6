// TopK along an inner axis for small k: every lane of a vector is a row of its own and keeps its k best, sorted.
#include "host/top_k_sort.h"

namespace hipep {
namespace {
namespace host {

template <class Bits, class Key, int K>
struct Columns {
  using V = typename Lanes<Key>::type;
  static constexpr int64_t lanes = Lanes<Key>::count;
  static constexpr int64_t width = TopKHostArgs::tile_bytes / static_cast<int64_t>(sizeof(Key));
  static constexpr int64_t chunk = 8;  // elements of a row between two visits of the tile's state
  typedef Bits Stored __attribute__((vector_size(lanes * sizeof(Bits)), aligned(sizeof(Bits)), may_alias));
  using Signed = typename Integers<sizeof(Bits)>::Signed;
  typedef Signed Small __attribute__((vector_size(lanes * sizeof(Bits))));

  struct State {
    V keys[K], places[K];
  };

  HIPEP_DEVICE static V load(const Bits* x, int64_t count) {
    Stored bits = {};
    if (count >= lanes) {
      bits = *reinterpret_cast<const Stored*>(x);
    } else {
      __builtin_memcpy(&bits, x, static_cast<size_t>(count) * sizeof(Bits));
    }
    return __builtin_convertvector((Small)bits, V);
  }

  template <bool FLOAT>
  HIPEP_DEVICE static V key(V bits, const Keys<Bits, Key>& map) {
    if (!FLOAT) return bits ^ static_cast<Key>(map.flip);
    const V magnitude = bits & static_cast<Key>(map.most);
    V value = bits < 0 ? -magnitude : magnitude;
    value = magnitude > static_cast<Key>(map.infinity) ? V{} + static_cast<Key>(map.most) : value;
    return value ^ static_cast<Key>(map.flip);
  }

  HIPEP_DEVICE static V larger(V a, V b) { return a > b ? a : b; }
  HIPEP_DEVICE static V smaller(V a, V b) { return a > b ? b : a; }

  // Puts an element behind those that it does not beat.
  HIPEP_DEVICE static void insert(State* s, V key, Key index) {
    const V place = V{} + index;
    V above = key > s->keys[K - 1];
    for (int r = K - 1; r > 0; --r) {
      const V next_above = key > s->keys[r - 1];
      s->places[r] = above ? place : s->places[r];
      s->places[r] = next_above ? s->places[r - 1] : s->places[r];
      s->keys[r] = larger(s->keys[r], smaller(key, s->keys[r - 1]));
      above = next_above;
    }
    s->places[0] = above ? place : s->places[0];
    s->keys[0] = larger(s->keys[0], key);
  }

  // The same while only the first `index` places hold elements: an empty place is no key, as all keys occur.
  HIPEP_DEVICE static void fill(State* s, V key, Key index) {
    for (int r = K - 1; r >= 0; --r) {
      const V before = r > 0 ? s->keys[r - 1] : key, before_place = r > 0 ? s->places[r - 1] : V{};
      const V above = (key > s->keys[r]) | (r < index ? Key(0) : Key(-1));
      const V next_above = r > 0 ? (key > before) | (r - 1 < index ? Key(0) : Key(-1)) : V{};
      s->keys[r] = next_above ? before : above ? key : s->keys[r];
      s->places[r] = next_above ? before_place : above ? V{} + index : s->places[r];
    }
  }

  template <bool FLOAT>
  HIPEP_DEVICE static void scan(const TopKHostArgs& a, const Bits* x, int64_t count, State* states) {
    const Keys<Bits, Key> map(a.order);
    const int64_t vectors = (count + lanes - 1) / lanes;
    for (int64_t v = 0; v < vectors; ++v) {
      State s = {};
      for (int64_t i = 0; i < K && i < a.extent; ++i) {
        fill(&s, key<FLOAT>(load(x + i * a.inner + v * lanes, count - v * lanes), map), static_cast<Key>(i));
      }
      states[v] = s;
    }
    for (int64_t first = K; first < a.extent; first += chunk) {
      const int64_t last = first + chunk < a.extent ? first + chunk : a.extent;
      for (int64_t v = 0; v < vectors; ++v) {
        State s = states[v];
        for (int64_t i = first; i < last; ++i) {
          insert(&s, key<FLOAT>(load(x + i * a.inner + v * lanes, count - v * lanes), map), static_cast<Key>(i));
        }
        states[v] = s;
      }
    }
  }

  HIPEP_DEVICE static void tile(const TopKHostArgs& a, const Bits* x, int64_t output, int64_t count) {
    State states[width / lanes];
    if (a.order.infinity != 0) {
      scan<true>(a, x, count, states);
    } else {
      scan<false>(a, x, count, states);
    }
    for (int64_t r = 0; r < a.k; ++r) {
      for (int64_t c = 0; c < count; ++c) {
        const int64_t place = states[c / lanes].places[r][c % lanes], at = output + r * a.inner + c;
        if (a.values != nullptr) static_cast<Bits*>(a.values)[at] = x[place * a.inner + c];
        if (a.indices != nullptr) a.indices[at] = place;
      }
    }
  }
};

template <class Bits, class Key, int K, int BLOCK>
HIPEP_DEVICE void top_k_columns(const TopKHostArgs& a, const Grid<BLOCK>& grid) {
  constexpr int64_t width = Columns<Bits, Key, K>::width;
  const int64_t per_outer = (a.inner + width - 1) / width;
  const Range tiles = grid.units(a.tasks);
  for (int64_t t = tiles.begin; t < tiles.end; t += tiles.step) {
    const int64_t outer = t / per_outer, first = t % per_outer * width;
    const int64_t count = a.inner - first < width ? a.inner - first : width;
    const Bits* const x = static_cast<const Bits*>(a.x) + outer * a.extent * a.inner + first;
    Columns<Bits, Key, K>::tile(a, x, outer * a.k * a.inner + first, count);
  }
}

}  // namespace host
}  // namespace
}  // namespace hipep

#define HIPEP_TOP_K_COLUMNS(k)                                    \
  HIPEP_KERNEL(top_k_columns##k##_8, hipep::TopKHostArgs, 1) {    \
    hipep::host::top_k_columns<uint8_t, int32_t, k>(args, grid);  \
  }                                                               \
  HIPEP_KERNEL(top_k_columns##k##_16, hipep::TopKHostArgs, 1) {   \
    hipep::host::top_k_columns<uint16_t, int32_t, k>(args, grid); \
  }                                                               \
  HIPEP_KERNEL(top_k_columns##k##_32, hipep::TopKHostArgs, 1) {   \
    hipep::host::top_k_columns<uint32_t, int32_t, k>(args, grid); \
  }                                                               \
  HIPEP_KERNEL(top_k_columns##k##_64, hipep::TopKHostArgs, 1) {   \
    hipep::host::top_k_columns<uint64_t, int64_t, k>(args, grid); \
  }
HIPEP_TOP_K_COLUMNS(1)
HIPEP_TOP_K_COLUMNS(2)
HIPEP_TOP_K_COLUMNS(3)
HIPEP_TOP_K_COLUMNS(5)
HIPEP_TOP_K_COLUMNS(8)
