// The two ways in which the host backend runs kernels.
#pragma once

#include "driver.h"

namespace hipep {

// Kernels by name.
class KernelLibrary {
 public:
  virtual void* find(const char* name, uint32_t block) = 0;
  virtual hipep_stream* create_stream() = 0;  // NULL: no thread to be had
  virtual hipep_event* create_event() = 0;
  virtual const char* arch() = 0;

 protected:
  ~KernelLibrary() = default;  // stays open until the process ends
};

// Both open once and are called by one thread at a time.
// Kernels compiled for one thread, run by the caller when they are launched.
hipep_status open_serial(KernelLibrary** out);
// Kernels in blocks of fibers with warps of 32 or 64, run by a thread of the stream.
hipep_status open_faithful(int32_t warp_size, KernelLibrary** out);

}  // namespace hipep
