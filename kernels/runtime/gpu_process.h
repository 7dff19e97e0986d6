// When a GPU driver must be left alone: in a child of fork(), which has its memory but not its device, and once the
// process has begun to exit, when the driver may have been taken down before this library's last callers.
#pragma once

#include <stdint.h>

#include "hipep/runtime.h"

namespace hipep {

class DriverProcess {
 public:
  // The driver works in this process; called once.
  void opened();
  bool usable() const { return state_ == 0 || !lost(); }
  // Why it is not, named as in "the HIP runtime": the error text is set.
  hipep_status fail(const char* driver) const;

 private:
  bool lost() const;
  uint64_t state_ = 0;  // 0: not opened yet
};

}  // namespace hipep
