// The host backend: devices that are this machine's processors and memory.
#include "host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>

#include "guarded.h"
#include "os.h"

namespace hipep {
namespace {

constexpr int32_t kMostDevices = 8;
constexpr size_t kLargePage = 2 << 20;

// HIPEP_HOST_DEVICES, 1 when unset, 0 when it is no number from 1 to 8.
int32_t device_count() {
  const char* text = getenv("HIPEP_HOST_DEVICES");
  if (text == nullptr || *text == '\0') return 1;
  return text[1] == '\0' && text[0] >= '1' && text[0] <= '0' + kMostDevices ? text[0] - '0' : 0;
}

const char* problem() {
  if (device_count() > 0) return "";
  hipep_fail(HIPEP_NO_DRIVER, "HIPEP_HOST_DEVICES is '%s': expected a number from 1 to %d",
             getenv("HIPEP_HOST_DEVICES"), kMostDevices);
  return hipep_last_error();
}

struct HostDevice final : hipep_device {
  KernelLibrary* library = nullptr;

  hipep_status allocate(size_t bytes, int32_t kind, void** out) override {
    if (info.host_memory == HIPEP_MEMORY_GUARDED && kind == HIPEP_KIND_DEVICE) return guarded_allocate(bytes, out);
    const size_t alignment = bytes >= 2 * kLargePage ? kLargePage : 4096;
    if (posix_memalign(out, alignment, bytes) != 0) {
      return hipep_fail(HIPEP_OUT_OF_MEMORY, "no room for %zu bytes in host memory: %lld of %lld are free", bytes,
                        static_cast<long long>(os::available_memory()), static_cast<long long>(info.memory_bytes));
    }
    if (alignment == kLargePage) os::prefer_large_pages(*out, bytes);
    return HIPEP_OK;
  }

  void free(void* pointer, size_t bytes, int32_t) override {
    if (is_guarded(pointer)) {
      guarded_free(pointer, bytes);
    } else {
      ::free(pointer);
    }
  }

  hipep_status free_bytes(int64_t* out) override {
    *out = os::available_memory();
    if (info.host_memory == HIPEP_MEMORY_GUARDED) *out = std::min(*out, guarded_free_bytes());
    return HIPEP_OK;
  }

  bool host_readable(const void* pointer) override { return !is_guarded(pointer); }

  hipep_status create_stream(void* existing, hipep_stream** out) override {
    if (existing != nullptr) {
      return hipep_fail(HIPEP_INVALID, "host:%d has no streams that others could make: leave out user_compute_stream",
                        info.ordinal);
    }
    *out = library->create_stream();
    if (*out != nullptr) return HIPEP_OK;
    return hipep_fail(HIPEP_DEVICE_ERROR, "no thread for a stream of host:%d: raise the limit (ulimit -u)",
                      info.ordinal);
  }

  hipep_status create_event(hipep_event** out) override {
    *out = library->create_event();
    return HIPEP_OK;
  }

  hipep_status resolve(const hipep_kernel& kernel, void** entry) override {
    *entry = library->find(kernel.name, kernel.block);
    if (*entry != nullptr) return HIPEP_OK;
    return hipep_fail(HIPEP_INTERNAL, "the host kernels have no %s (of %s) with blocks of %u threads", kernel.name,
                      kernel.module, kernel.block);
  }
};

hipep_status open(int32_t ordinal, int32_t mode, int32_t memory, hipep_device** out) {
  if (mode < HIPEP_MODE_SERIAL || mode > HIPEP_MODE_FAITHFUL64) {
    return hipep_fail(HIPEP_INVALID, "host mode %d: expected 0 (serial), 1 (faithful32) or 2 (faithful64)", mode);
  }
  if (memory != HIPEP_MEMORY_PLAIN && memory != HIPEP_MEMORY_GUARDED) {
    return hipep_fail(HIPEP_INVALID, "host memory %d: expected 0 (plain) or 1 (guarded)", memory);
  }
  const bool serial = mode == HIPEP_MODE_SERIAL;
  const int32_t warp_size = serial ? 1 : mode == HIPEP_MODE_FAITHFUL32 ? 32 : 64;
  KernelLibrary* library = nullptr;
  hipep_status status = serial ? open_serial(&library) : open_faithful(warp_size, &library);
  if (status == HIPEP_OK && memory == HIPEP_MEMORY_GUARDED) status = guarded_open();
  if (status != HIPEP_OK) return status;

  auto* device = new HostDevice;
  device->library = library;
  device->entry_slot = kHostSlot + mode;
  hipep_device_info& info = device->info;
  snprintf(info.backend, sizeof info.backend, "host");
  snprintf(info.name, sizeof info.name, "%s", os::processor_name().c_str());
  snprintf(info.arch, sizeof info.arch, "%s", library->arch());
  info.ordinal = ordinal;
  info.host_mode = mode;
  info.host_memory = memory;
  info.warp_size = warp_size;
  info.compute_units = serial ? os::processor_count() : 4;
  info.max_block = serial ? 1 : 1024;
  info.integrated = 1;
  info.shared_bytes = 64 << 10;
  info.memory_bytes = os::total_memory();
  *out = device;
  return HIPEP_OK;
}

}  // namespace

extern const Backend host_backend;
const Backend host_backend = {"host", problem, device_count, open};

}  // namespace hipep
