// Faithful host target: blocks of fibers, warps of HIPEP_FAITHFUL lanes, as a GPU would run them (runtime/fibers.h).
#pragma once
#include <type_traits>

#include "runtime/fibers.h"

#define HIPEP_DEVICE inline __attribute__((always_inline))

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
  int32_t thread_index;
  uint32_t block_index, block_count;
  HIPEP_DEVICE int thread() const { return thread_index; }
  HIPEP_DEVICE Range elements(int64_t count) const {
    return {static_cast<int64_t>(block_index) * BLOCK + thread_index, count, static_cast<int64_t>(block_count) * BLOCK};
  }
  HIPEP_DEVICE Range units(int64_t count) const { return {block_index, count, block_count}; }
};

HIPEP_DEVICE constexpr int warp_size() { return faithful::kWarp; }
HIPEP_DEVICE int own_lane() { return faithful::current->lane(); }
HIPEP_DEVICE int lane_or_own(int lane) { return lane >= 0 && lane < warp_size() ? lane : own_lane(); }

template <class T>
HIPEP_DEVICE T exchange(T value, int source, faithful::Site site) {
  static_assert(std::is_trivially_copyable<T>::value && sizeof(T) <= sizeof(faithful::Cell),
                "shuffles take trivially copyable types of at most 16 bytes");
  faithful::Cell cell = {0, 0};
  __builtin_memcpy(&cell, &value, sizeof(T));
  cell = faithful::exchange(cell, source, site);
  __builtin_memcpy(&value, &cell, sizeof(T));
  return value;
}

// The call's place in the source, filled in by the compiler, tells operations that meet from operations that diverge.
#define HIPEP_SITE const char *file = __builtin_FILE(), int line = __builtin_LINE()

HIPEP_DEVICE void block_sync(HIPEP_SITE) { faithful::block_sync({file, line, faithful::kBlockSync}); }
HIPEP_DEVICE int leading_zeros(uint64_t bits) { return __builtin_clzll(bits); }
HIPEP_DEVICE int popcount(uint64_t bits) { return __builtin_popcountll(bits); }
HIPEP_DEVICE void device_fence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
template <class T>
HIPEP_DEVICE T shuffle(T value, int lane, HIPEP_SITE) {
  return exchange(value, lane & (warp_size() - 1), {file, line, faithful::kShuffle});
}
template <class T>
HIPEP_DEVICE T shuffle_down(T value, int by, HIPEP_SITE) {
  return exchange(value, lane_or_own(own_lane() + by), {file, line, faithful::kShuffleDown});
}
template <class T>
HIPEP_DEVICE T shuffle_up(T value, int by, HIPEP_SITE) {
  return exchange(value, lane_or_own(own_lane() - by), {file, line, faithful::kShuffleUp});
}
template <class T>
HIPEP_DEVICE T shuffle_xor(T value, int mask, HIPEP_SITE) {
  return exchange(value, lane_or_own(own_lane() ^ mask), {file, line, faithful::kShuffleXor});
}
HIPEP_DEVICE uint64_t ballot(bool predicate, HIPEP_SITE) {
  return faithful::ballot(predicate, {file, line, faithful::kBallot});
}
#undef HIPEP_SITE

// The fibers of a block share one OS thread: no atomic instruction is needed.
template <class T>
HIPEP_DEVICE T shared_atomic_add(T* at, T value) {
  const T old = *at;
  *at = old + value;
  return old;
}
template <class T>
HIPEP_DEVICE T global_atomic_add(T* at, T value) {
  if constexpr (std::is_integral<T>::value) {
    return __atomic_fetch_add(at, value, __ATOMIC_RELAXED);
  } else {
    T old, sum;
    __atomic_load(at, &old, __ATOMIC_RELAXED);
    do {
      sum = old + value;
    } while (!__atomic_compare_exchange(at, &old, &sum, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return old;
  }
}

}  // namespace
}  // namespace hipep

// One object per declaration and template instantiation, as __shared__ is.
#define HIPEP_SHARED(T, name, count)                                                             \
  static_assert(alignof(T) <= hipep::faithful::kSharedAlignment, "alignment of a shared array"); \
  static hipep::faithful::SharedArray name##_declaration = {#name, sizeof(T) * (count)};         \
  T(&name)[count] = *reinterpret_cast<T(*)[count]>(hipep::faithful::shared_array(&name##_declaration))

#define HIPEP_KERNEL(name, Args, BLOCK)                                                                     \
  static HIPEP_DEVICE void name##_body(const Args& args, const hipep::Grid<BLOCK>& grid);                   \
  static void name##_entry(const void* args) {                                                              \
    static_assert(BLOCK >= 1 && BLOCK <= hipep::faithful::kMaxThreads, "threads in a block");               \
    static_assert(sizeof(Args) <= 1024, "a kernel's argument has at most 1 KiB");                           \
    hipep::faithful::Run* const run = hipep::faithful::current;                                             \
    while (run->start_thread()) {                                                                           \
      name##_body(*static_cast<const Args*>(args), hipep::Grid<BLOCK>{run->thread, run->block, run->grid}); \
      run->end_thread();                                                                                    \
    }                                                                                                       \
  }                                                                                                         \
  __attribute__((section("hipep_faithful"), used,                                                           \
                 aligned(alignof(hipep_faithful_entry)))) static const hipep_faithful_entry name##_row = {  \
      #name, name##_entry, BLOCK};                                                                          \
  static HIPEP_DEVICE void name##_body([[maybe_unused]] const Args& args,                                   \
                                       [[maybe_unused]] const hipep::Grid<BLOCK>& grid)
