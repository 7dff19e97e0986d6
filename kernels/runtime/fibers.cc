// The scheduler of the faithful host modes. Threads of a block start lazily, one fiber running thread after thread
// until one has to wait; only then does the next fiber begin. Orders are permuted, but the same in every run, so that a
// kernel that relies on an order shows it.
#include "runtime/fibers.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <mutex>
#include <numeric>

#include "runtime/fiber_context.h"
#include "runtime/fiber_shared.h"
#include "runtime/os.h"

extern "C" {
extern const hipep_faithful_entry __start_hipep_faithful[] __attribute__((weak, visibility("hidden")));
extern const hipep_faithful_entry __stop_hipep_faithful[] __attribute__((weak, visibility("hidden")));
}

namespace hipep {
namespace faithful {

__thread Run* current = nullptr;

namespace {

constexpr size_t kPage = 4096;
constexpr size_t kStack = 64 * 1024;  // the lowest page stays inaccessible
constexpr uint64_t kPoisonWord = 0xCBCBCBCBCBCBCBCB;
constexpr uint8_t kGuardByte = 0xA7;

const char* const kOperationNames[] = {"block_sync", "shuffle", "shuffle_down", "shuffle_up", "shuffle_xor", "ballot"};

bool same_site(const Site& a, const Site& b) {
  return a.line == b.line && a.operation == b.operation && a.file == b.file;
}

constexpr size_t whole_pages(size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

// The numbers from 0 to count - 1, each once, neighbours far apart.
class Permutation {
 public:
  explicit Permutation(uint64_t count) : count_(count), stride_(count * 618 / 1000), next_(count / 2) {
    while (std::gcd(stride_, count_) != 1) ++stride_;
  }
  uint64_t take() {
    const uint64_t taken = next_;
    next_ = (next_ + stride_) % count_;
    return taken;
  }

 private:
  uint64_t count_, stride_, next_;
};

struct Block : Run {
  const hipep_faithful_entry* row;
  const void* args;
  char* error;
  size_t error_bytes;
  bool failed;

  Fiber caller;
  Fiber fibers[kMaxThreads];
  int32_t running, fiber_count;
  uint16_t ready[kMaxThreads];  // a ring
  uint32_t ready_begin, ready_end;
  uint16_t block_waiting[kMaxThreads];
  uint16_t warp_waiting[kMaxThreads];

  SharedStorage shared;
  char* stacks;
  int32_t committed_stacks;
  int32_t ordered_threads;  // what order was made for
  Block* next_idle;

  bool run_grid();
  void arrange(int32_t count);
  void run_block(uint32_t index);
  void begin_block(uint32_t index);
  void run_threads();
  int32_t new_fiber();
  void resume(int32_t fiber);
  void resume_other();
  void wait(Barrier& barrier, Site site);
  void report(const char* format, ...) __attribute__((format(printf, 2, 3)));
  [[noreturn]] void leave_block();
  [[noreturn]] void diverge();
};

Block* own() { return static_cast<Block*>(current); }

void fiber_main() {
  Block* const self = own();
  finish_first_switch(self->running == 0 ? &self->caller : nullptr);
  self->run_threads();
}

void Block::report(const char* format, ...) {
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  snprintf(error, error_bytes, "kernel %s, block %u of %u: %s", row->name, block, grid, text);
  failed = true;
}

// Fibers that still wait are never resumed; device code owns nothing that would have to be released.
void Block::leave_block() {
  switch_fiber(fibers[running], caller, true);
  __builtin_unreachable();
}

// Says how many wait where, with one thread of each place as an example.
void Block::diverge() {
  char text[768];
  size_t used = 0;
  int32_t waiting = 0;
  for (int32_t i = 0; i < fiber_count; ++i) {
    const Fiber& first = fibers[i];
    if (first.waiting == nullptr) continue;
    ++waiting;
    int32_t same = 0;
    bool told = false;
    for (int32_t k = 0; k < fiber_count && !told; ++k) {
      if (fibers[k].waiting == nullptr || !same_site(*fibers[k].waiting, *first.waiting)) continue;
      told = k < i;
      ++same;
    }
    if (told || used >= sizeof text) continue;
    const Site& site = *first.waiting;
    const char* slash = strrchr(site.file, '/');
    used += snprintf(text + used, sizeof text - used, "%s%d thread%s (thread %d among them) in %s at %s:%d",
                     used > 0 ? "; " : "", same, same == 1 ? "" : "s", first.thread, kOperationNames[site.operation],
                     slash != nullptr ? slash + 1 : site.file, site.line);
  }
  report(
      "threads diverge: %d of %d live threads wait: %s. All threads of a block must reach the same barrier, all lanes "
      "of a warp the same warp operation",
      waiting, barrier.live, text);
  leave_block();
}

void Block::run_threads() {
  row->entry(args);
  if (barrier.live == 0) leave_block();
  resume_other();
  __builtin_unreachable();
}

int32_t Block::new_fiber() {
  const int32_t index = fiber_count;
  char* const bottom = stacks + kStack * index + kPage;
  const size_t bytes = kStack - kPage;
  if (index == committed_stacks) {
    if (!os::commit(bottom, bytes)) {
      report("no memory for the stack of fiber %d; a larger vm.max_map_count or fewer streams help", index);
      return -1;
    }
    ++committed_stacks;
  }
  // Stacks 64 KiB apart would compete for the same few cache sets if all began at the same offset.
  make_fiber(fibers[index], bottom, bytes, bytes - (index % 61) * 192, fiber_main);
  ++fiber_count;
  return index;
}

void Block::resume(int32_t fiber) {
  Fiber& from = fibers[running];
  from.thread = thread;
  running = fiber;
  thread = fibers[fiber].thread;
  switch_fiber(from, fibers[fiber], false);
}

// Also the end of a fiber whose threads have all returned: nothing resumes it.
void Block::resume_other() {
  if (ready_begin != ready_end) return resume(ready[ready_begin++ % kMaxThreads]);
  if (started == threads) {
    fibers[running].thread = thread;
    diverge();
  }
  const int32_t fiber = new_fiber();
  if (fiber < 0) leave_block();
  resume(fiber);
}

void Block::wait(Barrier& barrier, Site site) {
  Fiber& self = fibers[running];
  if (barrier.arrived == 0) {
    barrier.site = site;
  } else if (!same_site(barrier.site, site)) {
    self.waiting = &site;
    self.thread = thread;
    diverge();
  }
  if (barrier.arrived + 1 == barrier.live) return release(barrier);
  self.waiting = &barrier.site;
  barrier.waiting[barrier.arrived++] = static_cast<uint16_t>(running);
  resume_other();
}

// The order in which threads start: warps permuted, lanes permuted within each.
void Block::arrange(int32_t count) {
  if (ordered_threads == count) return;
  const int32_t warp_count = (count + kWarp - 1) / kWarp;
  Permutation warp_order(warp_count);
  int32_t at = 0;
  for (int32_t w = 0; w < warp_count; ++w) {
    const int32_t first = static_cast<int32_t>(warp_order.take()) * kWarp;
    const int32_t lanes = count - first < kWarp ? count - first : kWarp;
    Permutation lane_order(lanes);
    for (int32_t i = 0; i < lanes; ++i) order[at++] = static_cast<uint16_t>(first + lane_order.take());
  }
  ordered_threads = count;
}

void Block::begin_block(uint32_t index) {
  block = index;
  started = fiber_count = 0;
  shift = static_cast<int32_t>(index * 2654435761u % static_cast<uint32_t>(threads));
  ready_begin = ready_end = 0;
  shared.clear();
  barrier = {block_waiting, threads, 0, 0, {}};
  for (int32_t first = 0; first < threads; first += kWarp) {
    const int32_t lanes = threads - first < kWarp ? threads - first : kWarp;
    warps[first / kWarp].barrier = {warp_waiting + first, lanes, 0, 0, {}};
  }
}

void Block::run_block(uint32_t index) {
  begin_block(index);
  running = new_fiber();
  if (running == 0) switch_fiber(caller, fibers[0], false);
  const char* where;
  const SharedArray* victim = shared.overrun(&where);
  if (victim != nullptr && !failed)
    report("shared array '%s' (%zu bytes) was written %s", victim->name, victim->bytes, where);
}

bool Block::run_grid() {
  arrange(threads);
  failed = false;
  Permutation block_order(grid);
  for (uint32_t i = 0; i < grid && !failed; ++i) run_block(static_cast<uint32_t>(block_order.take()));
  return !failed;
}

std::mutex idle_mutex;
Block* idle_blocks = nullptr;

// Kept for ever: a launch takes one that is idle. The arena lies between inaccessible pages.
Block* take_block() {
  {
    const std::lock_guard<std::mutex> lock(idle_mutex);
    if (Block* block = idle_blocks) {
      idle_blocks = block->next_idle;
      return block;
    }
  }
  constexpr size_t state_bytes = whole_pages(sizeof(Block)), arena_bytes = whole_pages(SharedStorage::kArena);
  char* const memory = static_cast<char*>(os::reserve(state_bytes + kPage + arena_bytes + kMaxThreads * kStack));
  if (memory == nullptr) return nullptr;
  char* const arena = memory + state_bytes + kPage;
  if (!os::commit(memory, state_bytes) || !os::commit(arena, arena_bytes)) return nullptr;
  Block* const block = reinterpret_cast<Block*>(memory);  // all zeros is its initial state
  block->shared.attach(arena);
  block->stacks = arena + arena_bytes;
  return block;
}

void give_back(Block* block) {
  const std::lock_guard<std::mutex> lock(idle_mutex);
  block->next_idle = idle_blocks;
  idle_blocks = block;
}

}  // namespace

// Rotates and turns the order of arrival, differently each time.
void Run::release(Barrier& full) {
  Block* const self = static_cast<Block*>(this);
  const int32_t count = full.arrived;
  int32_t at = count > 0 ? static_cast<int32_t>(full.generation % count) : 0;
  for (int32_t i = 0; i < count; ++i) {
    const uint16_t fiber = full.waiting[full.generation % 2 == 0 ? at : count - 1 - at];
    self->fibers[fiber].waiting = nullptr;
    self->ready[self->ready_end++ % kMaxThreads] = fiber;
    at = at + 1 == count ? 0 : at + 1;
  }
  full.arrived = 0;
  ++full.generation;
}

void block_sync(Site site) {
  Block* const self = own();
  self->wait(self->barrier, site);
}

namespace {

// Announces the calling lane in the operation that begins; the buffer's index.
uint32_t enter(Warp& warp, int lane) {
  const uint32_t buffer = warp.barrier.generation % 2;
  if (warp.barrier.arrived == 0) warp.lanes[buffer] = warp.votes[buffer] = 0;
  warp.lanes[buffer] |= uint64_t{1} << lane;
  return buffer;
}

}  // namespace

Cell exchange(Cell value, int source, Site site) {
  Block* const self = own();
  Warp& warp = self->warp();
  const int lane = self->lane();
  const uint32_t buffer = enter(warp, lane);
  warp.cells[buffer][lane] = value;
  self->wait(warp.barrier, site);
  if ((warp.lanes[buffer] >> source & 1) != 0) return warp.cells[buffer][source];
  return {kPoisonWord, kPoisonWord};  // no such thread, or it has returned
}

uint64_t ballot(bool predicate, Site site) {
  Block* const self = own();
  Warp& warp = self->warp();
  const int lane = self->lane();
  const uint32_t buffer = enter(warp, lane);
  warp.votes[buffer] |= uint64_t{predicate} << lane;
  self->wait(warp.barrier, site);
  return warp.votes[buffer];
}

void* shared_array(const SharedArray* declaration) {
  Block* const self = own();
  void* array = self->shared.find(declaration);
  if (array == nullptr) array = self->shared.place(declaration);
  if (array != nullptr) return array;
  self->report("shared arrays take %zu bytes with '%s'; a block has %zu bytes in at most %d arrays",
               self->shared.bytes(), declaration->name, kSharedBytes, SharedStorage::kMaxArrays);
  self->leave_block();
}

}  // namespace faithful
}  // namespace hipep

const hipep_faithful_entry* hipep_faithful_table(size_t* count) {
  *count = static_cast<size_t>(__stop_hipep_faithful - __start_hipep_faithful);
  return __start_hipep_faithful;
}

int hipep_faithful_launch(void (*entry)(const void*), uint32_t grid, uint32_t block, const void* args, char* error,
                          size_t error_bytes) {
  using hipep::faithful::Block;
  const hipep_faithful_entry* row = __start_hipep_faithful;
  while (row != __stop_hipep_faithful && row->entry != entry) ++row;
  if (row == __stop_hipep_faithful) {
    snprintf(error, error_bytes, "this is not a kernel of the library for warps of %d; take one from its table",
             hipep::faithful::kWarp);
    return 1;
  }
  if (row->block != block) {
    snprintf(error, error_bytes, "kernel %s has blocks of %u threads, not %u", row->name, row->block, block);
    return 1;
  }
  if (grid == 0) return 0;
  Block* const state = hipep::faithful::take_block();
  if (state == nullptr) {
    snprintf(error, error_bytes, "kernel %s: no address space for the stacks of its fibers", row->name);
    return 1;
  }
  state->row = row;
  state->args = args;
  state->error = error;
  state->error_bytes = error_bytes;
  state->grid = grid;
  state->threads = static_cast<int32_t>(block);
  hipep::faithful::current = state;
  const bool right = state->run_grid();
  hipep::faithful::current = nullptr;
  hipep::faithful::give_back(state);
  return right ? 0 : 1;
}
