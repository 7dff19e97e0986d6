// Device code of a GPU backend, from the library libhipep_<backend>.so beside this one.
#pragma once

#include <stddef.h>

#include <memory>
#include <string>

#include "hipep/runtime.h"

namespace hipep {

struct Image {
  const char* module;    // the kernel file without suffix, and the target after a dot where each has a file
  const void* deflated;  // a zlib stream
  size_t deflated_bytes;
  size_t bytes;
};

struct ImageDelete {
  void operator()(void* bytes) const;
};
// Begins at a page: code objects are files that are mapped.
using ImageBytes = std::unique_ptr<void, ImageDelete>;

class Images {
 public:
  // NULL with the reason in the error text.
  static const Images* open(const char* backend);
  hipep_status inflate(const std::string& module, ImageBytes* out) const;
  // Up to one without a name.
  const Image* begin() const { return first_; }

 private:
  Images(const char* backend, const Image* first) : backend_(backend), first_(first) {}
  const char* backend_;
  const Image* first_;
};

}  // namespace hipep
