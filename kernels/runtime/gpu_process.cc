#include "gpu_process.h"

#include <stdlib.h>

#include <atomic>

#include "os.h"

namespace hipep {
namespace {

// Counts the forks between the first process that opened a driver and this one, from 1.
std::atomic<uint64_t> generation{0};
std::atomic<int64_t> process{0};
std::atomic<bool> exiting{false};

void before_fork() {}
void after_fork() {
  const int64_t here = os::process_id();
  if (process.exchange(here, std::memory_order_relaxed) != here) generation.fetch_add(1, std::memory_order_relaxed);
}

bool watch() {
  process.store(os::process_id(), std::memory_order_relaxed);
  generation.store(1, std::memory_order_relaxed);
  os::around_fork(before_fork, after_fork);
  return true;
}

}  // namespace

void DriverProcess::opened() {
  static const bool watched = watch();
  if (watched) state_ = generation.load(std::memory_order_relaxed);
  // Runs before what the driver, opened earlier, does at exit.
  atexit([] { exiting.store(true, std::memory_order_relaxed); });
}

bool DriverProcess::lost() const {
  return state_ != generation.load(std::memory_order_relaxed) || exiting.load(std::memory_order_relaxed);
}

hipep_status DriverProcess::fail(const char* driver) const {
  if (exiting.load(std::memory_order_relaxed)) {
    return hipep_fail(HIPEP_DEVICE_ERROR, "%s can no longer be used: the process is exiting", driver);
  }
  return hipep_fail(HIPEP_DEVICE_ERROR,
                    "this process was made by fork() after %s was opened, which it does not support: start it with "
                    "spawn",
                    driver);
}

}  // namespace hipep
