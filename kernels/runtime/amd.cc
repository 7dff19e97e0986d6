// The AMD backend: devices and memory.
#include "amd.h"

#include <stdio.h>
#include <string.h>

#include <algorithm>
#include <vector>

#include "gpu_stream.h"

namespace hipep {
namespace {

// Starting a graph costs about 15 us more than starting a kernel and saves 0.1 us a kernel.
constexpr int32_t kGraphLaunches = 150;
constexpr int kGenericSince = 60300000;  // HIP 6.3 loads code objects of generic targets

// What gpu_stream.h asks of a driver.
struct AmdDriver {
  using Device = AmdDevice;
  using Scope = AmdScope;
  using Stream = hip::Stream;
  using Event = hip::Event;
  using Function = hip::Function;
  using Graph = hip::Graph;
  using GraphExec = hip::GraphExec;
  static constexpr int kSuccess = hip::kSuccess, kNotReady = hip::kNotReady;
  static constexpr unsigned kStreamNonBlocking = hip::kStreamNonBlocking;
  static constexpr unsigned kEventDisableTiming = hip::kEventDisableTiming;
  static constexpr unsigned kEventBlockingSync = hip::kEventBlockingSync;
  static constexpr hip::CaptureMode kCaptureRelaxed = hip::kCaptureRelaxed;
  static constexpr const char* kLaunch = "ModuleLaunchKernel";

  static const hip::Api& api() { return hip::api(); }
  static bool usable() { return hip::api().process.usable(); }
  static bool has_graphs() { return hip::api().has_graphs; }
  static void clear_error() { hip::api().last_error(); }
  static hipep_status fail(int result, const char* call, int32_t ordinal) { return hip::fail(result, call, ordinal); }
  // The runtime finds the direction, which is right for any host, pinned or device memory.
  static int copy_async(void* to, const void* from, size_t bytes, hip::Stream stream) {
    return hip::api().copy_async(to, from, bytes, hip::kCopyDefault, stream);
  }
};

// Code objects that any member of a family runs.
struct Family {
  const char *beginning, *generic;
};
constexpr Family kFamilies[] = {
    {"gfx94", "gfx9-4-generic"}, {"gfx950", "gfx9-4-generic"}, {"gfx103", "gfx10-3-generic"},
    {"gfx110", "gfx11-generic"}, {"gfx115", "gfx11-generic"},  {"gfx120", "gfx12-generic"},
};

const Images* images() {
  static const Images* one = Images::open("amd");
  return one;
}

// Modules are named <kernel file>.<target>.
std::vector<std::string> built_targets(const Images& all) {
  std::vector<std::string> targets;
  for (const Image* image = all.begin(); image->module != nullptr; ++image) {
    const char* dot = strchr(image->module, '.');
    if (dot == nullptr) continue;
    const std::string target = dot + 1;
    if (std::find(targets.begin(), targets.end(), target) == targets.end()) targets.push_back(target);
  }
  return targets;
}

// "gfx90a:sramecc+:xnack-" is of architecture gfx90a; code objects are built for any setting of the features.
hipep_status read_arch(int32_t ordinal, std::string* arch) {
  hip::Properties properties = {};
  const hip::Result result = hip::api().device_properties(&properties, ordinal);
  if (result != hip::kSuccess) return hip::fail(result, "GetDeviceProperties", ordinal);
  const char* name = properties.gcn_arch_name;
  arch->assign(name, strnlen(name, sizeof properties.gcn_arch_name));
  arch->resize(std::min(arch->find(':'), arch->size()));
  return HIPEP_OK;
}

hipep_status choose_target(int32_t ordinal, const std::string& arch, const Images& all, std::string* target) {
  const std::vector<std::string> targets = built_targets(all);
  const auto built = [&](const std::string& wanted) {
    return std::find(targets.begin(), targets.end(), wanted) != targets.end();
  };
  *target = arch;
  if (built(arch)) return HIPEP_OK;
  for (const Family& family : kFamilies) {
    if (arch.compare(0, strlen(family.beginning), family.beginning) != 0 || !built(family.generic)) continue;
    *target = family.generic;
    const int version = hip::api().version;
    if (version >= kGenericSince) return HIPEP_OK;
    return hipep_fail(HIPEP_NO_DRIVER,
                      "amd:%d (%s) runs the kernels for %s, which HIP %d.%d does not load: install ROCm 6.3 or newer, "
                      "or build hipep with %s in -Damd_archs",
                      ordinal, arch.c_str(), family.generic, version / 10000000, version / 100000 % 100, arch.c_str());
  }
  std::string names;
  for (const std::string& each : targets) names += (names.empty() ? "" : ", ") + each;
  return hipep_fail(HIPEP_NO_DRIVER,
                    "no kernels for amd:%d (%s): built are those for %s; build hipep with %s in "
                    "-Damd_archs",
                    ordinal, arch.c_str(), names.c_str(), arch.c_str());
}

}  // namespace

AmdScope::AmdScope(const AmdDevice* device) {
  const hip::Api& api = hip::api();
  if (!api.process.usable()) {
    status_ = api.process.fail("the HIP runtime");
    return;
  }
  const hip::Device wanted = device->info.ordinal;
  hip::Device current = -1;
  // Asked each time: torch and others choose devices for the same thread. HIP keeps it in thread-local storage.
  api.device_get(&current);
  if (current == wanted) return;
  const hip::Result result = api.device_set(wanted);
  if (result != hip::kSuccess) {
    status_ = hip::fail(result, "SetDevice", wanted);
    return;
  }
  previous_ = current;
}

hipep_status AmdDevice::open(int32_t ordinal, const Images* images) {
  const hip::Api& api = hip::api();
  images_ = images;
  info.ordinal = ordinal;
  info.host_memory = HIPEP_MEMORY_GUARDED;
  snprintf(info.backend, sizeof info.backend, "amd");
  std::string arch;
  hipep_status status = read_arch(ordinal, &arch);
  if (status == HIPEP_OK) status = choose_target(ordinal, arch, *images, &target_);
  if (status != HIPEP_OK) return status;
  snprintf(info.arch, sizeof info.arch, "%s", arch.c_str());
  hip::Result result = api.device_name(info.name, sizeof info.name, ordinal);
  if (result != hip::kSuccess) return hip::fail(result, "DeviceGetName", ordinal);
  if (info.name[0] == '\0') snprintf(info.name, sizeof info.name, "AMD %s", arch.c_str());
  size_t memory = 0;
  result = api.device_total_memory(&memory, ordinal);
  if (result != hip::kSuccess) return hip::fail(result, "DeviceTotalMem", ordinal);
  info.memory_bytes = static_cast<int64_t>(memory);

  int32_t shared_bytes = 0;
  const struct {
    hip::DeviceAttribute attribute;
    int32_t* value;
  } attributes[] = {
      {hip::kMaxSharedMemoryPerBlock, &shared_bytes},
      {hip::kWarpSize, &info.warp_size},
      {hip::kMultiprocessorCount, &info.compute_units},
      {hip::kMaxThreadsPerBlock, &info.max_block},
      {hip::kIntegrated, &info.integrated},
  };
  for (const auto& each : attributes) {
    result = api.device_attribute(each.value, each.attribute, ordinal);
    if (result != hip::kSuccess) return hip::fail(result, "DeviceGetAttribute", ordinal);
  }
  info.shared_bytes = shared_bytes;
  if (api.has_graphs) info.graph_launches = kGraphLaunches;
  entry_slot = take_gpu_slot();
  return HIPEP_OK;
}

hipep_status AmdDevice::allocate(size_t bytes, int32_t kind, void** out) {
  AmdScope scope(this);
  if (scope.status() != HIPEP_OK) return scope.status();
  const hip::Api& api = hip::api();
  const bool pinned = kind != HIPEP_KIND_DEVICE;
  const hip::Result result = pinned ? api.host_allocate(out, bytes, hip::kHostAllocPortable | hip::kHostAllocMapped)
                                    : api.memory_allocate(out, bytes);
  if (result == hip::kSuccess) return HIPEP_OK;
  const hipep_status status = hip::fail(result, pinned ? "HostMalloc" : "Malloc", info.ordinal);
  if (status != HIPEP_OUT_OF_MEMORY) return status;
  if (pinned) return hipep_fail(status, "no room for %zu bytes of pinned host memory", bytes);
  size_t free = 0, total = 0;
  api.memory_info(&free, &total);
  return hipep_fail(status, "no room for %zu bytes on amd:%d: %zu of %zu are free", bytes, info.ordinal, free, total);
}

void AmdDevice::free(void* pointer, size_t, int32_t kind) {
  if (!AmdDriver::usable()) return;
  AmdScope scope(this);
  if (scope.status() != HIPEP_OK) return;
  const hip::Result result =
      kind == HIPEP_KIND_DEVICE ? hip::api().memory_free(pointer) : hip::api().host_free(pointer);
  if (result != hip::kSuccess) AmdDriver::clear_error();
}

hipep_status AmdDevice::free_bytes(int64_t* out) {
  AmdScope scope(this);
  if (scope.status() != HIPEP_OK) return scope.status();
  size_t free = 0, total = 0;
  const hip::Result result = hip::api().memory_info(&free, &total);
  if (result != hip::kSuccess) return hip::fail(result, "MemGetInfo", info.ordinal);
  *out = static_cast<int64_t>(free);
  return HIPEP_OK;
}

// The runtime is asked about pointers that are not of a pool: they may be of another library's device memory. Device
// memory of an APU is not readable by this measure: its pages need not be mapped for the host.
bool AmdDevice::host_readable(const void* pointer) {
  const int32_t kind = kind_of(pointer);
  if (kind >= 0) return kind == HIPEP_KIND_HOST_ACCESSIBLE;
  if (is_guarded(pointer) || !AmdDriver::usable()) return false;
  hip::PointerAttributes attributes = {};
  const hip::Result result = hip::api().pointer_attributes(&attributes, pointer);
  if (result != hip::kSuccess) {
    AmdDriver::clear_error();
    return result == hip::kInvalidValue;  // not HIP's: some versions say so, others give type 0
  }
  return attributes.type == hip::kMemoryUnregistered || attributes.type == hip::kMemoryHost ||
         attributes.type == hip::kMemoryManaged;
}

hipep_status AmdDevice::create_stream(void* existing, hipep_stream** out) {
  AmdScope scope(this);
  return scope.status() == HIPEP_OK ? GpuStream<AmdDriver>::create(this, existing, out) : scope.status();
}

hipep_status AmdDevice::create_event(hipep_event** out) {
  AmdScope scope(this);
  return scope.status() == HIPEP_OK ? GpuEvent<AmdDriver>::create(this, out) : scope.status();
}

// Called in the device's scope with the lock held.
hipep_status AmdDevice::load(const char* name, hip::Module* out) {
  const auto at = modules_.find(name);
  if (at != modules_.end()) {
    *out = at->second;
    return HIPEP_OK;
  }
  ImageBytes image;
  const hipep_status found = images_->inflate(std::string(name) + "." + target_, &image);
  if (found != HIPEP_OK) return found;
  const hip::Result result = hip::api().module_load(out, image.get());
  if (result != hip::kSuccess) {
    const hipep_status status = hip::fail(result, "ModuleLoadData", info.ordinal);
    return hipep_fail(status, "kernels of %s for %s: %s", name, target_.c_str(), hipep_last_error());
  }
  image.release();  // the driver reads it as long as the module is loaded
  modules_.emplace(name, *out);
  return HIPEP_OK;
}

hipep_status AmdDevice::resolve(const hipep_kernel& kernel, void** entry) {
  AmdScope scope(this);
  if (scope.status() != HIPEP_OK) return scope.status();
  std::lock_guard<std::mutex> hold(lock_);
  hip::Module module = nullptr;
  const hipep_status status = load(kernel.module, &module);
  if (status != HIPEP_OK) return status;
  hip::Function function = nullptr;
  const hip::Result result = hip::api().module_function(&function, module, kernel.name);
  if (result == hip::kNotFound) {
    AmdDriver::clear_error();
    return hipep_fail(HIPEP_INTERNAL, "the amd kernels have no %s (of %s) for %s: build hipep again", kernel.name,
                      kernel.module, target_.c_str());
  }
  if (result != hip::kSuccess) return hip::fail(result, "ModuleGetFunction", info.ordinal);
  *entry = function;
  return HIPEP_OK;
}

namespace {

int32_t count() {
  int number = 0;
  if (hip::api().device_count(&number) == hip::kSuccess) return number;
  AmdDriver::clear_error();
  return 0;
}

// Devices without kernels keep their numbers, so that a number means what it does to HIP; they fail to open.
const char* problem() {
  const char* now = hip::problem_now();
  if (*now != '\0') return now;
  if (images() == nullptr) return "the kernels of the amd backend are missing: install hipep again";
  const int32_t number = count();
  if (number == 0) {
    return "the HIP runtime finds no AMD GPU: see rocminfo; /dev/kfd and /dev/dri must be there, and the user in the "
           "groups render and video";
  }
  std::string first;
  for (int32_t ordinal = 0; ordinal < number; ++ordinal) {
    std::string arch, target;
    hipep_status status = read_arch(ordinal, &arch);
    if (status == HIPEP_OK) status = choose_target(ordinal, arch, *images(), &target);
    if (status == HIPEP_OK) return "";
    if (first.empty()) first = hipep_last_error();
  }
  hipep_fail(HIPEP_NO_DRIVER, "%s", first.c_str());
  return hipep_last_error();
}

hipep_status open(int32_t ordinal, int32_t, int32_t, hipep_device** out) {
  auto* device = new AmdDevice;
  const hipep_status status = device->open(ordinal, images());
  if (status == HIPEP_OK) *out = device;
  return status;
}

}  // namespace

extern const Backend amd_backend;
const Backend amd_backend = {"amd", problem, count, open};

}  // namespace hipep
