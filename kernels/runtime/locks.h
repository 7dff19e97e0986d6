// A fork while another thread holds a lock would leave it held in the child for ever, so locks are held across fork().
#pragma once

#include <mutex>

namespace hipep {

// In the order in which they nest.
enum class LockRank { kDevices, kPool, kTimelines, kStreams, kHeap };

// A lock with static lifetime; called before it is first used.
void hold_across_fork(LockRank rank, std::mutex* lock);

// A mutex that is registered when it is made and never destroyed.
inline std::mutex* new_lock(LockRank rank) {
  auto* lock = new std::mutex;
  hold_across_fork(rank, lock);
  return lock;
}

}  // namespace hipep
