// AMD and NVIDIA targets.
#pragma once

#if defined(__CUDACC__) && !defined(__HIP__)
#define HIPEP_NVIDIA 1
#else
#define HIPEP_AMD 1
#endif
#define HIPEP_DEVICE __device__ __forceinline__

namespace hipep {
namespace {

template <int N>
struct block {
  static constexpr int size = N;
};

struct Range {
  int64_t begin, end, step;
};

template <int BLOCK>
struct Grid {
  static constexpr int size = BLOCK;
  HIPEP_DEVICE int thread() const { return static_cast<int>(threadIdx.x); }
  HIPEP_DEVICE Range elements(int64_t count) const {
    return {static_cast<int64_t>(blockIdx.x) * BLOCK + threadIdx.x, count, static_cast<int64_t>(gridDim.x) * BLOCK};
  }
  HIPEP_DEVICE Range units(int64_t count) const { return {static_cast<int64_t>(blockIdx.x), count, gridDim.x}; }
};

#ifdef HIPEP_NVIDIA
HIPEP_DEVICE constexpr int warp_size() { return 32; }
template <class T>
HIPEP_DEVICE T shuffle(T value, int lane) {
  return __shfl_sync(0xffffffffu, value, lane);
}
template <class T>
HIPEP_DEVICE T shuffle_down(T value, int by) {
  return __shfl_down_sync(0xffffffffu, value, by);
}
template <class T>
HIPEP_DEVICE T shuffle_up(T value, int by) {
  return __shfl_up_sync(0xffffffffu, value, by);
}
template <class T>
HIPEP_DEVICE T shuffle_xor(T value, int mask) {
  return __shfl_xor_sync(0xffffffffu, value, mask);
}
HIPEP_DEVICE uint64_t ballot(bool predicate) { return __ballot_sync(0xffffffffu, predicate); }
#else
#if defined(__GFX9__)
HIPEP_DEVICE constexpr int warp_size() { return 64; }
#else
HIPEP_DEVICE constexpr int warp_size() { return 32; }
#endif
template <class T>
HIPEP_DEVICE T shuffle(T value, int lane) {
  return __shfl(value, lane);
}
template <class T>
HIPEP_DEVICE T shuffle_down(T value, int by) {
  return __shfl_down(value, by);
}
template <class T>
HIPEP_DEVICE T shuffle_up(T value, int by) {
  return __shfl_up(value, by);
}
template <class T>
HIPEP_DEVICE T shuffle_xor(T value, int mask) {
  return __shfl_xor(value, mask);
}
HIPEP_DEVICE uint64_t ballot(bool predicate) { return __ballot(predicate); }
#endif

// The shuffles above know types of up to 8 bytes.
using Wide = unsigned __int128;
HIPEP_DEVICE Wide join(uint64_t high, uint64_t low) { return static_cast<Wide>(high) << 64 | low; }
HIPEP_DEVICE uint64_t high_half(Wide value) { return static_cast<uint64_t>(value >> 64); }
HIPEP_DEVICE uint64_t low_half(Wide value) { return static_cast<uint64_t>(value); }
HIPEP_DEVICE Wide shuffle_xor(Wide value, int mask) {
  return join(shuffle_xor(high_half(value), mask), shuffle_xor(low_half(value), mask));
}

HIPEP_DEVICE int leading_zeros(uint64_t bits) { return __clzll(static_cast<long long>(bits)); }
HIPEP_DEVICE int popcount(uint64_t bits) { return __popcll(bits); }

HIPEP_DEVICE void block_sync() { __syncthreads(); }
HIPEP_DEVICE void device_fence() { __threadfence(); }
template <class T>
HIPEP_DEVICE T shared_atomic_add(T* at, T value) {
  return atomicAdd(at, value);
}
template <class T>
HIPEP_DEVICE T global_atomic_add(T* at, T value) {
  return atomicAdd(at, value);
}

}  // namespace
}  // namespace hipep

#define HIPEP_UNROLL _Pragma("unroll")
#define HIPEP_SHARED(T, name, count) __shared__ T name[count]

#define HIPEP_KERNEL(name, Args, BLOCK)                                                   \
  static HIPEP_DEVICE void name##_body(const Args& args, const hipep::Grid<BLOCK>& grid); \
  extern "C" __global__ void __launch_bounds__(BLOCK) name(const Args args) {             \
    name##_body(args, hipep::Grid<BLOCK>{});                                              \
  }                                                                                       \
  static HIPEP_DEVICE void name##_body([[maybe_unused]] const Args& args,                 \
                                       [[maybe_unused]] const hipep::Grid<BLOCK>& grid)
