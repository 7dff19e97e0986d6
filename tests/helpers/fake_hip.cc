// A stand-in for libamdhip64.so: memory of the host, streams that run in order, and a log of every call.
//
// The environment says what it is: FAKE_HIP_VERSION (70051831), FAKE_HIP_DEVICES (architectures, "gfx1151"; empty: no
// device), FAKE_HIP_MEMORY (bytes of each device), FAKE_HIP_NAME, FAKE_HIP_INTEGRATED and FAKE_HIP_UNREGISTERED (the
// result of asking for the attributes of foreign pointers). FAKE_HIP_5 at compile time leaves out what HIP 5 lacks,
// FAKE_HIP_NO_GRAPHS a function of graphs.
//
// A code object is the text "FAKE <target>" and a line "<kernel> <bytes of its argument>" for each kernel, or one that
// a compiler has made, whose kernels are found but whose arguments are not logged.
#include "fake_hip.h"

// ---- For the test ----
extern "C" __attribute__((visibility("default"))) const char* fake_hip_take_log() {
  static std::string taken;
  std::lock_guard<std::recursive_mutex> hold(state().lock);
  taken = std::move(state().log);
  state().log.clear();
  return taken.c_str();
}
extern "C" __attribute__((visibility("default"))) void fake_hip_fail(const char* call, int at, int result) {
  std::lock_guard<std::recursive_mutex> hold(state().lock);
  state().failures[call] = {at, result};
}
// Work stays enqueued until somebody waits for it.
extern "C" __attribute__((visibility("default"))) void fake_hip_defer(int deferred) {
  std::lock_guard<std::recursive_mutex> hold(state().lock);
  state().deferred = deferred;
}
// Called at each launch that is captured.
extern "C" __attribute__((visibility("default"))) void fake_hip_during_capture(void (*function)()) {
  std::lock_guard<std::recursive_mutex> hold(state().lock);
  state().during_capture = function;
}
extern "C" __attribute__((visibility("default"))) const char* fake_hip_path() {
  Dl_info info;
  dladdr(reinterpret_cast<void*>(&fake_hip_path), &info);
  return info.dli_fname;
}

// ---- Devices ----
HIP hipRuntimeGetVersion(int* version) {
  *version = atoi(setting("FAKE_HIP_VERSION", "70051831").c_str());
  return kSuccess;
}
HIP hipGetLastError() {
  const int error = last_error;
  last_error = kSuccess;
  return error;
}
extern "C" __attribute__((visibility("default"))) const char* hipGetErrorName(int error) {
  return error == kOutOfMemory ? "hipErrorOutOfMemory" : error == 719 ? "hipErrorLaunchFailure" : "hipErrorOther";
}
extern "C" __attribute__((visibility("default"))) const char* hipGetErrorString(int error) {
  return error == kOutOfMemory ? "out of memory" : error == 719 ? "unspecified launch failure" : "another error";
}
HIP hipGetDeviceCount(int* count) {
  ENTER("hipGetDeviceCount", "%s", "");
  *count = static_cast<int>(devices().size());
  return *count == 0 ? result_of(kNoDevice) : kSuccess;
}
HIP hipGetDevice(int* device) {
  *device = current;
  return kSuccess;
}
HIP hipSetDevice(int device) {
  ENTER("hipSetDevice", "device=%d", device);
  if (device < 0 || device >= static_cast<int>(devices().size())) return result_of(kInvalidDevice);
  current = device;
  return kSuccess;
}
HIP hipDeviceGetName(char* name, int length, int device) {
  ENTER("hipDeviceGetName", "device=%d", device);
  snprintf(name, length, "%s", setting("FAKE_HIP_NAME", ("Fake Radeon " + std::to_string(device)).c_str()).c_str());
  return kSuccess;
}
HIP hipDeviceTotalMem(size_t* bytes, int device) {
  ENTER("hipDeviceTotalMem", "device=%d", device);
  *bytes = memory();
  return kSuccess;
}
HIP hipDeviceGetAttribute(int* value, int attribute, int device) {
  ENTER("hipDeviceGetAttribute", "attribute=%d device=%d", attribute, device);
  const bool wide = devices()[device].compare(0, 4, "gfx9") == 0;
  switch (attribute) {
    case 16: *value = atoi(setting("FAKE_HIP_INTEGRATED", "0").c_str()); return kSuccess;
    case 56: *value = 1024; return kSuccess;
    case 63: *value = 20; return kSuccess;
    case 74: *value = 65536; return kSuccess;
    case 87: *value = wide ? 64 : 32; return kSuccess;
    default: return result_of(kInvalidValue);
  }
}
#ifndef FAKE_HIP_5
HIP hipGetDevicePropertiesR0600(char* properties, int device) {
  ENTER("hipGetDevicePropertiesR0600", "device=%d", device);
  memset(properties, 0xff, 1472);
  snprintf(properties + 1160, 256, "%s", devices()[device].c_str());
  return kSuccess;
}
#endif

// ---- Memory ----
HIP hipMemGetInfo(size_t* free, size_t* total) {
  ENTER("hipMemGetInfo", "%s", "");
  *total = memory();
  *free = *total - state().used[current];
  return kSuccess;
}
HIP hipMalloc(void** pointer, size_t bytes) {
  ENTER("hipMalloc", "bytes=%zu", bytes);
  return allocate(pointer, bytes, 2);
}
HIP hipFree(void* pointer) {
  ENTER("hipFree", "%s", "");
  return release(pointer);
}
HIP hipHostMalloc(void** pointer, size_t bytes, unsigned flags) {
  ENTER("hipHostMalloc", "bytes=%zu flags=%u", bytes, flags);
  return allocate(pointer, bytes, 1);
}
HIP hipHostFree(void* pointer) {
  ENTER("hipHostFree", "%s", "");
  return release(pointer);
}
HIP hipPointerGetAttributes(int* attributes, const void* pointer) {
  ENTER("hipPointerGetAttributes", "%s", "");
  memset(attributes, 0, 32);
  auto at = state().allocations.upper_bound(pointer);
  if (at != state().allocations.begin()) {
    --at;
    const auto begin = static_cast<const char*>(at->first);
    if (static_cast<const char*>(pointer) < begin + at->second.bytes) {
      attributes[0] = at->second.type;
      attributes[1] = at->second.device;
      return kSuccess;
    }
  }
  return result_of(atoi(setting("FAKE_HIP_UNREGISTERED", "0").c_str()));
}

// ---- Streams and events ----
HIP hipStreamCreateWithFlags(Stream** stream, unsigned flags) {
  ENTER("hipStreamCreateWithFlags", "flags=%u", flags);
  state().streams.push_back(*stream = new Stream{static_cast<int>(state().streams.size()), current});
  return kSuccess;
}
HIP hipStreamDestroy(Stream* stream) {
  ENTER("hipStreamDestroy", "stream=%d", stream->id);
  stream->run();
  return kSuccess;
}
HIP hipStreamQuery(Stream* stream) {
  ENTER("hipStreamQuery", "stream=%d", stream->id);
  if (stream->capture != nullptr) {
    stream->capture->broken = true;
    return result_of(kCaptureUnsupported);
  }
  return stream->work.empty() ? kSuccess : result_of(kNotReady);
}
HIP hipMemcpyAsync(void* to, const void* from, size_t bytes, int kind, Stream* stream) {
  ENTER("hipMemcpyAsync", "bytes=%zu kind=%d stream=%d", bytes, kind, stream == nullptr ? -1 : stream->id);
  if (stream == nullptr) return result_of(kInvalidHandle);
  enqueue(stream, [=] { memcpy(to, from, bytes); });
  return kSuccess;
}
HIP hipEventCreateWithFlags(Event** event, unsigned flags) {
  ENTER("hipEventCreateWithFlags", "flags=%u", flags);
  *event = new Event{current};
  return kSuccess;
}
HIP hipEventDestroy(Event*) {
  ENTER("hipEventDestroy", "%s", "");
  return kSuccess;
}
HIP hipEventRecord(Event* event, Stream* stream) {
  ENTER("hipEventRecord", "stream=%d", stream->id);
  if (event->device != stream->device) return result_of(kInvalidHandle);
  event->done = false;
  event->stream = stream;
  enqueue(stream, [=] { event->done = true; });
  return kSuccess;
}
HIP hipStreamWaitEvent(Stream* stream, Event* event, unsigned flags) {
  ENTER("hipStreamWaitEvent", "stream=%d flags=%u", stream->id, flags);
  enqueue(stream, [=] {
    while (!event->done) event->stream->run(event->stream->work.size() - 1);
  });
  return kSuccess;
}
HIP hipEventQuery(Event* event) {
  ENTER("hipEventQuery", "%s", "");
  return event->done ? kSuccess : result_of(kNotReady);
}
HIP hipEventSynchronize(Event* event) {
  ENTER("hipEventSynchronize", "%s", "");
  while (!event->done) event->stream->run(event->stream->work.size() - 1);
  return kSuccess;
}

// ---- Kernels ----
HIP hipModuleLoadData(Module** module, const void* image) {
  std::istringstream text(memcmp(image, "FAKE ", 5) == 0 ? static_cast<const char*>(image) : "");
  std::string word, target;
  text >> word >> target;
  const bool compiled = memcmp(image, ELFMAG, SELFMAG) == 0;
  if (compiled) target = "elf";
  ENTER("hipModuleLoadData", "target=%s", target.c_str());
  if (target.empty()) return result_of(kInvalidImage);
  *module = new Module;
  if (compiled) read_elf(static_cast<const char*>(image), *module);
  size_t bytes;
  while (text >> word >> bytes) (*module)->functions[word] = {word, bytes, current};
  return kSuccess;
}
HIP hipModuleGetFunction(Function** function, Module* module, const char* name) {
  ENTER("hipModuleGetFunction", "name=%s", name);
  const auto at = module->functions.find(name);
  if (at == module->functions.end()) return result_of(kNotFound);
  *function = &at->second;
  return kSuccess;
}
HIP hipModuleLaunchKernel(Function* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                          unsigned bz, unsigned shared, Stream* stream, void** parameters, void** extra) {
  std::string hex;
  for (size_t i = 0; i < function->bytes; ++i) {
    char digits[3];
    snprintf(digits, sizeof digits, "%02x", static_cast<unsigned char*>(parameters[0])[i]);
    hex += digits;
  }
  ENTER("hipModuleLaunchKernel", "kernel=%s grid=%u,%u,%u block=%u,%u,%u shared=%u stream=%d extra=%d args=%s",
        function->name.c_str(), gx, gy, gz, bx, by, bz, shared, stream == nullptr ? -1 : stream->id, extra != nullptr,
        hex.c_str());
  if (last_error != kSuccess) return last_error;  // left by an earlier call, as HIP 7 does
  if (stream == nullptr || stream->device != function->device) return result_of(kInvalidHandle);
  if (stream->capture != nullptr) {
    stream->capture->kernels += (stream->capture->kernels.empty() ? "" : ",") + function->name;
    if (state().during_capture != nullptr) state().during_capture();
  } else {
    enqueue(stream, [] {});
  }
  return kSuccess;
}

// ---- Graphs ----
HIP hipStreamBeginCapture(Stream* stream, int mode) {
  ENTER("hipStreamBeginCapture", "stream=%d mode=%d", stream->id, mode);
  stream->capture = new Graph;
  return kSuccess;
}
HIP hipStreamEndCapture(Stream* stream, Graph** graph) {
  ENTER("hipStreamEndCapture", "stream=%d", stream->id);
  *graph = stream->capture->broken ? nullptr : stream->capture;
  stream->capture = nullptr;
  return *graph == nullptr ? result_of(kCaptureInvalidated) : kSuccess;
}
HIP hipGraphInstantiateWithFlags(Graph** out, Graph* graph, unsigned long long flags) {
  ENTER("hipGraphInstantiateWithFlags", "kernels=%s flags=%llu", graph->kernels.c_str(), flags);
  *out = new Graph(*graph);
  return kSuccess;
}
HIP hipGraphDestroy(Graph* graph) {
  ENTER("hipGraphDestroy", "%s", "");
  delete graph;
  return kSuccess;
}
HIP hipGraphExecDestroy(Graph* graph) {
  ENTER("hipGraphExecDestroy", "kernels=%s", graph->kernels.c_str());
  delete graph;
  return kSuccess;
}
#ifndef FAKE_HIP_NO_GRAPHS
HIP hipGraphLaunch(Graph* graph, Stream* stream) {
  ENTER("hipGraphLaunch", "kernels=%s stream=%d", graph->kernels.c_str(), stream->id);
  enqueue(stream, [] {});
  return kSuccess;
}
#endif
