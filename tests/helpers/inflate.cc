// The decompressor of device code, for a test in Python.
#include "runtime/gpu_inflate.h"

extern "C" int inflate(const uint8_t* from, size_t from_bytes, uint8_t* to, size_t to_bytes) {
  return hipep::inflate(from, from_bytes, to, to_bytes);
}
