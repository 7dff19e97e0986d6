// The NVIDIA backend: devices and memory.
#include "nvidia.h"

#include <stdio.h>

#include "gpu_stream.h"
#include "guarded.h"

namespace hipep {
namespace {

// Starting a graph costs about as much as starting three kernels, and most of what is between its kernels goes.
constexpr int32_t kGraphLaunches = 4;

}  // namespace

NvidiaScope::NvidiaScope(NvidiaDevice* device) {
  const cuda::Context wanted = device->context();
  if (wanted == nullptr) {
    status_ = HIPEP_DEVICE_ERROR;
    return;
  }
  cuda::Context current = nullptr;
  cuda::api().context_get_current(&current);
  if (current == wanted) return;
  const cuda::Result result = cuda::api().context_set_current(wanted);
  if (result != cuda::kSuccess) {
    status_ = cuda::fail(result, "CtxSetCurrent", device->info.ordinal);
    return;
  }
  previous_ = current;
}

hipep_status NvidiaDevice::open(int32_t ordinal, const Images* images) {
  const cuda::Api& api = cuda::api();
  images_ = images;
  info.ordinal = ordinal;
  snprintf(info.backend, sizeof info.backend, "nvidia");
  cuda::Result result = api.device_get(&device_, ordinal);
  if (result != cuda::kSuccess) return cuda::fail(result, "DeviceGet", ordinal);
  result = api.device_name(info.name, sizeof info.name, device_);
  if (result != cuda::kSuccess) return cuda::fail(result, "DeviceGetName", ordinal);
  size_t memory = 0;
  result = api.device_total_memory(&memory, device_);
  if (result != cuda::kSuccess) return cuda::fail(result, "DeviceTotalMem", ordinal);
  info.memory_bytes = static_cast<int64_t>(memory);

  int32_t major = 0, minor = 0, shared_bytes = 0;
  const struct {
    cuda::DeviceAttribute attribute;
    int32_t* value;
  } attributes[] = {
      {cuda::kComputeCapabilityMajor, &major},
      {cuda::kComputeCapabilityMinor, &minor},
      {cuda::kMaxSharedMemoryPerBlock, &shared_bytes},
      {cuda::kWarpSize, &info.warp_size},
      {cuda::kMultiprocessorCount, &info.compute_units},
      {cuda::kMaxThreadsPerBlock, &info.max_block},
      {cuda::kIntegrated, &info.integrated},
  };
  for (const auto& each : attributes) {
    result = api.device_attribute(each.value, each.attribute, device_);
    if (result != cuda::kSuccess) return cuda::fail(result, "DeviceGetAttribute", ordinal);
  }
  snprintf(info.arch, sizeof info.arch, "sm_%d%d", major, minor);
  info.shared_bytes = shared_bytes;
  if (api.has_graphs) info.graph_launches = kGraphLaunches;
  info.host_memory = HIPEP_MEMORY_GUARDED;
  entry_slot = take_gpu_slot();
  return HIPEP_OK;
}

cuda::Context NvidiaDevice::context() {
  if (!cuda::process().usable()) {
    cuda::fail_unusable();
    return nullptr;
  }
  if (context_.load(std::memory_order_acquire) == nullptr) retain_context();
  return context_.load(std::memory_order_acquire);
}

hipep_status NvidiaDevice::retain_context() {
  std::lock_guard<std::mutex> hold(lock_);
  if (context_.load(std::memory_order_relaxed) != nullptr) return HIPEP_OK;
  cuda::Context context = nullptr;
  const cuda::Result result = cuda::api().primary_context_retain(&context, device_);
  if (result != cuda::kSuccess) return cuda::fail(result, "DevicePrimaryCtxRetain", info.ordinal);
  context_.store(context, std::memory_order_release);
  return HIPEP_OK;
}

hipep_status NvidiaDevice::allocate(size_t bytes, int32_t kind, void** out) {
  NvidiaScope scope(this);
  if (scope.status() != HIPEP_OK) return scope.status();
  cuda::Result result;
  if (kind == HIPEP_KIND_DEVICE) {
    cuda::Pointer pointer = 0;
    result = cuda::api().memory_allocate(&pointer, bytes);
    *out = reinterpret_cast<void*>(pointer);
  } else {
    result = cuda::api().host_allocate(out, bytes, cuda::kHostAllocPortable | cuda::kHostAllocMapped);
  }
  if (result == cuda::kSuccess) return HIPEP_OK;
  if (result != cuda::kOutOfMemory) {
    return cuda::fail(result, kind == HIPEP_KIND_DEVICE ? "MemAlloc" : "MemHostAlloc", info.ordinal);
  }
  if (kind != HIPEP_KIND_DEVICE) {
    return hipep_fail(HIPEP_OUT_OF_MEMORY, "no room for %zu bytes of pinned host memory", bytes);
  }
  size_t free = 0, total = 0;
  cuda::api().memory_info(&free, &total);
  return hipep_fail(HIPEP_OUT_OF_MEMORY, "no room for %zu bytes on nvidia:%d: %zu of %zu are free", bytes, info.ordinal,
                    free, total);
}

void NvidiaDevice::free(void* pointer, size_t, int32_t kind) {
  if (!cuda::process().usable()) return;
  NvidiaScope scope(this);
  if (scope.status() != HIPEP_OK) return;
  if (kind == HIPEP_KIND_DEVICE) {
    cuda::api().memory_free(reinterpret_cast<cuda::Pointer>(pointer));
  } else {
    cuda::api().host_free(pointer);
  }
}

hipep_status NvidiaDevice::free_bytes(int64_t* out) {
  NvidiaScope scope(this);
  if (scope.status() != HIPEP_OK) return scope.status();
  size_t free = 0, total = 0;
  const cuda::Result result = cuda::api().memory_info(&free, &total);
  if (result != cuda::kSuccess) return cuda::fail(result, "MemGetInfo", info.ordinal);
  *out = static_cast<int64_t>(free);
  return HIPEP_OK;
}

// The driver is asked about pointers that are not of a pool: they may be of another library's device memory.
bool NvidiaDevice::host_readable(const void* pointer) {
  const int32_t kind = kind_of(pointer);
  if (kind >= 0) return kind == HIPEP_KIND_HOST_ACCESSIBLE;
  if (is_guarded(pointer)) return false;
  NvidiaScope scope(this);
  if (scope.status() != HIPEP_OK) return false;
  unsigned type = 0;
  const cuda::Result result =
      cuda::api().pointer_attribute(&type, cuda::kMemoryType, reinterpret_cast<cuda::Pointer>(pointer));
  return result == cuda::kInvalidValue || (result == cuda::kSuccess && type == cuda::kMemoryHost);
}

hipep_status NvidiaDevice::create_stream(void* existing, hipep_stream** out) {
  NvidiaScope scope(this);
  return scope.status() != HIPEP_OK ? scope.status() : GpuStream<NvidiaDriver>::create(this, existing, out);
}

hipep_status NvidiaDevice::create_event(hipep_event** out) {
  NvidiaScope scope(this);
  return scope.status() != HIPEP_OK ? scope.status() : GpuEvent<NvidiaDriver>::create(this, out);
}

// Called in the device's scope with the lock held.
hipep_status NvidiaDevice::load(const char* name, cuda::Module* out) {
  const auto at = modules_.find(name);
  if (at != modules_.end()) {
    *out = at->second;
    return HIPEP_OK;
  }
  ImageBytes image;
  const hipep_status found = images_->inflate(name, &image);
  if (found != HIPEP_OK) return found;
  const cuda::Result result = cuda::api().module_load(out, image.get());
  if (result == cuda::kNoBinaryForGpu || result == cuda::kUnsupportedPtxVersion) {
    return hipep_fail(
        HIPEP_UNSUPPORTED,
        "no kernels for nvidia:%d (%s, %s): build hipep with that number in -Dnvidia_archs, or update the "
        "driver",
        info.ordinal, info.name, info.arch);
  }
  if (result != cuda::kSuccess) return cuda::fail(result, "ModuleLoadData", info.ordinal);
  image.release();  // the driver reads it as long as the module is loaded
  modules_.emplace(name, *out);
  return HIPEP_OK;
}

hipep_status NvidiaDevice::resolve(const hipep_kernel& kernel, void** entry) {
  NvidiaScope scope(this);
  if (scope.status() != HIPEP_OK) return scope.status();
  cuda::Module module = nullptr;
  {
    std::lock_guard<std::mutex> hold(lock_);
    const hipep_status status = load(kernel.module, &module);
    if (status != HIPEP_OK) return status;
  }
  cuda::Function function = nullptr;
  int threads = 0;
  cuda::Result result = cuda::api().module_function(&function, module, kernel.name);
  if (result == cuda::kSuccess) {
    result = cuda::api().function_attribute(&threads, cuda::kFunctionMaxThreadsPerBlock, function);
  }
  if (result != cuda::kSuccess || threads < static_cast<int>(kernel.block)) {
    return hipep_fail(HIPEP_INTERNAL, "the nvidia kernels have no %s (of %s) with blocks of %u threads", kernel.name,
                      kernel.module, kernel.block);
  }
  *entry = function;
  return HIPEP_OK;
}

namespace {

struct Kernels {
  const Images* images = Images::open("nvidia");
  const std::string problem = images == nullptr ? hipep_last_error() : "";
};
const Kernels& kernels() {
  static const auto* one = new Kernels;
  return *one;
}

const char* problem() {
  if (*cuda::api().problem != '\0') return cuda::api().problem;
  if (cuda::process().usable()) return kernels().problem.c_str();
  cuda::fail_unusable();
  return hipep_last_error();
}

int32_t count() {
  int number = 0;
  return cuda::api().device_count(&number) == cuda::kSuccess ? number : 0;
}

hipep_status open(int32_t ordinal, int32_t, int32_t, hipep_device** out) {
  auto* device = new NvidiaDevice;
  const hipep_status status = device->open(ordinal, kernels().images);
  if (status == HIPEP_OK) {
    *out = device;
  } else {
    delete device;
  }
  return status;
}

}  // namespace

extern const Backend nvidia_backend;
const Backend nvidia_backend = {"nvidia", problem, count, open};

}  // namespace hipep
