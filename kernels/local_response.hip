#include "device/arithmetic.h"
#include "device/exp_log.h"
#include "device/index.h"
#include "hipep/normalization.h"

namespace hipep {
namespace {

template <class T>
struct LocalResponse {
  using Work = typename Type<T>::Wrapping;
  const hipep_local_response_args& args;

  HIPEP_DEVICE T result(T x, Work squares) const {
    const Work base = static_cast<Work>(args.bias) + static_cast<Work>(args.factor) * squares;
    const Work power = exponential(-static_cast<Work>(args.beta) * logarithm(base));
    return narrow<T>(static_cast<Work>(widen(x)) * power);
  }
  // Elements of one channel, from the window around it.
  HIPEP_DEVICE void serial(Range range) const {
    constexpr int64_t most = 256;
    Work sum[most];
    for (int64_t i = range.begin; i < range.end;) {
      const int64_t at = i % args.run, own = i / args.run % args.channels;
      const int64_t count = least(least(most, args.run - at), range.end - i);
      const int64_t first = own < args.before ? own : args.before;
      const int64_t last = least(args.after, args.channels - 1 - own);
      const T* __restrict__ x = static_cast<const T*>(args.x) + i;
      T* __restrict__ y = static_cast<T*>(args.y) + i;
      for (int64_t j = 0; j < count; ++j) sum[j] = 0;
      for (int64_t c = -first; c <= last; ++c) {
        const T* __restrict__ other = x + c * args.run;
        for (int64_t j = 0; j < count; ++j) {
          const Work value = static_cast<Work>(widen(other[j]));
          sum[j] += value * value;
        }
      }
      for (int64_t j = 0; j < count; ++j) y[j] = result(x[j], sum[j]);
      i += count;
    }
  }
  HIPEP_DEVICE void element(int64_t i) const {
    int64_t at, own;
    const int64_t row = split(i, args.run, args.run_divisor, args.large != 0, &at);
    split(row, args.channels, args.channels_divisor, args.large != 0, &own);
    const T* x = static_cast<const T*>(args.x) + i;
    const int64_t first = own < args.before ? own : args.before;
    const int64_t last = least(args.after, args.channels - 1 - own);
    Work sum = 0;
    for (int64_t c = -first; c <= last; ++c) {
      const Work value = static_cast<Work>(widen(x[c * args.run]));
      sum += value * value;
    }
    static_cast<T*>(args.y)[i] = result(*x, sum);
  }
};

template <class T, int BLOCK>
HIPEP_DEVICE void local_response(const hipep_local_response_args& args, const Grid<BLOCK>& grid) {
  const LocalResponse<T> op{args};
  const Range range = grid.elements(args.count);
  if constexpr (Grid<BLOCK>::size == 1) {
    op.serial(range);
  } else {
    for (int64_t i = range.begin; i < range.end; i += range.step) op.element(i);
  }
}

}  // namespace
}  // namespace hipep

#define LOCAL_RESPONSE(suffix, T) \
  HIPEP_KERNEL(local_response_##suffix, hipep_local_response_args, 256) { hipep::local_response<T>(args, grid); }

LOCAL_RESPONSE(f16, hipep::half)
LOCAL_RESPONSE(bf16, hipep::bfloat16)
LOCAL_RESPONSE(f32, float)
LOCAL_RESPONSE(f64, double)
