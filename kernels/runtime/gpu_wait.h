// How the host waits for a GPU. Waking a thread takes tens of microseconds, so short work is polled for; long work is
// slept for by a blocking event, whatever the driver's own synchronisation does: its flags belong to the context, which
// is shared with other libraries.
#pragma once

#include <chrono>
#include <thread>

namespace hipep {

constexpr auto kPollAlone = std::chrono::microseconds(50);
// Then other threads go first. Sleeping adds little to work that takes longer than this.
constexpr auto kPollPolitely = std::chrono::microseconds(1000);

// The result of query() when it is no longer "not ready", or that after a while.
template <class Driver, class Query>
int poll_until_ready(Query query) {
  int result = query();
  if (result != Driver::kNotReady) return result;
  const auto start = std::chrono::steady_clock::now();
  for (;;) {
    const auto waited = std::chrono::steady_clock::now() - start;
    if (waited > kPollPolitely) break;
    if (waited < kPollAlone) {
      __builtin_ia32_pause();
    } else {
      std::this_thread::yield();
    }
    result = query();
    if (result != Driver::kNotReady) break;
  }
  Driver::clear_error();  // that it was not ready
  return result;
}

}  // namespace hipep
