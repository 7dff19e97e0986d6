#include "device/exp_log.h"
#include "device/rows.h"
#include "hipep/normalization.h"

namespace hipep {
namespace {

// AFFINE: what of scale and shift belongs to an element; HIPEP_AFFINE_ELEMENT may have none.
template <class T, int AFFINE>
struct Normalize {
  using Work = typename Type<T>::Wrapping;
  using First = Sum<Work>;
  using State = RowState<Work>;
  struct Coefficients {
    Work mean, inverse;
  };
  const hipep_normalize_args& args;
  int64_t extent;

  HIPEP_DEVICE explicit Normalize(const hipep_normalize_args& a) : args(a), extent(a.rows.extent) {}

  HIPEP_DEVICE bool has_first() const { return AFFINE == HIPEP_AFFINE_CHANNEL || args.centered != 0; }
  HIPEP_DEVICE Work first(Work value) const { return value; }
  HIPEP_DEVICE Work close_first(Work sum, Work count) const { return sum / count; }
  HIPEP_DEVICE Work second(Work value, Work mean) const { return (value - mean) * (value - mean); }
  // The same bits whichever part comes first.
  HIPEP_DEVICE State merge(State a, State b) const {
    const Work count = a.count + b.count;
    const Work safe = count > 0 ? count : Work(1);
    const Work apart = a.first - b.first;
    return {(a.first * a.count + b.first * b.count) / safe,
            (a.second + b.second) + apart * apart * ((a.count * b.count) / safe), count};
  }
  HIPEP_DEVICE Coefficients close(State state) const {
    const Work variance = state.second / state.count;
    return {state.first, 1 / square_root(variance + static_cast<Work>(args.epsilon))};
  }
  HIPEP_DEVICE void finish(int64_t row, const Coefficients& c) const {
    if constexpr (AFFINE == HIPEP_AFFINE_CHANNEL) return;
    if (args.mean != nullptr) static_cast<Work*>(args.mean)[row] = c.mean;
    if (args.inverse != nullptr) static_cast<Work*>(args.inverse)[row] = c.inverse;
  }

  static HIPEP_DEVICE const T* at(const void* tensor, int64_t offset) { return static_cast<const T*>(tensor) + offset; }
  HIPEP_DEVICE const T* skipped(int64_t row, int64_t k) const {
    int64_t own = row;
    if (args.skip_rows < args.rows.count) split(row, args.skip_rows, args.skip_divisor, args.rows.large != 0, &own);
    return at(args.skip, own * extent + k);
  }
  HIPEP_DEVICE int64_t channel(int64_t row, int64_t k) const {
    int64_t group, rest;
    split(row, args.period, args.period_divisor, args.rows.large != 0, &group);
    if (args.run == extent) return group;
    return group * (extent / args.run) + split(k, args.run, args.run_divisor, extent > INT32_MAX, &rest);
  }

  template <int N>
  HIPEP_DEVICE void load(int64_t row, int64_t k, Work* to) const {
    load_pack<N>(at(args.x, row * extent + k), to);
    if constexpr (AFFINE == HIPEP_AFFINE_CHANNEL) return;
    if (args.skip != nullptr) {
      Work other[N];
      load_pack<N>(skipped(row, k), other);
      for (int j = 0; j < N; ++j) to[j] += other[j];
    }
    if (args.bias != nullptr) {
      Work other[N];
      load_pack<N>(at(args.bias, k), other);
      for (int j = 0; j < N; ++j) to[j] += other[j];
    }
  }
  template <int N>
  HIPEP_DEVICE void loaded(int64_t row, int64_t k, const Work* value) const {
    if constexpr (AFFINE == HIPEP_AFFINE_CHANNEL) return;
    if (args.sum != nullptr) store_pack<N>(static_cast<T*>(args.sum) + row * extent + k, value);
  }
  template <int N>
  HIPEP_DEVICE void store(int64_t row, int64_t k, const Work* from, const Coefficients& c) const {
    Work result[N];
    for (int j = 0; j < N; ++j) result[j] = (from[j] - c.mean) * c.inverse;
    if constexpr (AFFINE == HIPEP_AFFINE_CHANNEL) {
      const int64_t own = channel(row, k);  // of the whole pack
      const Work scale = static_cast<Work>(widen(*at(args.scale, own)));
      const Work shift = static_cast<Work>(widen(*at(args.shift, own)));
      for (int j = 0; j < N; ++j) result[j] = result[j] * scale + shift;
    } else if (args.scale != nullptr) {
      Work scale[N], shift[N] = {};
      load_pack<N>(at(args.scale, k), scale);
      if (args.shift != nullptr) load_pack<N>(at(args.shift, k), shift);
      for (int j = 0; j < N; ++j) result[j] = result[j] * scale[j] + shift[j];
    }
    store_pack<N>(static_cast<T*>(args.y) + row * extent + k, result);
  }

  static HIPEP_DEVICE void add_run(const T* __restrict__ from, int64_t count, Work* __restrict__ to) {
    for (int64_t j = 0; j < count; ++j) to[j] += static_cast<Work>(widen(from[j]));
  }
  HIPEP_DEVICE void load_run(int64_t row, int64_t k, int64_t count, Work* __restrict__ to) const {
    const T* __restrict__ from = at(args.x, row * extent + k);
    for (int64_t j = 0; j < count; ++j) to[j] = static_cast<Work>(widen(from[j]));
    if constexpr (AFFINE == HIPEP_AFFINE_CHANNEL) return;
    if (args.skip != nullptr) add_run(skipped(row, k), count, to);
    if (args.bias != nullptr) add_run(at(args.bias, k), count, to);
  }
  HIPEP_DEVICE void loaded_run(int64_t row, int64_t k, int64_t count, const Work* __restrict__ value) const {
    if (AFFINE == HIPEP_AFFINE_CHANNEL || args.sum == nullptr) return;
    T* __restrict__ sum = static_cast<T*>(args.sum) + row * extent + k;
    for (int64_t j = 0; j < count; ++j) sum[j] = narrow<T>(value[j]);
  }
  HIPEP_DEVICE void store_run(int64_t row, int64_t k, int64_t count, const Work* __restrict__ from,
                              const Coefficients& c) const {
    T* __restrict__ to = static_cast<T*>(args.y) + row * extent + k;
    const Work mean = c.mean, inverse = c.inverse;
    if constexpr (AFFINE == HIPEP_AFFINE_CHANNEL) {
      for (int64_t j = 0; j < count;) {
        const int64_t own = channel(row, k + j);
        const Work scale = static_cast<Work>(widen(*at(args.scale, own)));
        const Work shift = static_cast<Work>(widen(*at(args.shift, own)));
        const int64_t end = least(count, j + args.run - (k + j) % args.run);
        for (; j < end; ++j) to[j] = narrow<T>((from[j] - mean) * inverse * scale + shift);
      }
    } else if (args.scale == nullptr) {
      for (int64_t j = 0; j < count; ++j) to[j] = narrow<T>((from[j] - mean) * inverse);
    } else {
      const T* __restrict__ scale = at(args.scale, k);
      const bool shifted = args.shift != nullptr;
      const T* __restrict__ shift = shifted ? at(args.shift, k) : scale;
      for (int64_t j = 0; j < count; ++j) {
        const Work scaled = (from[j] - mean) * inverse * static_cast<Work>(widen(scale[j]));
        const Work moved = scaled + static_cast<Work>(widen(shift[j]));
        to[j] = narrow<T>(shifted ? moved : scaled);
      }
    }
  }
};

}  // namespace
}  // namespace hipep

#define NORMALIZE(name, suffix, T, AFFINE) \
  HIPEP_ROW_KERNELS(name, suffix, hipep_normalize_args, T, hipep::Normalize<T, AFFINE>)
#define NORMALIZE_FLOATS(name, AFFINE)           \
  NORMALIZE(name, f16, hipep::half, AFFINE)      \
  NORMALIZE(name, bf16, hipep::bfloat16, AFFINE) \
  NORMALIZE(name, f32, float, AFFINE)            \
  NORMALIZE(name, f64, double, AFFINE)

NORMALIZE_FLOATS(normalize, HIPEP_AFFINE_ELEMENT)
NORMALIZE_FLOATS(normalize_channels, HIPEP_AFFINE_CHANNEL)
