// The NVIDIA driver's device.
#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <string>

#include "driver.h"
#include "gpu_images.h"
#include "locks.h"
#include "nvidia_api.h"

namespace hipep {

class NvidiaDevice final : public hipep_device {
 public:
  // Reads the device's properties; its context is made at first use.
  hipep_status open(int32_t ordinal, const Images* images);

  hipep_status allocate(size_t bytes, int32_t kind, void** out) override;
  void free(void* pointer, size_t bytes, int32_t kind) override;
  hipep_status free_bytes(int64_t* out) override;
  bool host_readable(const void* pointer) override;
  hipep_status create_stream(void* existing, hipep_stream** out) override;
  hipep_status create_event(hipep_event** out) override;
  hipep_status resolve(const hipep_kernel& kernel, void** entry) override;

  // NULL with the error text set.
  cuda::Context context();

 private:
  hipep_status retain_context();
  hipep_status load(const char* name, cuda::Module* out);

  cuda::Device device_ = 0;
  const Images* images_ = nullptr;
  std::mutex& lock_ = *new_lock(LockRank::kStreams);
  std::atomic<cuda::Context> context_{nullptr};
  std::map<std::string, cuda::Module> modules_;
};

// Makes the device's context the thread's, and afterwards the one that another library had made it.
class NvidiaScope {
 public:
  explicit NvidiaScope(NvidiaDevice* device);
  ~NvidiaScope() {
    if (previous_ != nullptr) cuda::api().context_set_current(previous_);
  }
  NvidiaScope(const NvidiaScope&) = delete;
  NvidiaScope& operator=(const NvidiaScope&) = delete;
  // HIPEP_OK, or the error text is set.
  hipep_status status() const { return status_; }

 private:
  hipep_status status_ = HIPEP_OK;
  cuda::Context previous_ = nullptr;
};

// What streams and events are written over.
struct NvidiaDriver {
  using Device = NvidiaDevice;
  using Scope = NvidiaScope;
  using Stream = cuda::Stream;
  using Event = cuda::Event;
  using Function = cuda::Function;
  using Graph = cuda::Graph;
  using GraphExec = cuda::GraphExec;
  static constexpr int kSuccess = cuda::kSuccess, kNotReady = cuda::kNotReady;
  static constexpr unsigned kStreamNonBlocking = cuda::kStreamNonBlocking;
  static constexpr unsigned kEventDisableTiming = cuda::kEventDisableTiming;
  static constexpr unsigned kEventBlockingSync = cuda::kEventBlockingSync;
  static constexpr cuda::CaptureMode kCaptureRelaxed = cuda::kCaptureRelaxed;
  static constexpr const char* kLaunch = "LaunchKernel";

  static const cuda::Api& api() { return cuda::api(); }
  static bool usable() { return cuda::process().usable(); }
  static bool has_graphs() { return cuda::api().has_graphs; }
  static void clear_error() {}
  static int copy_async(void* to, const void* from, size_t bytes, Stream stream) {
    return api().copy_async(reinterpret_cast<cuda::Pointer>(to), reinterpret_cast<cuda::Pointer>(from), bytes, stream);
  }
  static hipep_status fail(int result, const char* call, int32_t ordinal) { return cuda::fail(result, call, ordinal); }
};

}  // namespace hipep
