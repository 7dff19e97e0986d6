// Host memory that only this library can reach: kernels and copies see it at another address than the one given out,
// and the one given out faults. One heap for the process, so that any host device maps any pointer.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "hipep/runtime.h"

namespace hipep {

struct GuardedRange {
  uintptr_t begin = 0;
  uintptr_t bytes = 0;  // 0 until the first guarded device opens; the readable image follows the range
};
extern GuardedRange guarded_range __attribute__((visibility("hidden")));

inline bool is_guarded(const void* pointer) {
  return reinterpret_cast<uintptr_t>(pointer) - guarded_range.begin < guarded_range.bytes;
}
inline void* guarded_map(const void* pointer) {
  char* at = static_cast<char*>(const_cast<void*>(pointer));
  return is_guarded(at) ? at + guarded_range.bytes : at;
}

// Reserves the range; once.
hipep_status guarded_open();
hipep_status guarded_allocate(size_t bytes, void** out);
void guarded_free(void* pointer, size_t bytes);
int64_t guarded_free_bytes();

}  // namespace hipep
