// Streams and events of a GPU backend, written over what its driver calls them.
//
// Driver has the types Device, Scope, Stream and Event, the table api() with members of the same names for both
// vendors, usable(), clear_error(), copy_async(to, from, bytes, stream), fail(result, call, ordinal) and the constants
// kSuccess, kNotReady, kStreamNonBlocking, kEventDisableTiming, kEventBlockingSync and kLaunch (the name of the launch
// call).
#pragma once

#include <atomic>

#include "driver.h"
#include "gpu_graph.h"
#include "gpu_wait.h"
#include "guarded.h"

namespace hipep {

template <class Driver>
class GpuStream final : public hipep_stream {
  using Device = typename Driver::Device;
  using Scope = typename Driver::Scope;
  using Stream = typename Driver::Stream;
  using Event = typename Driver::Event;

 public:
  // Called in the device's scope.
  static hipep_status create(Device* device, void* existing, hipep_stream** out) {
    auto stream = static_cast<Stream>(existing);
    int result = Driver::kSuccess;
    if (existing == nullptr) result = Driver::api().stream_create(&stream, Driver::kStreamNonBlocking);
    if (result != Driver::kSuccess) return Driver::fail(result, "StreamCreate", device->info.ordinal);
    Event end = nullptr;
    result = Driver::api().event_create(&end, Driver::kEventDisableTiming | Driver::kEventBlockingSync);
    if (result != Driver::kSuccess) {
      if (existing == nullptr) Driver::api().stream_destroy(stream);
      return Driver::fail(result, "EventCreate", device->info.ordinal);
    }
    *out = new GpuStream(device, stream, end, existing == nullptr);
    return HIPEP_OK;
  }

  hipep_status copy(uint64_t, void* to, const void* from, size_t bytes) override {
    Scope scope(device_);
    if (scope.status() != HIPEP_OK) return scope.status();
    return check(Driver::copy_async(guarded_map(to), guarded_map(from), bytes, stream_), "MemcpyAsync");
  }

  hipep_status launch(uint64_t, const Launch& launch) override {
    Scope scope(device_);
    if (scope.status() != HIPEP_OK) return scope.status();
    void* parameters[] = {const_cast<void*>(launch.args)};
    const int result = Driver::api().launch_kernel(static_cast<typename Driver::Function>(launch.entry), launch.grid, 1,
                                                   1, launch.kernel->block, 1, 1, 0, stream_, parameters, nullptr);
    if (__builtin_expect(result == Driver::kSuccess, 1)) {
      last_kernel_ = launch.kernel->name;
      return HIPEP_OK;
    }
    const hipep_status status = check(result, Driver::kLaunch);
    return hipep_fail(status, "kernel %s: %s", launch.kernel->name, hipep_last_error());
  }

  hipep_status capture(const hipep_planned_launch* launches, int32_t count, const uint8_t* args,
                       hipep_graph** out) override {
    if (!Driver::has_graphs()) return hipep_stream::capture(launches, count, args, out);
    Scope scope(device_);
    if (scope.status() != HIPEP_OK) return scope.status();
    const auto start = [&] {
      hipep_status status = HIPEP_OK;
      for (int32_t i = 0; i < count && status == HIPEP_OK; ++i) status = launch(0, as_launch(launches[i], args));
      return status;
    };
    typename Driver::GraphExec executable = nullptr;
    const hipep_status status = capture_graph<Driver>(device_->info.ordinal, stream_, start, &executable);
    if (status == HIPEP_OK) *out = new GpuGraph<Driver>(device_, executable, launches[count - 1].kernel->name);
    return status;
  }

  hipep_status replay(uint64_t, hipep_graph* raw) override {
    const auto* graph = static_cast<GpuGraph<Driver>*>(raw);
    Scope scope(device_);
    if (scope.status() != HIPEP_OK) return scope.status();
    last_kernel_ = graph->last_kernel;
    return check(Driver::api().graph_launch(graph->executable, stream_), "GraphLaunch");
  }

  hipep_status wait() override {
    failed.store(false, std::memory_order_relaxed);
    const int found = query_result_.exchange(Driver::kSuccess, std::memory_order_relaxed);
    Scope scope(device_);
    if (scope.status() != HIPEP_OK) return scope.status();
    const char* call = "StreamQuery";
    int result = poll_until_ready<Driver>([&] { return Driver::api().stream_query(stream_); });
    if (result == Driver::kNotReady) {
      call = "EventRecord";
      result = Driver::api().event_record(end_, stream_);
      if (result == Driver::kSuccess) {
        call = "EventSynchronize";
        result = Driver::api().event_synchronize(end_);
      }
    }
    if (result == Driver::kSuccess) result = found;
    if (__builtin_expect(result == Driver::kSuccess, 1)) return HIPEP_OK;
    const hipep_status status = check(result, call);
    if (last_kernel_ == nullptr) return status;
    return hipep_fail(status, "%s; the last kernel started was %s", hipep_last_error(), last_kernel_);
  }

  bool idle() override {
    if (!Driver::usable()) return true;
    Scope scope(device_);
    const int result = Driver::api().stream_query(stream_);
    if (result == Driver::kSuccess) return true;
    Driver::clear_error();
    if (result == Driver::kNotReady) return false;
    query_result_.store(result, std::memory_order_relaxed);
    failed.store(true, std::memory_order_release);
    return true;
  }

  void* handle() const override { return stream_; }

  void destroy() override {
    if (Driver::usable()) {
      Scope scope(device_);
      if (scope.status() == HIPEP_OK) {
        Driver::api().event_destroy(end_);
        if (owned_) Driver::api().stream_destroy(stream_);
      }
    }
    delete this;
  }

  hipep_status wait_for(Event event) {
    Scope scope(device_);
    if (scope.status() != HIPEP_OK) return scope.status();
    return check(Driver::api().stream_wait_event(stream_, event, 0), "StreamWaitEvent");
  }

  hipep_status record(Event event) {
    Scope scope(device_);
    if (scope.status() != HIPEP_OK) return scope.status();
    return check(Driver::api().event_record(event, stream_), "EventRecord");
  }

 private:
  GpuStream(Device* device, Stream stream, Event end, bool owned)
      : device_(device), stream_(stream), end_(end), owned_(owned) {}

  hipep_status check(int result, const char* call) const {
    return result == Driver::kSuccess ? HIPEP_OK : Driver::fail(result, call, device_->info.ordinal);
  }

  Device* const device_;
  const Stream stream_;
  const Event end_;  // for waits in which the thread sleeps
  const bool owned_;
  const char* last_kernel_ = nullptr;
  std::atomic<int> query_result_{Driver::kSuccess};  // an error that idle() met, for wait() to report
};

template <class Driver>
class GpuEvent final : public hipep_event {
  using Device = typename Driver::Device;
  using Scope = typename Driver::Scope;
  using Event = typename Driver::Event;

 public:
  // Called in the device's scope.
  static hipep_status create(Device* device, hipep_event** out) {
    Event event = nullptr;
    const int result = Driver::api().event_create(&event, Driver::kEventDisableTiming | Driver::kEventBlockingSync);
    if (result != Driver::kSuccess) return Driver::fail(result, "EventCreate", device->info.ordinal);
    *out = new GpuEvent(device, event);
    return HIPEP_OK;
  }

  hipep_status record(hipep_stream* stream) override { return static_cast<GpuStream<Driver>*>(stream)->record(event_); }
  hipep_status wait_on(uint64_t, hipep_stream* stream) override {
    return static_cast<GpuStream<Driver>*>(stream)->wait_for(event_);
  }

  hipep_status synchronize() override {
    Scope scope(device_);
    if (scope.status() != HIPEP_OK) return scope.status();
    int result = poll_until_ready<Driver>([&] { return Driver::api().event_query(event_); });
    if (result == Driver::kNotReady) result = Driver::api().event_synchronize(event_);
    return result == Driver::kSuccess ? HIPEP_OK : Driver::fail(result, "EventSynchronize", device_->info.ordinal);
  }

  void destroy() override {
    if (Driver::usable()) {
      Scope scope(device_);
      if (scope.status() == HIPEP_OK) Driver::api().event_destroy(event_);
    }
    delete this;
  }

 private:
  GpuEvent(Device* device, Event event) : device_(device), event_(event) {}

  Device* const device_;
  const Event event_;
};

}  // namespace hipep
