#include "device/arithmetic.h"
#include "device/exp_log.h"
#include "device/index.h"
#include "hipep/normalization.h"

namespace hipep {
namespace {

// P: the type of the statistics.
template <class T, class P>
struct BatchNormalize {
  using Work = typename Type<T>::Wrapping;
  const hipep_batch_normalization_args& args;
  struct Channel {
    Work mean, factor, shift;
  };

  static HIPEP_DEVICE Work read(const void* of, int64_t channel) {
    return static_cast<Work>(widen(static_cast<const P*>(of)[channel]));
  }
  HIPEP_DEVICE Channel channel(int64_t c) const {
    const Work inverse = 1 / square_root(read(args.variance, c) + static_cast<Work>(args.epsilon));
    return {read(args.mean, c), inverse * read(args.scale, c), read(args.shift, c)};
  }
  static HIPEP_DEVICE T apply(T x, const Channel& c) {
    return narrow<T>((static_cast<Work>(widen(x)) - c.mean) * c.factor + c.shift);
  }
  HIPEP_DEVICE int64_t channel_of(int64_t element) const {
    int64_t at, own;
    const int64_t row = split(element, args.run, args.run_divisor, args.large != 0, &at);
    split(row, args.channels, args.channels_divisor, args.large != 0, &own);
    return own;
  }
  HIPEP_DEVICE void serial(Range range) const {
    const T* __restrict__ x = static_cast<const T*>(args.x);
    T* __restrict__ y = static_cast<T*>(args.y);
    for (int64_t i = range.begin; i < range.end;) {
      if (args.run == 1) {
        const int64_t first = i % args.channels;
        const int64_t count = least(args.channels - first, range.end - i);
        for (int64_t j = 0; j < count; ++j) y[i + j] = apply(x[i + j], channel(first + j));
        i += count;
      } else {
        const Channel own = channel(channel_of(i));
        const int64_t end = least(i + args.run - i % args.run, range.end);
        for (; i < end; ++i) y[i] = apply(x[i], own);
      }
    }
  }
  template <int N, int BLOCK>
  HIPEP_DEVICE void packs(const Grid<BLOCK>& grid) const {
    const Range range = grid.elements(args.count / N);
    for (int64_t p = range.begin; p < range.end; p += range.step) {
      const Channel own = channel(channel_of(p * N));
      Pack<T, N> pack = static_cast<const Pack<T, N>*>(args.x)[p];
      for (int j = 0; j < N; ++j) pack.item[j] = apply(pack.item[j], own);
      static_cast<Pack<T, N>*>(args.y)[p] = pack;
    }
  }
};

template <class T, class P, int BLOCK>
HIPEP_DEVICE void batch_normalize(const hipep_batch_normalization_args& args, const Grid<BLOCK>& grid) {
  const BatchNormalize<T, P> op{args};
  if constexpr (Grid<BLOCK>::size == 1) {
    op.serial(grid.elements(args.count));
  } else if (args.wide) {
    op.template packs<wide<sizeof(T)>::items>(grid);
  } else {
    op.template packs<1>(grid);
  }
}

}  // namespace
}  // namespace hipep

#define BATCH(suffix, T, P)                                                     \
  HIPEP_KERNEL(batch_normalize_##suffix, hipep_batch_normalization_args, 256) { \
    hipep::batch_normalize<T, P>(args, grid);                                   \
  }

BATCH(f16_f16, hipep::half, hipep::half)
BATCH(f16_f32, hipep::half, float)
BATCH(bf16_bf16, hipep::bfloat16, hipep::bfloat16)
BATCH(bf16_f32, hipep::bfloat16, float)
BATCH(f32_f32, float, float)
BATCH(f64_f64, double, double)
