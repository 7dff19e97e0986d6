// Streams, events, copies and the timelines behind them.
#include <string.h>

#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

#include "driver.h"
#include "locks.h"

namespace hipep {

HIPEP_FAST_THREAD_LOCAL Timeline* current_timeline = nullptr;

namespace {

// A thread that catches up with work polls for it; work that takes long is looked at every now and then.
constexpr int kYields = 1000;
constexpr auto kNap = std::chrono::microseconds(100);

struct Timelines {
  std::mutex& lock = *new_lock(LockRank::kTimelines);
  std::vector<Timeline*> live, spare;
};
Timelines& timelines() {
  static auto* all = new Timelines;
  return *all;
}

Timeline* take_timeline(hipep_stream* owner) {
  Timelines& all = timelines();
  std::lock_guard<std::mutex> hold(all.lock);
  if (all.spare.empty()) all.spare.push_back(new Timeline);
  Timeline* timeline = all.spare.back();
  all.spare.pop_back();
  timeline->owner = owner;
  all.live.push_back(timeline);
  return timeline;
}

void return_timeline(Timeline* timeline) {
  Timelines& all = timelines();
  std::lock_guard<std::mutex> hold(all.lock);
  timeline->owner = nullptr;
  for (Timeline*& live : all.live) {
    if (live != timeline) continue;
    live = all.live.back();
    all.live.pop_back();
    break;
  }
  all.spare.push_back(timeline);
}

hipep_status wait(hipep_stream* stream) {
  Timeline* timeline = stream->timeline;
  const uint64_t target = timeline->enqueued.load(std::memory_order_relaxed);
  const hipep_status status = stream->wait();
  raise(&timeline->completed, target);
  raise(&timeline->waited, target);
  return status;
}

bool pending(const Timeline* timeline, uint64_t serial) {
  return timeline->waited.load(std::memory_order_relaxed) < serial;
}

}  // namespace

void poll_timelines() {
  Timelines& all = timelines();
  std::lock_guard<std::mutex> hold(all.lock);
  for (Timeline* timeline : all.live) {
    const uint64_t serial = timeline->enqueued.load(std::memory_order_acquire);
    if (timeline->capturing || timeline->done(serial)) continue;
    if (timeline->owner->idle()) raise(&timeline->completed, serial);
  }
}

void set_capturing(Timeline* timeline, bool capturing) {
  std::lock_guard<std::mutex> hold(timelines().lock);
  timeline->capturing = capturing;
}

}  // namespace hipep

using namespace hipep;

hipep_status hipep_stream_create(hipep_device* device, hipep_stream** out) {
  return hipep_stream_wrap(device, nullptr, out);
}

hipep_status hipep_stream_wrap(hipep_device* device, void* handle, hipep_stream** out) {
  hipep_stream* stream = nullptr;
  const hipep_status status = device->create_stream(handle, &stream);
  if (status != HIPEP_OK) return status;
  stream->device = device;
  stream->timeline = take_timeline(stream);
  *out = stream;
  return HIPEP_OK;
}

void hipep_stream_destroy(hipep_stream* stream) {
  if (stream == nullptr) return;
  // A stream that the caller made may be gone by now if nothing was left to wait for.
  if (pending(stream->timeline, stream->timeline->enqueued.load(std::memory_order_relaxed))) wait(stream);
  if (current_timeline == stream->timeline) current_timeline = nullptr;
  return_timeline(stream->timeline);
  stream->destroy();
}

void* hipep_stream_get_handle(const hipep_stream* stream) { return stream->handle(); }

hipep_device* hipep_stream_get_device(const hipep_stream* stream) { return stream->device; }

hipep_status hipep_stream_synchronize(hipep_stream* stream) {
  const bool waits = pending(stream->timeline, stream->timeline->enqueued.load(std::memory_order_relaxed));
  if (!waits && !stream->failed.load(std::memory_order_acquire)) return HIPEP_OK;
  thread_counters.stream_syncs += waits;
  return wait(stream);
}

hipep_status hipep_stream_catch_up(hipep_stream* stream) {
  const uint64_t target = stream->timeline->enqueued.load(std::memory_order_acquire);
  thread_counters.stream_syncs += pending(stream->timeline, target);
  for (int round = 0; !stream->timeline->done(target); ++round) {
    if (round > 0) round < kYields ? std::this_thread::yield() : std::this_thread::sleep_for(kNap);
    poll_timelines();
  }
  raise(&stream->timeline->waited, target);
  if (!stream->failed.load(std::memory_order_acquire)) return HIPEP_OK;
  return hipep_fail(HIPEP_DEVICE_ERROR, "work that a run has left on its stream failed; the next run on it says how");
}

void hipep_set_current_stream(hipep_stream* stream) {
  current_timeline = stream == nullptr ? nullptr : stream->timeline;
}

void hipep_stream_set_parallel_for(hipep_stream* stream, hipep_parallel_for function, void* context) {
  stream->parallel_for = function;
  stream->parallel_context = context;
}

hipep_status hipep_copy_async(hipep_stream* stream, void* to, const void* from, size_t bytes, int32_t counted_as) {
  if (bytes == 0) return HIPEP_OK;
  const uint64_t serial = stream->timeline->next();
  const hipep_status status = stream->copy(serial, to, from, bytes);
  if (status != HIPEP_OK) return status;
  stream->timeline->submitted(serial);
  hipep_counters* counters = &thread_counters;
  switch (counted_as) {
    case HIPEP_COPY_H2D:
      counters->h2d_copies += 1;
      counters->h2d_bytes += static_cast<int64_t>(bytes);
      break;
    case HIPEP_COPY_D2H:
      counters->d2h_copies += 1;
      counters->d2h_bytes += static_cast<int64_t>(bytes);
      break;
    case HIPEP_COPY_READBACK: counters->readbacks += 1; break;
    default: break;
  }
  return HIPEP_OK;
}

hipep_status hipep_event_create(hipep_device* device, hipep_event** out) {
  hipep_event* event = nullptr;
  const hipep_status status = device->create_event(&event);
  if (status != HIPEP_OK) return status;
  event->device = device;
  *out = event;
  return HIPEP_OK;
}

void hipep_event_destroy(hipep_event* event) {
  if (event != nullptr) event->destroy();
}

hipep_status hipep_event_record(hipep_event* event, hipep_stream* stream) {
  if (event->device != stream->device) {
    return hipep_fail(HIPEP_INVALID, "an event of device %s:%d cannot be recorded on a stream of %s:%d",
                      event->device->info.backend, event->device->info.ordinal, stream->device->info.backend,
                      stream->device->info.ordinal);
  }
  event->timeline = stream->timeline;
  event->serial = stream->timeline->enqueued.load(std::memory_order_relaxed);
  return event->record(stream);
}

hipep_status hipep_event_wait(hipep_event* event, hipep_stream* stream) {
  if (event->timeline == nullptr || event->timeline == stream->timeline) return HIPEP_OK;
  if (!pending(event->timeline, event->serial)) return HIPEP_OK;
  const hipep_device_info& from = event->device->info;
  const hipep_device_info& to = stream->device->info;
  if (strcmp(from.backend, to.backend) != 0 || from.host_mode != to.host_mode) return hipep_event_synchronize(event);
  // The wait is work of the stream: who waits for the stream waits for the event.
  const uint64_t serial = stream->timeline->next();
  const hipep_status status = event->wait_on(serial, stream);
  if (status == HIPEP_OK) stream->timeline->submitted(serial);
  return status;
}

hipep_status hipep_event_synchronize(hipep_event* event) {
  if (event->timeline == nullptr || !pending(event->timeline, event->serial)) return HIPEP_OK;
  thread_counters.stream_syncs += 1;
  const hipep_status status = event->synchronize();
  raise(&event->timeline->completed, event->serial);
  raise(&event->timeline->waited, event->serial);
  return status;
}
