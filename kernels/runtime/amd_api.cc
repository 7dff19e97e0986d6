#include "amd_api.h"

#include <stdio.h>

#include "os.h"

namespace hipep {
namespace hip {
namespace {

constexpr int kOldestVersion = 60000000;  // 10,000,000 * major + 100,000 * minor + patch
constexpr Result kIllegalAddress = 700;

const char* find_functions(Api* api, void* library) {
#define HIPEP_HIP_FIND(name, symbol, parameters)                                        \
  api->name = reinterpret_cast<decltype(api->name)>(os::find_symbol(library, #symbol)); \
  if (api->name == nullptr) return #symbol;
  HIPEP_HIP_FUNCTIONS(HIPEP_HIP_FIND)
#undef HIPEP_HIP_FIND
  api->has_graphs = true;
#define HIPEP_HIP_FIND(name, symbol, parameters)                                        \
  api->name = reinterpret_cast<decltype(api->name)>(os::find_symbol(library, #symbol)); \
  api->has_graphs = api->has_graphs && api->name != nullptr;
  HIPEP_HIP_GRAPH_FUNCTIONS(HIPEP_HIP_FIND)
#undef HIPEP_HIP_FIND
  api->error_name = reinterpret_cast<decltype(api->error_name)>(os::find_symbol(library, "hipGetErrorName"));
  api->error_string = reinterpret_cast<decltype(api->error_string)>(os::find_symbol(library, "hipGetErrorString"));
  return api->error_name == nullptr ? "hipGetErrorName" : api->error_string == nullptr ? "hipGetErrorString" : nullptr;
}

void open(Api* api) {
  std::string path, error;
  void* library = open_runtime(&path, &error);
  if (library == nullptr) {
    snprintf(api->problem, sizeof api->problem, "%s", error.c_str());
    return;
  }
  const char* missing = find_functions(api, library);
  if (api->runtime_version != nullptr) api->runtime_version(&api->version);
  if (api->version > 0 && api->version < kOldestVersion) {
    snprintf(api->problem, sizeof api->problem, "%s is HIP %d.%d, hipep needs HIP 6 or newer: install ROCm 6 or newer",
             path.c_str(), api->version / 10000000, api->version / 100000 % 100);
  } else if (missing != nullptr) {
    snprintf(api->problem, sizeof api->problem, "%s has no %s, hipep needs HIP 6 or newer: install ROCm 6 or newer",
             path.c_str(), missing);
  } else {
    int count = 0;
    api->device_count(&count);  // makes the runtime start, so that it ends after what is registered now
    api->last_error();
    api->process.opened();
  }
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

const char* problem_now() {
  if (*api().problem != '\0') return api().problem;
  const std::string copies = copies_problem();
  if (!copies.empty()) {
    hipep_fail(HIPEP_NO_DRIVER, "%s", copies.c_str());
  } else if (!api().process.usable()) {
    api().process.fail("the HIP runtime");
  } else {
    return "";
  }
  return hipep_last_error();
}

hipep_status fail(Result result, const char* call, int32_t ordinal) {
  api().last_error();
  const hipep_status status = result == kOutOfMemory ? HIPEP_OUT_OF_MEMORY : HIPEP_DEVICE_ERROR;
  return hipep_fail(status, "hip%s on amd:%d: %s (%s)%s", call, ordinal, api().error_string(result),
                    api().error_name(result),
                    result == kIllegalAddress ? "; the device can be used again in a new process only" : "");
}

}  // namespace hip
}  // namespace hipep
