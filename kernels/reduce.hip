#include "device/reduce.h"

namespace hipep {
namespace {

template <class T>
struct Extreme {
  using In = T;
  using Out = T;
  using Value = typename TotalOrder<T>::Key;
  using Combine = Larger;
  static constexpr int unrolled = 2;
  static constexpr bool packed = false;
  Value mask, initial;

  HIPEP_DEVICE explicit Extreme(const hipep_reduce_args& args)
      : mask(static_cast<Value>(args.mask)), initial(static_cast<Value>(args.initial)) {}
  HIPEP_DEVICE Value load(T x) const { return TotalOrder<T>::key(x, mask); }
  HIPEP_DEVICE T store(Value value) const { return TotalOrder<T>::element(value, mask); }
};

}  // namespace
}  // namespace hipep

#define EXTREME(suffix, T) \
  HIPEP_KERNEL(reduce_extreme_##suffix, hipep_reduce_args, 256) { hipep::reduce<hipep::Extreme<T>>(args, grid); }

EXTREME(f16, hipep::half)
EXTREME(bf16, hipep::bfloat16)
EXTREME(f32, float)
EXTREME(f64, double)
EXTREME(i8, int8_t)
EXTREME(i16, int16_t)
EXTREME(i32, int32_t)
EXTREME(i64, int64_t)
