#include "nvidia_api.h"

#include <stdio.h>

#include <string>

#include "os.h"

namespace hipep {
namespace cuda {
namespace {

constexpr const char* kLibrary = "libcuda.so.1";
// From here on the driver's results mean that a kernel has failed and took the context with it.
constexpr Result kFirstFault = 700, kLastFault = 719;
constexpr Result kTooManyResources = 701, kPeerAccessAlreadyEnabled = 704, kPeerAccessNotEnabled = 705;

DriverProcess opened_in;

bool is_fault(Result result) {
  return result >= kFirstFault && result <= kLastFault && result != kTooManyResources &&
         result != kPeerAccessAlreadyEnabled && result != kPeerAccessNotEnabled;
}

const char* find_functions(Api* api, void* library) {
#define HIPEP_CUDA_FIND(name, symbol, parameters)                                       \
  api->name = reinterpret_cast<decltype(api->name)>(os::find_symbol(library, #symbol)); \
  if (api->name == nullptr) return #symbol;
  HIPEP_CUDA_FUNCTIONS(HIPEP_CUDA_FIND)
#undef HIPEP_CUDA_FIND
  api->has_graphs = true;
#define HIPEP_CUDA_FIND(name, symbol, parameters)                                       \
  api->name = reinterpret_cast<decltype(api->name)>(os::find_symbol(library, #symbol)); \
  api->has_graphs = api->has_graphs && api->name != nullptr;
  HIPEP_CUDA_GRAPH_FUNCTIONS(HIPEP_CUDA_FIND)
#undef HIPEP_CUDA_FIND
  return nullptr;
}

void open(Api* api) {
  std::string error;
  void* library = os::open_library(kLibrary, &error);
  if (library == nullptr) {
    snprintf(api->problem, sizeof api->problem, "no NVIDIA driver: %s", error.c_str());
    return;
  }
  const char* missing = find_functions(api, library);
  if (missing != nullptr) {
    snprintf(api->problem, sizeof api->problem, "the NVIDIA driver is too old: %s has no %s; update the driver",
             kLibrary, missing);
    return;
  }
  const Result result = api->init(0);
  if (result == kSuccess) {
    opened_in.opened();
    return;
  }
  const char* text = nullptr;
  api->error_string(result, &text);
  snprintf(api->problem, sizeof api->problem, "the NVIDIA driver does not start: cuInit: %s (%d); see nvidia-smi",
           text == nullptr ? "unknown error" : text, result);
}

}  // namespace

const Api& api() {
  static const Api* one = [] {
    auto* opened = new Api{};
    open(opened);
    return opened;
  }();
  return *one;
}

const DriverProcess& process() { return opened_in; }

hipep_status fail_unusable() { return opened_in.fail("the NVIDIA driver"); }

hipep_status fail(Result result, const char* call, int32_t ordinal) {
  const char *name = nullptr, *text = nullptr;
  api().error_name(result, &name);
  api().error_string(result, &text);
  const hipep_status status = result == kOutOfMemory ? HIPEP_OUT_OF_MEMORY : HIPEP_DEVICE_ERROR;
  return hipep_fail(status, "cu%s on nvidia:%d: %s (%s)%s", call, ordinal, text == nullptr ? "unknown error" : text,
                    name == nullptr ? "no name" : name,
                    is_fault(result) ? "; the device can be used again in a new process only" : "");
}

}  // namespace cuda
}  // namespace hipep
