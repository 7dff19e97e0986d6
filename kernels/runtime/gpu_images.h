// Device code of a GPU backend, from the library libhipep_<backend>.so beside this one.
#pragma once

#include <stddef.h>

#include "hipep/runtime.h"

namespace hipep {

// The driver finds the end of the bytes by itself.
struct Image {
  const char* module;  // the kernel file without suffix
  const void* bytes;
};

class Images {
 public:
  // NULL with the reason in the error text.
  static const Images* open(const char* backend);
  // NULL if there is no such module.
  const void* find(const char* module) const;
  // Up to one without a name.
  const Image* begin() const { return first_; }

 private:
  explicit Images(const Image* first) : first_(first) {}
  const Image* first_;
};

}  // namespace hipep
