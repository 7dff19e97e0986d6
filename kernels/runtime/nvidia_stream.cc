// The NVIDIA backend: streams and events.
#include "guarded.h"
#include "nvidia.h"

namespace hipep {
namespace {

class NvidiaStream final : public hipep_stream {
 public:
  NvidiaStream(NvidiaDevice* device, cuda::Stream stream) : device_(device), stream_(stream) {}

  hipep_status copy(uint64_t, void* to, const void* from, size_t bytes) override {
    NvidiaScope scope(device_);
    if (scope.status() != HIPEP_OK) return scope.status();
    return check(cuda::api().copy_async(reinterpret_cast<cuda::Pointer>(guarded_map(to)),
                                        reinterpret_cast<cuda::Pointer>(guarded_map(from)), bytes, stream_),
                 "cuMemcpyAsync");
  }

  hipep_status launch(uint64_t, const Launch& launch) override {
    NvidiaScope scope(device_);
    if (scope.status() != HIPEP_OK) return scope.status();
    void* parameters[] = {const_cast<void*>(launch.args)};
    const cuda::Result result =
        cuda::api().launch_kernel(static_cast<cuda::Function>(launch.entry), launch.grid, 1, 1, launch.kernel->block, 1,
                                  1, 0, stream_, parameters, nullptr);
    if (__builtin_expect(result == cuda::kSuccess, 1)) return HIPEP_OK;
    const hipep_status status = check(result, "cuLaunchKernel");
    return hipep_fail(status, "kernel %s: %s", launch.kernel->name, hipep_last_error());
  }

  hipep_status wait() override {
    failed.store(false, std::memory_order_relaxed);
    NvidiaScope scope(device_);
    if (scope.status() != HIPEP_OK) return scope.status();
    return check(cuda::api().stream_synchronize(stream_), "cuStreamSynchronize");
  }

  bool idle() override {
    if (cuda::forked()) return true;
    NvidiaScope scope(device_);
    const cuda::Result result = cuda::api().stream_query(stream_);
    if (result == cuda::kNotReady) return false;
    if (result != cuda::kSuccess) failed.store(true, std::memory_order_release);
    return true;
  }

  void destroy() override {
    if (!cuda::forked()) {
      NvidiaScope scope(device_);
      if (scope.status() == HIPEP_OK) cuda::api().stream_destroy(stream_);
    }
    delete this;
  }

  hipep_status wait_for(cuda::Event event) {
    NvidiaScope scope(device_);
    if (scope.status() != HIPEP_OK) return scope.status();
    return check(cuda::api().stream_wait_event(stream_, event, 0), "cuStreamWaitEvent");
  }

  hipep_status record(cuda::Event event) {
    NvidiaScope scope(device_);
    if (scope.status() != HIPEP_OK) return scope.status();
    return check(cuda::api().event_record(event, stream_), "cuEventRecord");
  }

 private:
  hipep_status check(cuda::Result result, const char* call) const {
    return result == cuda::kSuccess ? HIPEP_OK : cuda::fail(result, call, device_->info.ordinal);
  }

  NvidiaDevice* const device_;
  const cuda::Stream stream_;
};

class NvidiaEvent final : public hipep_event {
 public:
  NvidiaEvent(NvidiaDevice* device, cuda::Event event) : device_(device), event_(event) {}

  hipep_status record(hipep_stream* stream) override { return static_cast<NvidiaStream*>(stream)->record(event_); }
  hipep_status wait_on(uint64_t, hipep_stream* stream) override {
    return static_cast<NvidiaStream*>(stream)->wait_for(event_);
  }

  hipep_status synchronize() override {
    NvidiaScope scope(device_);
    if (scope.status() != HIPEP_OK) return scope.status();
    const cuda::Result result = cuda::api().event_synchronize(event_);
    return result == cuda::kSuccess ? HIPEP_OK : cuda::fail(result, "cuEventSynchronize", device_->info.ordinal);
  }

  void destroy() override {
    if (!cuda::forked()) {
      NvidiaScope scope(device_);
      if (scope.status() == HIPEP_OK) cuda::api().event_destroy(event_);
    }
    delete this;
  }

 private:
  NvidiaDevice* const device_;
  const cuda::Event event_;
};

}  // namespace

hipep_stream* new_nvidia_stream(NvidiaDevice* device) {
  cuda::Stream stream = nullptr;
  const cuda::Result result = cuda::api().stream_create(&stream, cuda::kStreamNonBlocking);
  if (result == cuda::kSuccess) return new NvidiaStream(device, stream);
  cuda::fail(result, "cuStreamCreate", device->info.ordinal);
  return nullptr;
}

hipep_event* new_nvidia_event(NvidiaDevice* device) {
  cuda::Event event = nullptr;
  const cuda::Result result = cuda::api().event_create(&event, cuda::kEventDisableTiming);
  if (result == cuda::kSuccess) return new NvidiaEvent(device, event);
  cuda::fail(result, "cuEventCreate", device->info.ordinal);
  return nullptr;
}

}  // namespace hipep
