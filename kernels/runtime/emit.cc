#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hipep/plan.h"

namespace {

constexpr uint32_t kArgsAlignment = 16;

template <class T, class Count>
bool grow(T** array, Count* capacity, size_t needed, size_t first) {
  size_t wanted = *capacity == 0 ? first : static_cast<size_t>(*capacity);
  while (wanted < needed) wanted *= 2;
  void* grown = wanted > INT32_MAX ? nullptr : realloc(*array, wanted * sizeof(T));
  if (grown == nullptr) return false;
  *array = static_cast<T*>(grown);
  *capacity = static_cast<Count>(wanted);
  return true;
}

hipep_status no_memory(const hipep_kernel* kernel) {
  return hipep_fail(HIPEP_OUT_OF_MEMORY, "no host memory to plan the launch of kernel %s", kernel->name);
}

}  // namespace

hipep_status hipep_emit(hipep_emitter* emitter, hipep_kernel* kernel, uint32_t grid, int64_t units, int64_t unit_cost,
                        const void* args, size_t args_bytes, const hipep_pointer* pointers, int32_t pointer_count) {
  if (grid == 0 || units < 1 || args_bytes > HIPEP_MAX_ARGS_BYTES) {
    return hipep_fail(HIPEP_INTERNAL,
                      "kernel %s was planned with grid %u, %lld units and %zu argument bytes (most: %d)", kernel->name,
                      grid, static_cast<long long>(units), args_bytes, HIPEP_MAX_ARGS_BYTES);
  }
  void* entry;
  const hipep_status status = hipep_kernel_resolve(emitter->device, kernel, &entry);
  if (status != HIPEP_OK) return status;

  const size_t begin = (emitter->args_bytes + size_t{kArgsAlignment - 1}) & ~size_t{kArgsAlignment - 1};
  if ((emitter->launch_count == emitter->launch_capacity &&
       !grow(&emitter->launches, &emitter->launch_capacity, size_t(emitter->launch_count) + 1, 16)) ||
      (begin + args_bytes > emitter->args_capacity &&
       !grow(&emitter->args, &emitter->args_capacity, begin + args_bytes, 2048)) ||
      (emitter->patch_count + pointer_count > emitter->patch_capacity &&
       !grow(&emitter->patches, &emitter->patch_capacity, size_t(emitter->patch_count) + size_t(pointer_count), 64))) {
    return no_memory(kernel);
  }

  uint8_t* bytes = emitter->args + begin;
  memcpy(bytes, args, args_bytes);
  for (int32_t i = 0; i < pointer_count; ++i) {
    const uint32_t member = pointers[i].member;
    const hipep_tensor* tensor = pointers[i].tensor;
    if (member % sizeof(void*) != 0 || member + sizeof(void*) > args_bytes) {
      return hipep_fail(HIPEP_INTERNAL, "kernel %s: no pointer fits at byte %u of its %zu argument bytes", kernel->name,
                        member, args_bytes);
    }
    memset(bytes + member, 0, sizeof(void*));
    if (tensor == nullptr || tensor->value < 0) continue;
    emitter->patches[emitter->patch_count++] = {static_cast<uint32_t>(begin) + member, tensor->value, tensor->offset};
  }
  emitter->args_bytes = static_cast<uint32_t>(begin + args_bytes);
  emitter->launches[emitter->launch_count++] = {
      kernel,       entry, grid, static_cast<uint32_t>(args_bytes), units, unit_cost, static_cast<uint32_t>(begin),
      emitter->node};
  return HIPEP_OK;
}

void hipep_describe(hipep_emitter* emitter, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(emitter->description, sizeof emitter->description, format, arguments);
  va_end(arguments);
}

hipep_tensor hipep_tickets(void) {
  hipep_tensor tickets = {};
  tickets.dtype = HIPEP_UINT32;
  tickets.rank = 1;
  tickets.dims[0] = HIPEP_TICKET_COUNT;
  tickets.value = HIPEP_TICKETS_VALUE;
  tickets.alignment = 256;
  return tickets;
}

void hipep_emitter_reset(hipep_emitter* emitter) {
  emitter->launch_count = 0;
  emitter->args_bytes = 0;
  emitter->patch_count = 0;
  emitter->description[0] = '\0';
}

void hipep_emitter_free(hipep_emitter* emitter) {
  free(emitter->launches);
  free(emitter->args);
  free(emitter->patches);
  emitter->launches = nullptr;
  emitter->args = nullptr;
  emitter->patches = nullptr;
  emitter->launch_capacity = 0;
  emitter->args_capacity = 0;
  emitter->patch_capacity = 0;
  hipep_emitter_reset(emitter);
}
