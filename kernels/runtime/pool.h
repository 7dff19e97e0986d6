// The caching pool in front of a driver's allocator: one for each device and kind of memory.
//
// Memory comes from the driver in segments and is cut into blocks. A released block goes into the bin of its size and
// keeps the serial of the work that may still use it; the next request of that size takes it from there. Only when no
// bin has a block are neighbours in the segments merged, and only then is the driver asked.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <mutex>
#include <vector>

#include "driver.h"

namespace hipep {

class Arena;
struct Segment;

struct Block {
  char* pointer;
  size_t bytes;
  Segment* segment;
  Block *before, *after;   // neighbours in the segment
  Block *previous, *next;  // in the bin while free
  Timeline* timeline;      // while free: the work that may still use it; NULL: none
  uint64_t serial;
  bool free;
};

struct Segment {
  char* pointer;
  size_t bytes;
  Arena* arena;
  Block* first;
  Segment* next;
};

// Blocks by address: open addressing, at most half full.
class BlockTable {
 public:
  Block* find(const void* pointer) const;
  void insert(Block* block);
  void erase(const void* pointer);

 private:
  size_t home(const void* pointer) const;
  void grow();
  Block** slots_ = nullptr;
  size_t mask_ = 0, count_ = 0;
};

// Segments of blocks within one range of sizes, so that small blocks do not break up large ones.
class Arena {
 public:
  static constexpr int kBins = 256;

  Block* take(size_t bytes, Timeline* timeline);
  void put(Block* block);
  void unlink(Block* block);
  // Whether a block of least <= bytes < below is free.
  bool has_block(size_t least, size_t below) const;

  Segment* segments = nullptr;
  size_t least_block = 0;  // no smaller rest is split off
  bool released = false;   // since neighbours were last merged

 private:
  Block* bins_[kBins] = {};
  uint64_t occupied_[kBins / 64] = {};
};

// Never destroyed: memory is still released after exit() has run the destructors of static objects.
class Pool {
 public:
  Pool(hipep_device* device, int32_t kind);

  hipep_status allocate(size_t bytes, Timeline* timeline, void** out);
  void release(void* pointer, Timeline* timeline);
  void trim();
  // The pool takes no more from the driver than the smallest of its limits.
  void add_limit(int64_t bytes);
  void remove_limit(int64_t bytes);
  void add_stats(hipep_pool_stats* stats);
  // Whether the pointer lies in memory of the pool.
  bool holds(const void* pointer);

 private:
  hipep_status take_slowly(Arena* arena, size_t bytes, Timeline* timeline, Block** out);
  hipep_status grow(Arena* arena, size_t bytes);
  void split(Arena* arena, Block* block, size_t bytes);
  void merge_neighbours(Arena* arena);
  size_t segment_bytes(const Arena& arena, size_t bytes) const;
  int64_t limit() const;
  hipep_status add_segment(Arena* arena, size_t size);
  void trim_locked();
  std::vector<Segment*>::iterator segment_after(const void* pointer);

  hipep_device* device_;
  int32_t kind_;
  std::mutex lock_;
  BlockTable table_;
  Arena small_, medium_, large_;
  std::vector<Segment*> by_address_;
  int64_t in_use_ = 0, peak_ = 0, total_ = 0;
  std::vector<int64_t> limits_;
};

}  // namespace hipep
