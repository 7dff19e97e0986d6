#include "gpu_images.h"

#include <new>
#include <utility>

#include "gpu_inflate.h"
#include "os.h"

namespace hipep {
namespace {

constexpr std::align_val_t kPage{4096};

}  // namespace

void ImageDelete::operator()(void* bytes) const { operator delete(bytes, kPage); }

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
  if (first != nullptr) return new Images(backend, static_cast<const Image*>(first));
  hipep_fail(HIPEP_NO_DRIVER, "%s is not a library of kernels: install hipep again", path.c_str());
  return nullptr;
}

hipep_status Images::inflate(const std::string& module, ImageBytes* out) const {
  const Image* image = first_;
  while (image->module != nullptr && module != image->module) ++image;
  if (image->module == nullptr) {
    return hipep_fail(HIPEP_INTERNAL, "the kernels of the %s backend have no module %s: build hipep again", backend_,
                      module.c_str());
  }
  ImageBytes bytes(operator new(image->bytes, kPage, std::nothrow));
  if (bytes == nullptr) {
    return hipep_fail(HIPEP_OUT_OF_MEMORY, "no room for %zu bytes of kernels of %s", image->bytes, module.c_str());
  }
  if (!hipep::inflate(static_cast<const uint8_t*>(image->deflated), image->deflated_bytes,
                      static_cast<uint8_t*>(bytes.get()), image->bytes)) {
    return hipep_fail(HIPEP_INTERNAL, "the kernels %s of the %s backend are damaged: install hipep again",
                      module.c_str(), backend_);
  }
  *out = std::move(bytes);
  return HIPEP_OK;
}

}  // namespace hipep
