#include "device/columns.h"
#include "device/exp_log.h"
#include "device/rows.h"
#include "hipep/normalization.h"

namespace hipep {
namespace {

template <class T>
struct LpNormalize {
  using Work = typename Type<T>::Wrapping;
  using First = Sum<Work>;
  using State = RowState<Work>;
  struct Coefficients {
    Work norm, divisor;
  };
  const T* x;
  T* y;
  int64_t extent;
  bool squares;

  HIPEP_DEVICE explicit LpNormalize(const hipep_lp_args& args)
      : x(static_cast<const T*>(args.x)), y(static_cast<T*>(args.y)), extent(args.rows.extent), squares(args.p == 2) {}

  HIPEP_DEVICE bool has_first() const { return false; }
  HIPEP_DEVICE Work first(Work value) const { return value; }
  HIPEP_DEVICE Work close_first(Work value, Work) const { return value; }
  HIPEP_DEVICE Work second(Work value, Work) const { return squares ? value * value : Abs::apply(value); }
  HIPEP_DEVICE State merge(State a, State b) const { return {0, a.second + b.second, 0}; }
  HIPEP_DEVICE Coefficients close(State state) const {
    const Work norm = squares ? square_root(state.second) : state.second;
    return {norm, norm == 0 ? Work(1) : norm};
  }
  HIPEP_DEVICE void finish(int64_t, const Coefficients&) const {}
  static HIPEP_DEVICE T result(Work value, const Coefficients& c) {
    const Work quotient = value / c.divisor;
    return narrow<T>(c.norm == 0 ? Work(0) : quotient);
  }

  template <int N>
  HIPEP_DEVICE void load(int64_t row, int64_t k, Work* to) const {
    load_pack<N>(x + row * extent + k, to);
  }
  template <int N>
  HIPEP_DEVICE void loaded(int64_t, int64_t, const Work*) const {}
  HIPEP_DEVICE void loaded_run(int64_t, int64_t, int64_t, const Work*) const {}
  template <int N>
  HIPEP_DEVICE void store(int64_t row, int64_t k, const Work* from, const Coefficients& c) const {
    Pack<T, N> pack;
    for (int j = 0; j < N; ++j) pack.item[j] = result(from[j], c);
    *reinterpret_cast<Pack<T, N>*>(y + row * extent + k) = pack;
  }
  HIPEP_DEVICE void load_run(int64_t row, int64_t k, int64_t count, Work* __restrict__ to) const {
    const T* __restrict__ from = x + row * extent + k;
    for (int64_t j = 0; j < count; ++j) to[j] = static_cast<Work>(widen(from[j]));
  }
  HIPEP_DEVICE void store_run(int64_t row, int64_t k, int64_t count, const Work* __restrict__ from,
                              const Coefficients& coefficients) const {
    T* __restrict__ to = y + row * extent + k;
    const Coefficients c = coefficients;
    for (int64_t j = 0; j < count; ++j) to[j] = result(from[j], c);
  }
  HIPEP_DEVICE Work element(int64_t offset) const { return static_cast<Work>(widen(x[offset])); }
  HIPEP_DEVICE void put(int64_t offset, Work value, const Coefficients& c) const { y[offset] = result(value, c); }
};

}  // namespace
}  // namespace hipep

#define LP(suffix, T)                                                     \
  HIPEP_ROW_KERNELS(lp, suffix, hipep_lp_args, T, hipep::LpNormalize<T>)  \
  HIPEP_KERNEL(lp_columns_##suffix, hipep_lp_args, HIPEP_ROW_BLOCK) {     \
    hipep::rows_of_columns(hipep::LpNormalize<T>(args), args.rows, grid); \
  }

LP(f16, hipep::half)
LP(bf16, hipep::bfloat16)
LP(f32, float)
LP(f64, double)
