// The shared arrays of one block, each between guards. Used by fibers.cc alone.
#pragma once
#include <string.h>

#include "runtime/fiber_context.h"
#include "runtime/fibers.h"

namespace hipep {
namespace faithful {
namespace {

class SharedStorage {
 public:
  static constexpr int kMaxArrays = 64;
  static constexpr size_t kGuard = 64;
  static constexpr size_t kArena = kSharedBytes + kMaxArrays * (2 * kGuard + kSharedAlignment);
  static constexpr uint8_t kPoisonByte = 0xCB;

  void attach(void* arena) { arena_ = static_cast<uint8_t*>(arena); }
  void clear() {
    next_ = arena_;
    count_ = 0;
    bytes_ = 0;
  }
  // Of the arrays placed, and of one that place() refused.
  size_t bytes() const { return bytes_; }

  void* find(const SharedArray* declaration) const {
    for (int32_t i = 0; i < count_; ++i) {
      if (arrays_[i].declaration == declaration) return arrays_[i].begin;
    }
    return nullptr;
  }

  // Null if the block has no room for it.
  void* place(const SharedArray* declaration) {
    const size_t bytes = declaration->bytes;
    bytes_ += bytes;
    if (bytes_ > kSharedBytes || count_ == kMaxArrays) return nullptr;
    uint8_t* const begin = next_ + kGuard;
    uint8_t* const end = begin + (bytes + kSharedAlignment - 1) / kSharedAlignment * kSharedAlignment + kGuard;
    memset(next_, kGuardByte, kGuard);
    memset(begin, kPoisonByte, bytes);
    memset(begin + bytes, kGuardByte, end - begin - bytes);
    forbid(next_, kGuard);
    forbid(begin + bytes, end - begin - bytes);
    arrays_[count_++] = {declaration, begin, end};
    next_ = end;
    return begin;
  }

  // The first array that was written outside its bounds, or null; where: on which side.
  const SharedArray* overrun(const char** where) const {
    allow(arena_, next_ - arena_);
    for (int32_t i = 0; i < count_; ++i) {
      const Placed& array = arrays_[i];
      *where = "before its beginning";
      if (!intact(array.begin - kGuard, array.begin)) return array.declaration;
      *where = "beyond its end";
      if (!intact(array.begin + array.declaration->bytes, array.end)) return array.declaration;
    }
    return nullptr;
  }

 private:
  static constexpr uint8_t kGuardByte = 0xA7;

  struct Placed {
    const SharedArray* declaration;
    uint8_t* begin;
    uint8_t* end;  // of the guard behind it
  };

  static bool intact(const uint8_t* begin, const uint8_t* end) {
    while (begin < end && *begin == kGuardByte) ++begin;
    return begin == end;
  }

  uint8_t *arena_, *next_;
  int32_t count_;
  size_t bytes_;
  Placed arrays_[kMaxArrays];
};

}  // namespace
}  // namespace faithful
}  // namespace hipep
