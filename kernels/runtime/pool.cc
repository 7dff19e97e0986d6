#include "pool.h"

#include <string.h>

#include <algorithm>

#include "locks.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>

#include "guarded.h"
#endif

namespace hipep {

namespace {

constexpr size_t kGrain = 256;
constexpr size_t kSmallMost = 128 << 10, kSmallSegment = 2 << 20;
constexpr size_t kMediumMost = 8 << 20, kMediumSegment = 32 << 20;
constexpr size_t kLargeGrain = 64 << 10;
constexpr int64_t kSlack = 64 << 20;

size_t round_up(size_t bytes, size_t grain) { return (bytes + grain - 1) & ~(grain - 1); }

// Four classes for each power of two: block sizes exceed requests by at most a quarter.
int class_below(size_t bytes) {
  const size_t grains = bytes / kGrain;
  if (grains < 4) return static_cast<int>(grains);
  const int log = 63 - __builtin_clzll(grains);
  return 4 * (log - 1) + static_cast<int>((grains >> (log - 2)) & 3);
}

size_t round_to_class(size_t bytes) {
  const size_t grains = (bytes + kGrain - 1) / kGrain;
  if (grains < 4) return grains * kGrain;
  const int log = 63 - __builtin_clzll(grains);
  return round_up(grains, size_t{1} << (log - 2)) * kGrain;
}

// Tells the address sanitizer that of the size bytes only so many may be touched.
void limit_access([[maybe_unused]] const hipep_device& device, [[maybe_unused]] const char* pointer,
                  [[maybe_unused]] size_t size, [[maybe_unused]] size_t bytes) {
#if defined(__SANITIZE_ADDRESS__)
  if (strcmp(device.info.backend, "host") != 0) return;
  char* mapped = static_cast<char*>(guarded_map(pointer));
  ASAN_UNPOISON_MEMORY_REGION(mapped, bytes);
  ASAN_POISON_MEMORY_REGION(mapped + bytes, size - bytes);
#endif
}

bool usable(const Block* block, const Timeline* timeline) {
  return block->timeline == nullptr || block->timeline == timeline || block->timeline->done(block->serial);
}

}  // namespace

size_t BlockTable::home(const void* pointer) const {
  return ((reinterpret_cast<uintptr_t>(pointer) / kGrain * 0x9E3779B97F4A7C15u) >> 20) & mask_;
}

Block* BlockTable::find(const void* pointer) const {
  if (slots_ == nullptr) return nullptr;
  size_t at = home(pointer);
  while (slots_[at] != nullptr && slots_[at]->pointer != pointer) at = (at + 1) & mask_;
  return slots_[at];
}

void BlockTable::grow() {
  Block** old = slots_;
  const size_t old_size = old == nullptr ? 0 : mask_ + 1;
  const size_t size = old == nullptr ? 1024 : 2 * old_size;
  slots_ = new Block*[size]();
  mask_ = size - 1;
  count_ = 0;
  for (size_t i = 0; i < old_size; ++i) {
    if (old[i] != nullptr) insert(old[i]);
  }
  delete[] old;
}

void BlockTable::insert(Block* block) {
  if (2 * (count_ + 1) > mask_ + 1) grow();
  size_t at = home(block->pointer);
  while (slots_[at] != nullptr) at = (at + 1) & mask_;
  slots_[at] = block;
  ++count_;
}

void BlockTable::erase(const void* pointer) {
  size_t hole = home(pointer);
  while (slots_[hole]->pointer != pointer) hole = (hole + 1) & mask_;
  --count_;
  // Move later members of the cluster up as long as that keeps them at or after their home.
  for (size_t at = (hole + 1) & mask_; slots_[at] != nullptr; at = (at + 1) & mask_) {
    const size_t distance = (at - home(slots_[at]->pointer)) & mask_;
    if (distance < ((at - hole) & mask_)) continue;
    slots_[hole] = slots_[at];
    hole = at;
  }
  slots_[hole] = nullptr;
}

void Arena::put(Block* block) {
  const int bin = class_below(block->bytes);
  block->free = true;
  block->previous = nullptr;
  block->next = bins_[bin];
  if (block->next != nullptr) block->next->previous = block;
  bins_[bin] = block;
  occupied_[bin / 64] |= uint64_t{1} << (bin % 64);
}

void Arena::unlink(Block* block) {
  block->free = false;
  if (block->next != nullptr) block->next->previous = block->previous;
  if (block->previous != nullptr) {
    block->previous->next = block->next;
    return;
  }
  const int bin = class_below(block->bytes);
  bins_[bin] = block->next;
  if (block->next == nullptr) occupied_[bin / 64] &= ~(uint64_t{1} << (bin % 64));
}

Block* Arena::take(size_t bytes, Timeline* timeline) {
  const int first = class_below(bytes);
  for (int word = first / 64; word < kBins / 64; ++word) {
    uint64_t set = occupied_[word];
    if (word == first / 64) set &= ~uint64_t{0} << (first % 64);
    for (; set != 0; set &= set - 1) {
      for (Block* block = bins_[64 * word + __builtin_ctzll(set)]; block != nullptr; block = block->next) {
        if (block->bytes < bytes || !usable(block, timeline)) continue;
        unlink(block);
        return block;
      }
    }
  }
  return nullptr;
}

bool Arena::has_block(size_t least, size_t below) const {
  for (int bin = class_below(least); bin <= class_below(below); ++bin) {
    for (const Block* block = bins_[bin]; block != nullptr; block = block->next) {
      if (block->bytes >= least && block->bytes < below) return true;
    }
  }
  return false;
}

Pool::Pool(hipep_device* device, int32_t kind) : device_(device), kind_(kind) {
  small_.least_block = kGrain;
  medium_.least_block = kSmallMost;
  large_.least_block = kMediumMost;
  hold_across_fork(LockRank::kPool, &lock_);
}

hipep_status Pool::allocate(size_t bytes, Timeline* timeline, void** out) {
  if (bytes > (size_t{1} << 48)) {
    return hipep_fail(HIPEP_OUT_OF_MEMORY, "an allocation of %zu bytes on %s:%d is more than any device has", bytes,
                      device_->info.backend, device_->info.ordinal);
  }
  const size_t requested = bytes;
  Arena* arena = bytes <= kSmallMost ? &small_ : bytes <= kMediumMost ? &medium_ : &large_;
  bytes = arena == &large_ ? round_up(bytes, kLargeGrain) : round_to_class(bytes == 0 ? 1 : bytes);
  std::lock_guard<std::mutex> hold(lock_);
  Block* block = arena->take(bytes, timeline);
  if (block == nullptr) {
    const hipep_status status = take_slowly(arena, bytes, timeline, &block);
    if (status != HIPEP_OK) return status;
  }
  if (block->bytes >= bytes + arena->least_block) split(arena, block, bytes);
  // Work that is still to run on the stream may use more of the block than this request does.
  limit_access(*device_, block->pointer, block->bytes, usable(block, nullptr) ? requested : block->bytes);
  in_use_ += static_cast<int64_t>(block->bytes);
  if (in_use_ > peak_) peak_ = in_use_;
  *out = block->pointer;
  return HIPEP_OK;
}

void Pool::release(void* pointer, Timeline* timeline) {
  std::lock_guard<std::mutex> hold(lock_);
  Block* block = table_.find(pointer);
  if (block == nullptr || block->free) return;
  block->serial = timeline == nullptr ? 0 : timeline->enqueued.load(std::memory_order_relaxed);
  block->timeline = timeline == nullptr || timeline->done(block->serial) ? nullptr : timeline;
  if (block->timeline == nullptr) limit_access(*device_, block->pointer, block->bytes, 0);
  in_use_ -= static_cast<int64_t>(block->bytes);
  Arena* arena = block->segment->arena;
  arena->released = true;
  arena->put(block);
}

hipep_status Pool::take_slowly(Arena* arena, size_t bytes, Timeline* timeline, Block** out) {
  poll_timelines();
  if (arena->released) merge_neighbours(arena);
  *out = arena->take(bytes, timeline);
  if (*out != nullptr) return HIPEP_OK;
  const hipep_status status = grow(arena, bytes);
  if (status == HIPEP_OK) *out = arena->take(bytes, timeline);
  return status;
}

// Adds a segment with room for so many bytes, within the limit.
hipep_status Pool::grow(Arena* arena, size_t bytes) {
  const auto needed = static_cast<int64_t>(bytes);
  auto size = static_cast<int64_t>(segment_bytes(*arena, bytes));
  // What shapes of the past have left is given back once the pool holds half as much again as was ever in use.
  const int64_t wanted = std::max(peak_, in_use_ + needed);
  if (total_ + size > std::min(limit(), wanted + wanted / 2 + kSlack)) trim_locked();
  const int64_t room = limit() - total_;
  if (needed > room) {
    return hipep_fail(HIPEP_OUT_OF_MEMORY,
                      "no room for %zu bytes on %s:%d: of the %lld bytes that memory_limit allows, %lld are taken and "
                      "%lld in use; raise memory_limit, close sessions or release values that are no longer needed",
                      bytes, device_->info.backend, device_->info.ordinal, static_cast<long long>(limit()),
                      static_cast<long long>(total_), static_cast<long long>(in_use_));
  }
  if (size > room) size = std::max(needed, room - room % static_cast<int64_t>(kGrain));
  const hipep_status status = add_segment(arena, size);
  if (status != HIPEP_OUT_OF_MEMORY) return status;
  trim_locked();
  return add_segment(arena, arena == &small_ ? size : needed);
}

void Pool::split(Arena* arena, Block* block, size_t bytes) {
  auto* rest = new Block(*block);
  rest->pointer += bytes;
  rest->bytes -= bytes;
  rest->before = block;
  if (rest->after != nullptr) rest->after->before = rest;
  block->after = rest;
  block->bytes = bytes;
  table_.insert(rest);
  arena->put(rest);
}

void Pool::merge_neighbours(Arena* arena) {
  arena->released = false;
  for (Segment* segment = arena->segments; segment != nullptr; segment = segment->next) {
    for (Block* block = segment->first; block->after != nullptr;) {
      Block* after = block->after;
      const bool same = block->timeline == after->timeline;
      if (!block->free || !after->free || !(same || usable(block, nullptr) || usable(after, nullptr))) {
        block = after;
        continue;
      }
      arena->unlink(block);
      arena->unlink(after);
      if (same ? after->serial > block->serial : !usable(after, nullptr)) {
        block->timeline = after->timeline;
        block->serial = after->serial;
      }
      block->bytes += after->bytes;
      block->after = after->after;
      if (block->after != nullptr) block->after->before = block;
      table_.erase(after->pointer);
      delete after;
      arena->put(block);
    }
  }
}

size_t Pool::segment_bytes(const Arena& arena, size_t bytes) const {
  if (&arena == &small_) return kSmallSegment;
  if (!limits_.empty()) return bytes;  // room for more would be taken from other sizes
  if (&arena == &medium_) {
    size_t size = kSmallSegment;
    while (size < 4 * bytes && size < kMediumSegment) size *= 2;
    return size;
  }
  // An idle block that is a little too small: a shape grows, and will again.
  return arena.has_block(bytes / 2, bytes) ? bytes + round_up(bytes / 2, kLargeGrain) : bytes;
}

hipep_status Pool::add_segment(Arena* arena, size_t size) {
  void* pointer = nullptr;
  thread_counters.device_allocations += 1;
  const hipep_status status = device_->allocate(size, kind_, &pointer);
  if (status != HIPEP_OK) return status;
  auto* block = new Block{};
  auto* segment = new Segment{static_cast<char*>(pointer), size, arena, block, arena->segments};
  block->pointer = segment->pointer;
  block->bytes = size;
  block->segment = segment;
  arena->segments = segment;
  by_address_.insert(segment_after(pointer), segment);
  total_ += static_cast<int64_t>(size);
  limit_access(*device_, segment->pointer, size, 0);
  table_.insert(block);
  arena->put(block);
  return HIPEP_OK;
}

void Pool::trim_locked() {
  poll_timelines();
  for (Arena* arena : {&small_, &medium_, &large_}) {
    merge_neighbours(arena);
    for (Segment** at = &arena->segments; *at != nullptr;) {
      Segment* segment = *at;
      Block* block = segment->first;
      if (!block->free || block->after != nullptr || !usable(block, nullptr)) {
        at = &segment->next;
        continue;
      }
      *at = segment->next;
      arena->unlink(block);
      table_.erase(block->pointer);
      by_address_.erase(segment_after(segment->pointer) - 1);
      limit_access(*device_, segment->pointer, segment->bytes, segment->bytes);
      device_->free(segment->pointer, segment->bytes, kind_);
      total_ -= static_cast<int64_t>(segment->bytes);
      delete block;
      delete segment;
    }
  }
}

void Pool::trim() {
  std::lock_guard<std::mutex> hold(lock_);
  trim_locked();
}

int64_t Pool::limit() const {
  const auto least = std::min_element(limits_.begin(), limits_.end());
  return least == limits_.end() ? INT64_MAX : *least;
}

void Pool::add_limit(int64_t bytes) {
  std::lock_guard<std::mutex> hold(lock_);
  limits_.push_back(bytes);
  if (total_ > limit()) trim_locked();
}

void Pool::remove_limit(int64_t bytes) {
  std::lock_guard<std::mutex> hold(lock_);
  const auto at = std::find(limits_.begin(), limits_.end(), bytes);
  if (at != limits_.end()) limits_.erase(at);
}

std::vector<Segment*>::iterator Pool::segment_after(const void* pointer) {
  return std::upper_bound(by_address_.begin(), by_address_.end(), pointer,
                          [](const void* wanted, const Segment* segment) { return wanted < segment->pointer; });
}

bool Pool::holds(const void* pointer) {
  std::lock_guard<std::mutex> hold(lock_);
  const auto after = segment_after(pointer);
  if (after == by_address_.begin()) return false;
  const Segment* segment = after[-1];
  return pointer < segment->pointer + segment->bytes;
}

void Pool::add_stats(hipep_pool_stats* stats) {
  std::lock_guard<std::mutex> hold(lock_);
  stats->in_use_bytes += in_use_;
  stats->cached_bytes += total_ - in_use_;
  stats->peak_bytes += peak_;
  if (!limits_.empty()) stats->limit_bytes = limit();
}

}  // namespace hipep

using namespace hipep;

int32_t hipep_device::kind_of(const void* pointer) const {
  for (const int32_t kind : {HIPEP_KIND_HOST_ACCESSIBLE, HIPEP_KIND_DEVICE}) {
    if (pools[kind]->holds(pointer)) return kind;
  }
  return -1;
}

hipep_status hipep_allocate(hipep_device* device, size_t bytes, int32_t kind, hipep_stream* stream, void** out) {
  if (kind != HIPEP_KIND_DEVICE && kind != HIPEP_KIND_HOST_ACCESSIBLE) {
    return hipep_fail(HIPEP_INVALID, "memory kind %d: expected %d (device) or %d (host accessible)", kind,
                      HIPEP_KIND_DEVICE, HIPEP_KIND_HOST_ACCESSIBLE);
  }
  return device->pools[kind]->allocate(bytes, stream == nullptr ? nullptr : stream->timeline, out);
}

void hipep_release(hipep_device* device, void* pointer, int32_t kind) {
  if (pointer == nullptr || kind < HIPEP_KIND_DEVICE || kind > HIPEP_KIND_HOST_ACCESSIBLE) return;
  device->pools[kind]->release(pointer, current_timeline);
}

void hipep_pool_trim(hipep_device* device) {
  for (Pool* pool : device->pools) pool->trim();
}

void hipep_pool_add_limit(hipep_device* device, int64_t bytes) { device->pools[HIPEP_KIND_DEVICE]->add_limit(bytes); }

void hipep_pool_remove_limit(hipep_device* device, int64_t bytes) {
  device->pools[HIPEP_KIND_DEVICE]->remove_limit(bytes);
}

void hipep_pool_get_stats(hipep_device* device, hipep_pool_stats* out) {
  *out = {};
  for (Pool* pool : device->pools) pool->add_stats(out);
}
