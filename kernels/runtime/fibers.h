// Blocks of fibers on one OS thread: what the faithful device target calls. A faithful library holds the kernels and
// fibers.cc, both compiled with the same HIPEP_FAITHFUL.
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "runtime/faithful.h"

#if HIPEP_FAITHFUL != 32 && HIPEP_FAITHFUL != 64
#error "HIPEP_FAITHFUL is the warp size of this library: 32 or 64"
#endif

// The libraries for warps of 32 and of 64 may lie in one process.
#pragma GCC visibility push(hidden)

namespace hipep {
namespace faithful {

constexpr int kWarp = HIPEP_FAITHFUL;
constexpr int kMaxThreads = 1024;
constexpr size_t kSharedAlignment = 64;
constexpr size_t kSharedBytes = 65536;

enum Operation : uint32_t { kBlockSync, kShuffle, kShuffleDown, kShuffleUp, kShuffleXor, kBallot };

// A call of a barrier or a warp operation in the source of a kernel. Two words: travels in registers.
struct Site {
  const char* file;
  int32_t line;
  Operation operation;
};

struct Barrier {
  uint16_t* waiting;  // fibers, in the order of their arrival
  int32_t live;       // threads that have not returned
  int32_t arrived;
  uint32_t generation;
  Site site;  // of the first arrival
};

struct Cell {
  uint64_t low, high;
};

// Cells, lanes and votes are double buffered by the barrier's generation: a lane may reach the next operation, but not
// the one after it, before the others have read.
struct Warp {
  Barrier barrier;
  uint64_t lanes[2];  // that take part
  uint64_t votes[2];
  Cell cells[2][kWarp];
};

// The running block as the thread loop of a kernel's entry sees it.
struct Run {
  uint32_t grid, block;
  int32_t threads, started, shift;
  int32_t thread;  // that runs now
  uint16_t order[kMaxThreads];
  Barrier barrier;
  Warp warps[kMaxThreads / kWarp];

  int lane() const { return static_cast<int>(static_cast<uint32_t>(thread) % kWarp); }
  Warp& warp() { return warps[static_cast<uint32_t>(thread) / kWarp]; }
  bool start_thread() {
    if (started == threads) return false;
    const int32_t at = started++ + shift;
    thread = order[at < threads ? at : at - threads];
    return true;
  }
  void end_thread() {
    leave(barrier);
    leave(warp().barrier);
  }
  void leave(Barrier& left) {
    if (--left.live == left.arrived && left.arrived > 0) release(left);
  }
  void release(Barrier& full);
};

// A plain pointer: a thread_local with a constructor would call a function at each access.
extern __thread Run* current __attribute__((tls_model("initial-exec")));

void block_sync(Site site);
// The value of the source lane of the own warp.
Cell exchange(Cell value, int source, Site site);
uint64_t ballot(bool predicate, Site site);

struct SharedArray {
  const char* name;
  size_t bytes;
};
// The block's storage for a declaration: between guards, filled with 0xCB when the block meets it first.
void* shared_array(const SharedArray* declaration);

}  // namespace faithful
}  // namespace hipep

#pragma GCC visibility pop
