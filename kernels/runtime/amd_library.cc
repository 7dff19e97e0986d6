// Where the HIP runtime is found.
#include <stdlib.h>

#include <vector>

#include "amd_api.h"
#include "os.h"

namespace hipep {
namespace hip {
namespace {

constexpr const char* kFile = "libamdhip64.so";

// In the order in which they are tried. Names without a folder are for the loader, LD_LIBRARY_PATH included. A name
// without a version comes last: it may be any version, which is then refused by name.
std::vector<std::string> candidates() {
  const std::string file = kFile;
  std::vector<std::string> all = {file + ".7", file + ".6"};
  const char* hip = getenv("HIP_PATH");
  const char* rocm = getenv("ROCM_PATH");
  for (const char* root : {hip, rocm, "/opt/rocm"}) {
    if (root == nullptr || *root == '\0') continue;
    for (const char* version : {".7", ".6", ""}) all.push_back(std::string(root) + "/lib/" + file + version);
  }
  all.push_back(file);
  all.push_back(file + ".5");
  return all;
}

}  // namespace

void* open_runtime(std::string* path, std::string* error) {
  // A copy that is there already, of torch or of a rocm_sdk wheel, is the one: two in a process break each other.
  const std::vector<std::string> loaded = os::loaded_libraries(kFile);
  std::string broken;
  for (const std::string& candidate : loaded.empty() ? candidates() : loaded) {
    std::string reason;
    void* library = os::open_library(candidate.c_str(), &reason);
    if (library != nullptr) {
      const std::vector<std::string> now = os::loaded_libraries(kFile);
      *path = now.empty() ? candidate : now.front();
      return library;
    }
    // The loader names the file that is missing: another one, which a copy that is there needs, is worth telling.
    const bool absent = reason.compare(0, candidate.size() + 1, candidate + ":") == 0 &&
                        reason.find("No such file") != std::string::npos;
    if (!absent && broken.empty()) broken = candidate + ": " + reason;
  }
  *error = broken.empty() ? "no libamdhip64.so.7 or libamdhip64.so.6 on the library path, in HIP_PATH, ROCM_PATH or "
                            "/opt/rocm: install ROCm 6 or newer, or set ROCM_PATH to where it is"
                          : "the HIP runtime cannot be loaded: " + broken;
  return nullptr;
}

std::string copies_problem() {
  const std::vector<std::string> loaded = os::loaded_libraries(kFile);
  if (loaded.size() < 2) return "";
  return "two copies of the HIP runtime are in this process, " + loaded[0] + " and " + loaded[1] +
         ": import the package that brings its own (torch) before the first use of hipep, which then takes that copy";
}

}  // namespace hip
}  // namespace hipep
