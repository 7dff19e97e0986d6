// What the files of the AMD driver share.
#pragma once

#include <map>
#include <mutex>
#include <string>

#include "amd_api.h"
#include "driver.h"
#include "gpu_images.h"
#include "locks.h"

namespace hipep {

class AmdDevice final : public hipep_device {
 public:
  // Reads the device's properties and chooses the code objects; HIPEP_NO_DRIVER if none fit.
  hipep_status open(int32_t ordinal, const Images* images);

  hipep_status allocate(size_t bytes, int32_t kind, void** out) override;
  void free(void* pointer, size_t bytes, int32_t kind) override;
  hipep_status free_bytes(int64_t* out) override;
  bool host_readable(const void* pointer) override;
  hipep_status create_stream(void* existing, hipep_stream** out) override;
  hipep_status create_event(hipep_event** out) override;
  hipep_status resolve(const hipep_kernel& kernel, void** entry) override;

 private:
  hipep_status load(const char* name, hip::Module* out);

  const Images* images_ = nullptr;
  std::string target_;  // of the code objects
  std::mutex& lock_ = *new_lock(LockRank::kStreams);
  std::map<std::string, hip::Module> modules_;
};

// Makes the device the thread's, and afterwards the one that another user of HIP had made it.
class AmdScope {
 public:
  explicit AmdScope(const AmdDevice* device);
  ~AmdScope() {
    if (previous_ >= 0) hip::api().device_set(previous_);
  }
  AmdScope(const AmdScope&) = delete;
  AmdScope& operator=(const AmdScope&) = delete;
  // HIPEP_OK, or the error text is set.
  hipep_status status() const { return status_; }

 private:
  hipep_status status_ = HIPEP_OK;
  hip::Device previous_ = -1;
};

}  // namespace hipep
