#include <stdarg.h>
#include <stdio.h>

#include <memory>

#include "driver.h"

namespace {

struct Error {
  hipep_status status = HIPEP_OK;
  char text[1024] = "";
};

// On the heap: static thread-local storage for libraries that are opened late is scarce.
std::unique_ptr<Error>& last() {
  static thread_local std::unique_ptr<Error> error;
  return error;
}

}  // namespace

const char* hipep_last_error(void) { return last() == nullptr ? "" : last()->text; }

hipep_status hipep_last_status(void) { return last() == nullptr ? HIPEP_OK : last()->status; }

hipep_status hipep_fail(hipep_status status, const char* format, ...) {
  // Formatted aside: an argument may be the old text.
  Error error;
  error.status = status;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(error.text, sizeof error.text, format, arguments);
  va_end(arguments);
  if (last() == nullptr) last().reset(new Error);
  *last() = error;
  return status;
}

namespace hipep {
HIPEP_FAST_THREAD_LOCAL hipep_counters thread_counters;
}

hipep_counters* hipep_thread_counters(void) { return &hipep::thread_counters; }
