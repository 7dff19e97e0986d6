// Index arithmetic of device code: packs of 16 bytes, division by invariants, broadcasting.
#pragma once

#include "device/device.h"
#include "hipep/geometry.h"

namespace hipep {
namespace {

template <class T, int N>
struct alignas(sizeof(T) * N) Pack {
  T item[N];
};

// Elements that one thread moves at once where the widest type has so many bytes.
template <int BYTES>
struct wide {
  static constexpr int items = 16 / BYTES;
};

HIPEP_DEVICE int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

HIPEP_DEVICE uint64_t high_product(uint64_t a, uint64_t b) {
#if defined(HIPEP_AMD) || defined(HIPEP_NVIDIA)
  return __umul64hi(a, b);
#else
  return static_cast<uint64_t>((static_cast<unsigned __int128>(a) * b) >> 64);
#endif
}

// Splits n into quotient and remainder of the division by extent; large: n may be 2^31 or more.
HIPEP_DEVICE int64_t split(int64_t n, int64_t extent, const hipep_divisor& by, bool large, int64_t* remainder) {
  const uint64_t n64 = static_cast<uint64_t>(n);
  const uint32_t n32 = static_cast<uint32_t>(n);
  const uint32_t high = static_cast<uint32_t>((static_cast<uint64_t>(n32) * by.multiplier32) >> 32);
  const int64_t quotient =
      static_cast<int64_t>(large ? (high_product(n64, by.multiplier64) + n64) >> by.shift : (high + n32) >> by.shift);
  *remainder = n - quotient * extent;
  return quotient;
}

// Where element `index` of the output lies in each of N operands.
template <int N>
HIPEP_DEVICE void locate(const hipep_broadcast& shape, int64_t index, int64_t (&offsets)[N]) {
  if (shape.rank == 0) {
    for (int k = 0; k < N; ++k) offsets[k] = index * shape.step[k];
    return;
  }
  int64_t at;
  int64_t rest = split(index, shape.inner, shape.inner_divisor, shape.large, &at);
  for (int k = 0; k < N; ++k) offsets[k] = at * shape.step[k];
  for (int axis = shape.rank - 1; axis >= 0; --axis) {
    rest = split(rest, shape.dims[axis], shape.divisors[axis], shape.large, &at);
    for (int k = 0; k < N; ++k) offsets[k] += at * shape.strides[k][axis];
  }
}

// Walks the rows of the elements [begin, end) in order: next() gives the length of the next piece of a row.
template <int N>
struct RowWalk {
  const hipep_broadcast& shape;
  int64_t index, end, column;
  int64_t at[HIPEP_OUTER_RANK];
  int64_t row[N];

  HIPEP_DEVICE RowWalk(const hipep_broadcast& s, int64_t begin, int64_t stop) : shape(s), index(begin), end(stop) {
    int64_t rest = begin / s.inner;
    column = begin - rest * s.inner;
    for (int k = 0; k < N; ++k) row[k] = 0;
    for (int axis = s.rank - 1; axis >= 0; --axis) {
      at[axis] = rest % s.dims[axis];
      rest /= s.dims[axis];
      for (int k = 0; k < N; ++k) row[k] += at[axis] * s.strides[k][axis];
    }
  }
  HIPEP_DEVICE bool done() const { return index >= end; }
  HIPEP_DEVICE int64_t length() const { return least(shape.inner - column, end - index); }
  HIPEP_DEVICE int64_t offset(int k) const { return row[k] + column * shape.step[k]; }
  HIPEP_DEVICE void advance(int64_t length) {
    index += length;
    column = 0;
    for (int axis = shape.rank - 1; axis >= 0; --axis) {
      for (int k = 0; k < N; ++k) row[k] += shape.strides[k][axis];
      if (++at[axis] < shape.dims[axis]) return;
      for (int k = 0; k < N; ++k) row[k] -= shape.strides[k][axis] * shape.dims[axis];
      at[axis] = 0;
    }
  }
};

// y[i] = f(x[i]); aligned: both pointers are aligned to 16 bytes.
template <class F, class X, class Y, int BLOCK>
HIPEP_DEVICE void map_elements(const Grid<BLOCK>& grid, const X* __restrict__ x, Y* __restrict__ y, int64_t count,
                               bool aligned) {
  int64_t done = 0;
  if constexpr (Grid<BLOCK>::size > 1) {
    constexpr int items = wide<(sizeof(X) > sizeof(Y) ? sizeof(X) : sizeof(Y))>::items;
    const int64_t packs = aligned ? count / items : 0;
    const Range range = grid.elements(packs);
    for (int64_t p = range.begin; p < range.end; p += range.step) {
      const Pack<X, items> from = reinterpret_cast<const Pack<X, items>*>(x)[p];
      Pack<Y, items> to;
      for (int j = 0; j < items; ++j) to.item[j] = F::apply(from.item[j]);
      reinterpret_cast<Pack<Y, items>*>(y)[p] = to;
    }
    done = packs * items;
  }
  const Range range = grid.elements(count - done);
  for (int64_t i = range.begin; i < range.end; i += range.step) y[done + i] = F::apply(x[done + i]);
}

}  // namespace
}  // namespace hipep
