// Kernels that are right, and kernels that are wrong on purpose, for tests/runtime/test_faithful.py.
#include "device/device.h"

namespace hipep {
namespace {

struct Case {
  const int64_t* input;
  int64_t* output;
  int64_t* counter;
  int64_t count;
};

HIPEP_DEVICE int64_t load(const Case& args, const Range& range) {
  return range.begin < args.count ? args.input[range.begin] : 0;
}

// Twice, so that a second call meets the shared array of the first.
template <int BLOCK>
HIPEP_DEVICE void reduce(const Case& args, const Grid<BLOCK>& grid) {
  const int64_t at = grid.elements(args.count).begin;
  const int64_t sum = block_reduce(grid, args.input[at], Plus());
  args.output[2 * at] = sum;
  args.output[2 * at + 1] = block_reduce(grid, args.input[at] - sum, Larger());
}

template <int BLOCK>
HIPEP_DEVICE void scan(const Case& args, const Grid<BLOCK>& grid) {
  const int64_t at = grid.elements(args.count).begin;
  int64_t total;
  args.output[2 * at] = block_scan(grid, args.input[at], &total);
  args.output[2 * at + 1] = total;
}

template <class T>
HIPEP_DEVICE T* static_array() {
  HIPEP_SHARED(T, values, 4);
  return values;
}

struct Wide {
  int64_t low, high;
};

}  // namespace
}  // namespace hipep

using hipep::Case;

#define BLOCK_CASES(BLOCK)                                                 \
  HIPEP_KERNEL(reduce_##BLOCK, Case, BLOCK) { hipep::reduce(args, grid); } \
  HIPEP_KERNEL(scan_##BLOCK, Case, BLOCK) { hipep::scan(args, grid); }
BLOCK_CASES(1)
BLOCK_CASES(7)
BLOCK_CASES(32)
BLOCK_CASES(33)
BLOCK_CASES(64)
BLOCK_CASES(96)
BLOCK_CASES(160)
BLOCK_CASES(256)
BLOCK_CASES(1000)
BLOCK_CASES(1024)

HIPEP_KERNEL(empty, Case, 256) {}

HIPEP_KERNEL(copy, Case, 256) {
  const hipep::Range range = grid.elements(args.count);
  for (int64_t i = range.begin; i < range.end; i += range.step) args.output[i] = args.input[i];
}

// Every thread waits count times.
HIPEP_KERNEL(barriers, Case, 256) {
  for (int64_t i = 0; i < args.count; ++i) hipep::block_sync();
}

HIPEP_KERNEL(shuffles, Case, 100) {
  const int thread = grid.thread();
  int64_t* out = args.output + thread * 8;
  out[0] = hipep::shuffle(thread, 5);
  out[1] = hipep::shuffle(static_cast<int16_t>(thread), hipep::warp_size() + 3);
  out[2] = hipep::shuffle_down(static_cast<int64_t>(thread), 2);
  out[3] = hipep::shuffle_up(static_cast<double>(thread), 3);
  out[4] = hipep::shuffle_xor(static_cast<float>(thread), 1);
  const hipep::Wide wide = hipep::shuffle(hipep::Wide{thread, -thread}, 2);
  out[5] = wide.low;
  out[6] = wide.high;
  out[7] = static_cast<int64_t>(hipep::ballot(thread % 3 == 0));
}

// Each block adds its sum; the block that draws the last ticket publishes the total.
HIPEP_KERNEL(ticket, Case, 128) {
  HIPEP_SHARED(int, last, 1);
  const int64_t sum = hipep::block_reduce(grid, hipep::load(args, grid.elements(args.count)), hipep::Plus());
  if (grid.thread() == 0) {
    hipep::global_atomic_add(&args.counter[0], sum);
    hipep::device_fence();
    const hipep::Range units = grid.units(0);
    last[0] = hipep::global_atomic_add(&args.counter[1], int64_t{1}) == units.step - 1;
  }
  hipep::block_sync();
  if (last[0]) args.output[grid.thread()] = args.counter[0];
}

HIPEP_KERNEL(histogram, Case, 256) {
  HIPEP_SHARED(int64_t, bins, 8);
  if (grid.thread() < 8) bins[grid.thread()] = 0;
  hipep::block_sync();
  const hipep::Range range = grid.elements(args.count);
  for (int64_t i = range.begin; i < range.end; i += range.step) {
    hipep::shared_atomic_add(&bins[args.input[i] & 7], int64_t{1});
  }
  hipep::block_sync();
  if (grid.thread() < 8) hipep::global_atomic_add(&args.output[grid.thread()], bins[grid.thread()]);
}

HIPEP_KERNEL(shared_identity, Case, 64) {
  int64_t* first = hipep::static_array<int64_t>();
  int64_t* again = hipep::static_array<int64_t>();
  const void* other = hipep::static_array<uint64_t>();
  if (grid.thread() == 0) first[0] = 11;
  hipep::block_sync();
  args.output[3 * grid.thread()] = again[0];
  args.output[3 * grid.thread() + 1] = first == again;
  args.output[3 * grid.thread() + 2] = static_cast<const void*>(first) != other;
}

HIPEP_KERNEL(returned_threads, Case, 256) {
  HIPEP_SHARED(int64_t, values, 100);
  if (grid.thread() >= 100) return;
  values[grid.thread()] = args.input[grid.thread()];
  hipep::block_sync();
  args.output[grid.thread()] = values[99 - grid.thread()];
}

HIPEP_KERNEL(deep_stack, Case, 1024) {
  volatile int64_t frame[4000];
  for (int i = 0; i < 4000; ++i) frame[i] = i + grid.thread();
  hipep::block_sync();
  int64_t sum = 0;
  for (int i = 0; i < 4000; ++i) sum += frame[i];
  args.output[grid.thread()] = sum;
}

HIPEP_KERNEL(record_order, Case, 64) {
  const int64_t at = hipep::global_atomic_add(&args.counter[0], int64_t{1});
  args.output[at] = grid.elements(0).begin;
}

HIPEP_KERNEL(missing_barrier, Case, 256) {
  HIPEP_SHARED(int64_t, values, 256);
  values[grid.thread()] = args.input[grid.thread()];
  args.output[grid.thread()] = values[(grid.thread() + 1) % 256];
}

HIPEP_KERNEL(divergent_barrier, Case, 64) {
  if (grid.thread() < 16) hipep::block_sync();
  args.output[grid.thread()] = 1;
  hipep::block_sync();
}

HIPEP_KERNEL(divergent_warp, Case, 96) {
  int64_t value = grid.thread();
  if (grid.thread() % 32 < 16) value = hipep::shuffle_xor(value, 1);
  hipep::block_sync();
  args.output[grid.thread()] = value;
}

HIPEP_KERNEL(divergent_shuffles, Case, 64) {
  int64_t value = grid.thread();
  if (grid.thread() % 32 < 16) {
    value = hipep::shuffle_xor(value, 1);
  } else {
    value = hipep::shuffle_up(value, 1);
  }
  args.output[grid.thread()] = value;
}

HIPEP_KERNEL(returned_lane, Case, 32) {
  if (grid.thread() == 3) return;
  args.output[grid.thread()] = hipep::shuffle(int64_t{grid.thread()}, 3);
}

HIPEP_KERNEL(overrun, Case, 64) {
  HIPEP_SHARED(int32_t, victim, 10);
  HIPEP_SHARED(int32_t, neighbour, 10);
  neighbour[grid.thread() % 10] = 0;
  int32_t* at = victim;
  if (grid.thread() == 0) at[args.count] = 7;
}

HIPEP_KERNEL(uninitialised, Case, 32) {
  HIPEP_SHARED(int64_t, values, 32);
  args.output[grid.thread()] = values[grid.thread()];
  values[grid.thread()] = 0;
}

HIPEP_KERNEL(too_much_shared, Case, 32) {
  HIPEP_SHARED(char, first, 40000);
  HIPEP_SHARED(char, second, 30000);
  first[grid.thread()] = second[grid.thread()] = 0;
}
