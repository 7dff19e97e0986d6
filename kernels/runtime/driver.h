// What a backend's driver implements. The public functions count, order and cache; a driver only does.
#pragma once

#include <stdint.h>

#include <atomic>

#include "hipep/plan.h"

namespace hipep {

class Pool;

// Progress of one stream's work, numbered by serials that only grow. Timelines are used again by later streams but
// never freed: a cached block of memory or a thread may name one whose stream is gone.
struct Timeline {
  std::atomic<uint64_t> enqueued{0};   // the newest work; written by the thread that uses the stream
  std::atomic<uint64_t> completed{0};  // everything up to here is known to be done
  std::atomic<uint64_t> waited{0};     // the host has waited for everything up to here
  hipep_stream* owner = nullptr;       // under the lock of stream.cc, as is:
  bool capturing = false;              // the driver must not be asked how far the stream has come

  // The driver has the work before enqueued says so: who reads enqueued and then finds the stream idle knows it is
  // done.
  uint64_t next() const { return enqueued.load(std::memory_order_relaxed) + 1; }
  void submitted(uint64_t serial) { enqueued.store(serial, std::memory_order_release); }
  bool done(uint64_t serial) const { return completed.load(std::memory_order_acquire) >= serial; }
};

inline void raise(std::atomic<uint64_t>* value, uint64_t to) {
  uint64_t now = value->load(std::memory_order_relaxed);
  while (now < to && !value->compare_exchange_weak(now, to, std::memory_order_release, std::memory_order_relaxed)) {
  }
}

// Read in one instruction, from storage that is scarce for libraries that are opened late: a few words only.
#define HIPEP_FAST_THREAD_LOCAL thread_local __attribute__((tls_model("initial-exec"), visibility("hidden")))
extern HIPEP_FAST_THREAD_LOCAL hipep_counters thread_counters;
// The timeline of hipep_set_current_stream; NULL if none.
extern HIPEP_FAST_THREAD_LOCAL Timeline* current_timeline;

// While a stream captures, poll_timelines leaves it alone.
void set_capturing(Timeline* timeline, bool capturing);
// Asks the drivers how far streams have come.
void poll_timelines();

struct Launch {
  const hipep_kernel* kernel;
  void* entry;
  uint32_t grid;
  int64_t units, unit_cost;
  const void* args;
  size_t args_bytes;
};

inline Launch as_launch(const hipep_planned_launch& planned, const uint8_t* args) {
  return {planned.kernel,    planned.entry, planned.grid, planned.units, planned.unit_cost, args + planned.args_begin,
          planned.args_bytes};
}

// One backend. A driver file defines <name>_backend; runtime.cc knows the names.
struct Backend {
  const char* name;
  // "" or why it cannot be used: the text of a hipep_fail.
  const char* (*problem)();
  int32_t (*count)();
  // Called once for each combination of the arguments, by one thread at a time.
  hipep_status (*open)(int32_t ordinal, int32_t mode, int32_t memory, hipep_device** out);
};

// Slots of hipep_kernel::entry: three host modes, then one for each GPU.
enum { kHostSlot = 0, kFirstGpuSlot = 3 };
// The next free slot, or -1 when all are taken: entries are then looked up each time.
int32_t take_gpu_slot();

}  // namespace hipep

struct hipep_device {
  hipep_device_info info{};
  int32_t entry_slot = -1;
  hipep::Pool* pools[2] = {nullptr, nullptr};  // by kind

  // HIPEP_OUT_OF_MEMORY when there is no room.
  virtual hipep_status allocate(size_t bytes, int32_t kind, void** out) = 0;
  virtual void free(void* pointer, size_t bytes, int32_t kind) = 0;
  virtual hipep_status free_bytes(int64_t* out) = 0;
  // The kind of the pool that the pointer, or the block around it, is from; -1 if it is foreign.
  int32_t kind_of(const void* pointer) const;
  virtual bool host_readable(const void* pointer) = 0;
  // existing: the driver's handle of a stream to be used instead of one of its own, or NULL.
  virtual hipep_status create_stream(void* existing, hipep_stream** out) = 0;
  virtual hipep_status create_event(hipep_event** out) = 0;
  // Called once for each kernel and slot; from any thread.
  virtual hipep_status resolve(const hipep_kernel& kernel, void** entry) = 0;

 protected:
  ~hipep_device() = default;  // devices stay open until the process ends
};

struct hipep_stream {
  hipep_device* device = nullptr;
  hipep::Timeline* timeline = nullptr;
  hipep_parallel_for parallel_for = nullptr;
  void* parallel_context = nullptr;
  std::atomic<bool> failed{false};  // an error of the work waits to be reported by wait()

  // Work is enqueued in the order of its serials. A driver that learns of completion by itself raises completed.
  virtual hipep_status copy(uint64_t serial, void* to, const void* from, size_t bytes) = 0;
  virtual hipep_status launch(uint64_t serial, const hipep::Launch& launch) = 0;
  // Records launches for replay(). HIPEP_UNSUPPORTED where there are no graphs.
  virtual hipep_status capture(const hipep_planned_launch* launches, int32_t count, const uint8_t* args,
                               hipep_graph** out);
  virtual hipep_status replay(uint64_t serial, hipep_graph* graph);
  // Waits for all work; reports and clears its errors.
  virtual hipep_status wait() = 0;
  // Whether all work is done, without waiting.
  virtual bool idle() = 0;
  // The driver's own, if it has any.
  virtual void* handle() const { return nullptr; }
  // Frees the stream after its last wait().
  virtual void destroy() = 0;

 protected:
  ~hipep_stream() = default;
};

// Made by a stream's capture(), for its replay().
struct hipep_graph {
  int32_t launches = 0;
  const hipep_stream* stream = nullptr;

  // A replay that is going on goes on; the stream may be gone.
  virtual void destroy() = 0;

 protected:
  ~hipep_graph() = default;
};

struct hipep_event {
  hipep_device* device = nullptr;
  hipep::Timeline* timeline = nullptr;  // of the last record; NULL before the first
  uint64_t serial = 0;

  virtual hipep_status record(hipep_stream* stream) = 0;
  virtual hipep_status wait_on(uint64_t at, hipep_stream* stream) = 0;
  virtual hipep_status synchronize() = 0;
  virtual void destroy() = 0;

 protected:
  ~hipep_event() = default;
};
