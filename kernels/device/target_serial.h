// Serial host target: one thread is the block, one block is the grid; the runtime spreads units over threads by ranges.
#pragma once

#ifndef HIPEP_ISA
#error "HIPEP_ISA names the instruction-set level of this compilation: v2, v3 or v4"
#endif

#define HIPEP_SERIAL 1
#define HIPEP_DEVICE inline __attribute__((always_inline))

namespace hipep {
namespace {

// Extent of a block-sized array or stride: N on a GPU, 1 here.
template <int N>
struct block {
  static constexpr int size = 1;
};

struct Range {
  int64_t begin, end;
  static constexpr int64_t step = 1;
};

template <int BLOCK>
struct Grid {
  static constexpr int size = 1;  // threads in the block
  int64_t begin, end;
  HIPEP_DEVICE int thread() const { return 0; }
  // The elements that this thread computes, one at a time.
  HIPEP_DEVICE Range elements(int64_t) const { return {begin, end}; }
  // The units (rows, tiles) that this block computes, all its threads together.
  HIPEP_DEVICE Range units(int64_t) const { return {begin, end}; }
};

HIPEP_DEVICE constexpr int warp_size() { return 1; }
HIPEP_DEVICE void block_sync() {}
HIPEP_DEVICE int leading_zeros(uint64_t bits) { return __builtin_clzll(bits); }
HIPEP_DEVICE int popcount(uint64_t bits) { return __builtin_popcountll(bits); }
HIPEP_DEVICE void device_fence() {}
template <class T>
HIPEP_DEVICE T shuffle(T value, int) {
  return value;
}
template <class T>
HIPEP_DEVICE T shuffle_down(T value, int) {
  return value;
}
template <class T>
HIPEP_DEVICE T shuffle_up(T value, int) {
  return value;
}
template <class T>
HIPEP_DEVICE T shuffle_xor(T value, int) {
  return value;
}
HIPEP_DEVICE uint64_t ballot(bool predicate) { return predicate ? 1 : 0; }
// On memory of this block only (HIPEP_SHARED): returns the old value.
template <class T>
HIPEP_DEVICE T shared_atomic_add(T* at, T value) {
  T old = *at;
  *at = old + value;
  return old;
}
// On device memory, across blocks: returns the old value.
template <class T>
HIPEP_DEVICE T global_atomic_add(T* at, T value) {
  return __atomic_fetch_add(at, value, __ATOMIC_RELAXED);
}

struct SerialEntry {
  const char* name;
  void (*entry)(const void* args, int64_t begin, int64_t end);
};

}  // namespace
}  // namespace hipep

// An array that all threads of a block share.
#define HIPEP_SHARED(T, name, count) alignas(64) T name[count]

#define HIPEP_STRING_(x) #x
#define HIPEP_STRING(x) HIPEP_STRING_(x)
// A row of the table hipep_serial_<isa>: constant data in a section of its own, since a constructor here would run on
// machines without the instructions.
#define HIPEP_KERNEL(name, Args, BLOCK)                                                     \
  static HIPEP_DEVICE void name##_body(const Args& args, const hipep::Grid<BLOCK>& grid);   \
  static void name##_entry(const void* args, int64_t begin, int64_t end) {                  \
    name##_body(*static_cast<const Args*>(args), hipep::Grid<BLOCK>{begin, end});           \
  }                                                                                         \
  __attribute__((section("hipep_serial_" HIPEP_STRING(HIPEP_ISA)),                          \
                 used)) static const hipep::SerialEntry name##_row = {#name, name##_entry}; \
  static HIPEP_DEVICE void name##_body([[maybe_unused]] const Args& args,                   \
                                       [[maybe_unused]] const hipep::Grid<BLOCK>& grid)
