#include <string.h>

#include "hipep/movement.h"

namespace {

hipep_kernel copy_kernel = {"copy", "copy", 256, {}};
hipep_kernel store_kernel = {"copy", "store", 64, {}};

int64_t byte_count(const hipep_tensor& t) {
  return hipep_element_count(&t) * static_cast<int64_t>(hipep_dtype_size(t.dtype));
}

}  // namespace

hipep_status hipep_plan_copy(hipep_emitter* e, const hipep_tensor* x, const hipep_tensor* y) {
  const int64_t bytes = byte_count(*x);
  if (bytes != byte_count(*y)) {
    return hipep_fail(HIPEP_INVALID, "a copy takes %lld bytes of %s to %lld bytes of %s; the sizes must be equal",
                      static_cast<long long>(bytes), hipep_dtype_name(x->dtype), static_cast<long long>(byte_count(*y)),
                      hipep_dtype_name(y->dtype));
  }
  if (bytes == 0) return HIPEP_OK;
  int32_t width = 16;
  while (width > 1 && (x->alignment % width != 0 || y->alignment % width != 0)) width /= 2;
  const hipep_copy_args args = {nullptr, nullptr, bytes, width};
  const hipep_pointer pointers[] = {{offsetof(hipep_copy_args, x), x}, {offsetof(hipep_copy_args, y), y}};
  if (e->debug) hipep_describe(e, "copy, %d-byte accesses", width);
  return hipep_emit(e, &copy_kernel, hipep_grid(e->info, bytes / width + 1, 256), bytes, 50, &args, sizeof args,
                    pointers, 2);
}

hipep_status hipep_plan_store(hipep_emitter* e, const void* bytes, size_t size, const hipep_tensor* y) {
  if (size > HIPEP_STORE_BYTES || static_cast<int64_t>(size) != byte_count(*y)) {
    return hipep_fail(HIPEP_INVALID, "a store of %zu bytes (at most %d) does not fit an output of %lld bytes", size,
                      HIPEP_STORE_BYTES, static_cast<long long>(byte_count(*y)));
  }
  if (size == 0) return HIPEP_OK;
  hipep_store_args args = {};
  args.bytes = static_cast<int64_t>(size);
  memcpy(args.value, bytes, size);
  const hipep_pointer pointer = {offsetof(hipep_store_args, y), y};
  if (e->debug) hipep_describe(e, "store of %zu bytes", size);
  return hipep_emit(e, &store_kernel, 1, args.bytes, 1000, &args, sizeof args, &pointer, 1);
}
