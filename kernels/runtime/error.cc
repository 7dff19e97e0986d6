#include <stdarg.h>
#include <stdio.h>

#include <memory>

#include "driver.h"

// The text is on the heap: static thread-local storage for libraries that are opened late is scarce.
static std::unique_ptr<char[]>& error_text() {
  static thread_local std::unique_ptr<char[]> text;
  return text;
}

static constexpr size_t kErrorBytes = 1024;

const char* hipep_last_error(void) {
  const char* text = error_text().get();
  return text == nullptr ? "" : text;
}

hipep_status hipep_fail(hipep_status status, const char* format, ...) {
  // Formatted aside: an argument may be the old text.
  char text[kErrorBytes];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  auto& kept = error_text();
  if (kept == nullptr) kept.reset(new char[kErrorBytes]);
  snprintf(kept.get(), kErrorBytes, "%s", text);
  return status;
}

namespace hipep {
HIPEP_FAST_THREAD_LOCAL hipep_counters thread_counters;
}

hipep_counters* hipep_thread_counters(void) { return &hipep::thread_counters; }
