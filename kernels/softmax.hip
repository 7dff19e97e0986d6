#include "device/columns.h"
#include "device/exp_log.h"
#include "device/rows.h"
#include "hipep/softmax.h"

namespace hipep {
namespace {

template <class T>
struct Softmax {
  using Work = typename Type<T>::Wrapping;
  using First = Greatest<Work>;
  using State = RowState<Work>;
  struct Coefficients {
    Work greatest, factor;  // or the logarithm to subtract
  };
  static constexpr Work lowest = sizeof(Work) == 8 ? static_cast<Work>(-__DBL_MAX__) : static_cast<Work>(-__FLT_MAX__);
  const T* x;
  T* y;
  int64_t extent;
  bool logarithmic;

  HIPEP_DEVICE explicit Softmax(const hipep_softmax_args& args)
      : x(static_cast<const T*>(args.x)),
        y(static_cast<T*>(args.y)),
        extent(args.rows.extent),
        logarithmic(args.logarithm != 0) {}

  HIPEP_DEVICE bool has_first() const { return true; }
  HIPEP_DEVICE Work first(Work value) const { return value; }
  // Finite where there is nothing but -infinity, so that such a part adds 0 to a longer row.
  HIPEP_DEVICE Work close_first(Work value, Work) const { return value < lowest ? lowest : value; }
  // NaN where an element is NaN or +infinity.
  HIPEP_DEVICE Work second(Work& value, Work greatest) const {
    const Work own = exponential_below(value - greatest);
    value = logarithmic ? value : own;
    return own;
  }
  HIPEP_DEVICE State merge(State a, State b) const {
    const bool swap = b.first > a.first;
    const State high = swap ? b : a, low = swap ? a : b;
    return {high.first, high.second + low.second * exponential_below(low.first - high.first), 0};
  }
  HIPEP_DEVICE Coefficients close(State state) const {
    return {state.first, logarithmic ? logarithm(state.second) : 1 / state.second};
  }
  HIPEP_DEVICE Work finished(Work value, const Coefficients& c) const {
    return logarithmic ? (value - c.greatest) - c.factor : value * c.factor;
  }
  HIPEP_DEVICE void finish(int64_t, const Coefficients&) const {}

  template <int N>
  HIPEP_DEVICE void load(int64_t row, int64_t k, Work* to) const {
    load_pack<N>(x + row * extent + k, to);
  }
  template <int N>
  HIPEP_DEVICE void loaded(int64_t, int64_t, const Work*) const {}
  HIPEP_DEVICE void loaded_run(int64_t, int64_t, int64_t, const Work*) const {}
  template <int N>
  HIPEP_DEVICE void store(int64_t row, int64_t k, const Work* from, const Coefficients& c) const {
    Work result[N];
    for (int j = 0; j < N; ++j) result[j] = finished(from[j], c);
    store_pack<N>(y + row * extent + k, result);
  }
  HIPEP_DEVICE void load_run(int64_t row, int64_t k, int64_t count, Work* __restrict__ to) const {
    const T* __restrict__ from = x + row * extent + k;
    for (int64_t j = 0; j < count; ++j) to[j] = static_cast<Work>(widen(from[j]));
  }
  HIPEP_DEVICE void store_run(int64_t row, int64_t k, int64_t count, const Work* __restrict__ from,
                              const Coefficients& c) const {
    T* __restrict__ to = y + row * extent + k;
    const Work greatest = c.greatest, factor = c.factor;
    if (logarithmic) {
      for (int64_t j = 0; j < count; ++j) to[j] = narrow<T>((from[j] - greatest) - factor);
    } else {
      for (int64_t j = 0; j < count; ++j) to[j] = narrow<T>(from[j] * factor);
    }
  }
  HIPEP_DEVICE Work element(int64_t offset) const { return static_cast<Work>(widen(x[offset])); }
  HIPEP_DEVICE void put(int64_t offset, Work value, const Coefficients& c) const {
    y[offset] = narrow<T>(finished(value, c));
  }
};

template <class T, int BLOCK>
HIPEP_DEVICE void one_hot(const hipep_one_hot_args& args, const Grid<BLOCK>& grid) {
  const Range range = grid.elements(args.count);
  for (int64_t i = range.begin; i < range.end; i += range.step) {
    int64_t column, k;
    const int64_t row = split(i, args.inner, args.inner_divisor, args.large != 0, &column);
    const int64_t outer = split(row, args.extent, args.extent_divisor, args.large != 0, &k);
    static_cast<T*>(args.y)[i] = static_cast<T>(args.indices[outer * args.inner + column] == k ? args.one : 0);
  }
}

}  // namespace
}  // namespace hipep

#define SOFTMAX(suffix, T)                                                      \
  HIPEP_ROW_KERNELS(softmax, suffix, hipep_softmax_args, T, hipep::Softmax<T>)  \
  HIPEP_KERNEL(softmax_columns_##suffix, hipep_softmax_args, HIPEP_ROW_BLOCK) { \
    hipep::rows_of_columns(hipep::Softmax<T>(args), args.rows, grid);           \
  }

SOFTMAX(f16, hipep::half)
SOFTMAX(bf16, hipep::bfloat16)
SOFTMAX(f32, float)
SOFTMAX(f64, double)

HIPEP_KERNEL(one_hot_16, hipep_one_hot_args, 256) { hipep::one_hot<uint16_t>(args, grid); }
HIPEP_KERNEL(one_hot_32, hipep_one_hot_args, 256) { hipep::one_hot<uint32_t>(args, grid); }
HIPEP_KERNEL(one_hot_64, hipep_one_hot_args, 256) { hipep::one_hot<uint64_t>(args, grid); }
