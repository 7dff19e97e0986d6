#include "guarded.h"

#include <string.h>

#include <map>
#include <mutex>

#include "locks.h"
#include "os.h"

namespace hipep {

GuardedRange guarded_range;

namespace {

constexpr size_t kMostBytes = size_t{64} << 30;
constexpr size_t kLeastBytes = size_t{1} << 30;
constexpr size_t kGrain = 64 << 10;
constexpr int kPoison = 0xCD;  // shows reads of memory that nothing has written

struct Heap {
  std::mutex& lock = *new_lock(LockRank::kHeap);
  std::map<uintptr_t, size_t> free;  // ranges by address, no two of them adjacent
  size_t free_bytes = 0;
};
Heap& heap() {
  static auto* one = new Heap;
  return *one;
}

size_t round_up(size_t bytes) { return (bytes + kGrain - 1) & ~(kGrain - 1); }

}  // namespace

hipep_status guarded_open() {
  Heap& h = heap();
  std::lock_guard<std::mutex> hold(h.lock);
  if (guarded_range.bytes != 0) return HIPEP_OK;
  for (size_t bytes = kMostBytes; bytes >= kLeastBytes; bytes /= 2) {
    auto* pointer = static_cast<char*>(os::reserve(2 * bytes + kGrain));
    if (pointer == nullptr) continue;
    pointer = reinterpret_cast<char*>(round_up(reinterpret_cast<uintptr_t>(pointer)));
    if (!os::commit(pointer + bytes, bytes)) continue;
    guarded_range.begin = reinterpret_cast<uintptr_t>(pointer);
    guarded_range.bytes = bytes;
    h.free[guarded_range.begin] = bytes;
    h.free_bytes = bytes;
    return HIPEP_OK;
  }
  return hipep_fail(HIPEP_OUT_OF_MEMORY,
                    "guarded host memory needs 2 GiB of address space: raise the limit (ulimit -v) or use "
                    "host_memory=plain");
}

hipep_status guarded_allocate(size_t bytes, void** out) {
  const size_t wanted = round_up(bytes);
  Heap& h = heap();
  uintptr_t found = 0;
  {
    std::lock_guard<std::mutex> hold(h.lock);
    for (auto range = h.free.begin(); range != h.free.end(); ++range) {
      if (range->second < wanted) continue;
      const size_t left = range->second - wanted;
      found = range->first;
      h.free.erase(range);
      if (left > 0) h.free[found + wanted] = left;
      h.free_bytes -= wanted;
      break;
    }
  }
  if (found == 0) {
    return hipep_fail(HIPEP_OUT_OF_MEMORY, "no room for %zu bytes in guarded host memory: %lld of %zu are free", bytes,
                      static_cast<long long>(guarded_free_bytes()), static_cast<size_t>(guarded_range.bytes));
  }
  *out = reinterpret_cast<void*>(found);
  memset(guarded_map(*out), kPoison, wanted);
  return HIPEP_OK;
}

void guarded_free(void* pointer, size_t bytes) {
  size_t size = round_up(bytes);
  os::discard(guarded_map(pointer), size);
  Heap& h = heap();
  std::lock_guard<std::mutex> hold(h.lock);
  h.free_bytes += size;
  auto begin = reinterpret_cast<uintptr_t>(pointer);
  auto after = h.free.lower_bound(begin);
  if (after != h.free.end() && after->first == begin + size) {
    size += after->second;
    after = h.free.erase(after);
  }
  if (after != h.free.begin()) {
    auto before = std::prev(after);
    if (before->first + before->second == begin) {
      before->second += size;
      return;
    }
  }
  h.free[begin] = size;
}

int64_t guarded_free_bytes() {
  Heap& h = heap();
  std::lock_guard<std::mutex> hold(h.lock);
  return static_cast<int64_t>(h.free_bytes);
}

}  // namespace hipep
