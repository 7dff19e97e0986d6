// Backends, devices and kernels of the public interface.
#include <string.h>

#include <algorithm>
#include <mutex>
#include <string>
#include <vector>

#include "driver.h"
#include "guarded.h"
#include "locks.h"
#include "pool.h"

namespace hipep {

extern const Backend host_backend;
// Defined where the build has the driver.
extern const Backend nvidia_backend __attribute__((weak));
extern const Backend amd_backend __attribute__((weak));

namespace {

constexpr const char* kNames = "host, nvidia, amd";

const Backend* find_backend(const char* name) {
  const Backend* const backends[] = {&host_backend, &nvidia_backend, &amd_backend};
  for (const Backend* backend : backends) {
    if (backend != nullptr && strcmp(backend->name, name) == 0) return backend;
  }
  return nullptr;
}

struct OpenDevice {
  std::string backend;
  int32_t ordinal, mode, memory;
  hipep_device* device;
};

// Never destroyed: sessions outlive static objects at exit.
struct Devices {
  std::mutex& lock = *new_lock(LockRank::kDevices);
  std::vector<OpenDevice> open;
  int32_t next_gpu_slot = kFirstGpuSlot;
};
Devices& devices() {
  static auto* all = new Devices;
  return *all;
}

// The modes of a host device are ways to run kernels: they share its memory.
void give_pools(const Devices& all, const char* backend, int32_t memory, hipep_device* device) {
  for (const OpenDevice& open : all.open) {
    if (open.backend != backend || open.ordinal != device->info.ordinal || open.memory != memory) continue;
    std::copy(open.device->pools, open.device->pools + 2, device->pools);
    return;
  }
  for (int32_t kind = 0; kind < 2; ++kind) device->pools[kind] = new Pool(device, kind);
}

}  // namespace

// Called with the devices' lock held, by a driver's open().
int32_t take_gpu_slot() {
  int32_t& next = devices().next_gpu_slot;
  return next < HIPEP_MAX_ENTRY_SLOTS ? next++ : -1;
}

}  // namespace hipep

using namespace hipep;

const char* hipep_backend_problem(const char* name) {
  if (name == nullptr) name = "";
  const Backend* backend = find_backend(name);
  if (backend != nullptr) return backend->problem();
  const bool known = strcmp(name, "nvidia") == 0 || strcmp(name, "amd") == 0;
  if (known) {
    hipep_fail(HIPEP_NO_DRIVER, "this build has no %s backend: build hipep with -Dbackends=host,%s", name, name);
  } else {
    hipep_fail(HIPEP_NO_DRIVER, "there is no backend '%s': expected one of %s", name, kNames);
  }
  return hipep_last_error();
}

int32_t hipep_device_count(const char* name) {
  const Backend* backend = name == nullptr ? nullptr : find_backend(name);
  return backend == nullptr || *backend->problem() != '\0' ? 0 : backend->count();
}

hipep_status hipep_device_open(const char* name, int32_t ordinal, int32_t mode, int32_t memory, hipep_device** out) {
  const char* problem = hipep_backend_problem(name);
  if (*problem != '\0') return hipep_fail(HIPEP_NO_DRIVER, "%s", problem);
  const Backend* backend = find_backend(name);
  const int32_t count = backend->count();
  if (ordinal < 0 || ordinal >= count) {
    return hipep_fail(HIPEP_INVALID, "there is no device %s:%d: the backend has %d device%s", name, ordinal, count,
                      count == 1 ? "" : "s");
  }
  if (backend != &host_backend) mode = memory = 0;
  Devices& all = devices();
  std::lock_guard<std::mutex> hold(all.lock);
  for (const OpenDevice& open : all.open) {
    if (open.backend == name && open.ordinal == ordinal && open.mode == mode && open.memory == memory) {
      *out = open.device;
      return HIPEP_OK;
    }
  }
  hipep_device* device = nullptr;
  const hipep_status status = backend->open(ordinal, mode, memory, &device);
  if (status != HIPEP_OK) return status;
  give_pools(all, name, memory, device);
  all.open.push_back({name, ordinal, mode, memory, device});
  *out = device;
  return HIPEP_OK;
}

const hipep_device_info* hipep_device_get_info(const hipep_device* device) { return &device->info; }

hipep_status hipep_device_free_bytes(hipep_device* device, int64_t* out) { return device->free_bytes(out); }

void* hipep_map(hipep_device*, const void* pointer) { return guarded_map(pointer); }

int32_t hipep_host_readable(hipep_device* device, const void* pointer) { return device->host_readable(pointer); }

hipep_status hipep_kernel_resolve(hipep_device* device, hipep_kernel* kernel, void** entry) {
  const int32_t slot = device->entry_slot;
  if (slot >= 0) {
    *entry = __atomic_load_n(&kernel->entry[slot], __ATOMIC_ACQUIRE);
    if (*entry != nullptr) return HIPEP_OK;
  }
  const hipep_status status = device->resolve(*kernel, entry);
  if (status == HIPEP_OK && slot >= 0) __atomic_store_n(&kernel->entry[slot], *entry, __ATOMIC_RELEASE);
  return status;
}

hipep_status hipep_launch(hipep_stream* stream, const hipep_kernel* kernel, void* entry, uint32_t grid, int64_t units,
                          int64_t unit_cost, const void* args, size_t args_bytes) {
  const Launch launch{kernel, entry, grid, units, unit_cost, args, args_bytes};
  const uint64_t serial = stream->timeline->next();
  const hipep_status status = stream->launch(serial, launch);
  if (__builtin_expect(status != HIPEP_OK, 0)) return status;
  stream->timeline->submitted(serial);
  thread_counters.launches += 1;
  return HIPEP_OK;
}
