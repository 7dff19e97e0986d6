#include "gpu_images.h"

#include <string.h>

#include <string>

#include "os.h"

namespace hipep {

const Images* Images::open(const char* backend) {
  const std::string path = os::own_folder() + "/libhipep_" + backend + ".so";
  const std::string table = std::string("hipep_") + backend + "_images";
  std::string error;
  void* library = os::open_library(path.c_str(), &error);
  if (library == nullptr) {
    hipep_fail(HIPEP_NO_DRIVER, "the kernels of the %s backend are missing: install hipep again (%s)", backend,
               error.c_str());
    return nullptr;
  }
  const void* first = os::find_symbol(library, table.c_str());
  if (first != nullptr) return new Images(static_cast<const Image*>(first));
  hipep_fail(HIPEP_NO_DRIVER, "%s is not a library of kernels: install hipep again", path.c_str());
  return nullptr;
}

const void* Images::find(const char* module) const {
  for (const Image* image = first_; image->module != nullptr; ++image) {
    if (strcmp(image->module, module) == 0) return image->bytes;
  }
  return nullptr;
}

}  // namespace hipep
