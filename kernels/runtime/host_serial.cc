// Serial host mode: the kernels of this library, compiled once for each instruction-set level, run by the caller.
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <vector>

#include "guarded.h"
#include "host.h"

namespace hipep {

struct SerialRow {
  const char* name;
  void (*entry)(const void* args, int64_t begin, int64_t end);
};

}  // namespace hipep

// The linker's bounds of the sections that HIPEP_KERNEL fills; NULL for a level that was not built.
#define HIPEP_SECTION(level)                                                                                    \
  extern "C" const hipep::SerialRow __start_hipep_serial_##level[] __attribute__((weak, visibility("hidden"))); \
  extern "C" const hipep::SerialRow __stop_hipep_serial_##level[] __attribute__((weak, visibility("hidden")))
HIPEP_SECTION(v2);
HIPEP_SECTION(v3);
HIPEP_SECTION(v4);

namespace hipep {
namespace {

constexpr int64_t kPicosecond = 1, kMicrosecond = 1000000 * kPicosecond;
constexpr int64_t kWorthSpreading = 40 * kMicrosecond;
constexpr int64_t kChunk = 20 * kMicrosecond;
constexpr int64_t kMostChunks = 64;
constexpr int64_t kChunkGrain = 64;  // units: keeps threads off each other's cache lines

struct Level {
  const char* name;
  const char* arch;
  bool supported;
  const SerialRow *begin, *end;
};

struct Spread {
  const Launch* launch;
  void (*entry)(const void* args, int64_t begin, int64_t end);
  int64_t step;
};

void run_chunk(void* argument, size_t index) {
  const auto& spread = *static_cast<const Spread*>(argument);
  const int64_t begin = static_cast<int64_t>(index) * spread.step;
  const int64_t end = std::min(begin + spread.step, spread.launch->units);
  spread.entry(spread.launch->args, begin, end);
}

struct SerialStream final : hipep_stream {
  hipep_status copy(uint64_t serial, void* to, const void* from, size_t bytes) override {
    memcpy(guarded_map(to), guarded_map(from), bytes);
    timeline->completed.store(serial, std::memory_order_release);
    return HIPEP_OK;
  }

  hipep_status launch(uint64_t serial, const Launch& launch) override {
    const auto entry = reinterpret_cast<void (*)(const void*, int64_t, int64_t)>(launch.entry);
    if (parallel_for == nullptr || launch.units <= 1 || !spread(entry, launch)) entry(launch.args, 0, launch.units);
    timeline->completed.store(serial, std::memory_order_release);
    return HIPEP_OK;
  }

  bool spread(void (*entry)(const void*, int64_t, int64_t), const Launch& launch) {
    int64_t cost;
    if (__builtin_mul_overflow(launch.units, launch.unit_cost, &cost)) cost = INT64_MAX;
    if (cost < kWorthSpreading) return false;
    const int64_t chunks = std::min({launch.units, cost / kChunk, kMostChunks});
    int64_t step = (launch.units + chunks - 1) / chunks;
    if (step >= 4 * kChunkGrain) step = (step + kChunkGrain - 1) / kChunkGrain * kChunkGrain;
    Spread work{&launch, entry, step};
    parallel_for(parallel_context, run_chunk, static_cast<size_t>((launch.units + step - 1) / step), &work);
    return true;
  }

  hipep_status wait() override { return HIPEP_OK; }
  bool idle() override { return true; }
  void destroy() override { delete this; }
};

struct SerialEvent final : hipep_event {
  hipep_status record(hipep_stream*) override { return HIPEP_OK; }
  hipep_status wait_on(uint64_t at, hipep_stream* stream) override {
    stream->timeline->completed.store(at, std::memory_order_release);
    return HIPEP_OK;
  }
  hipep_status synchronize() override { return HIPEP_OK; }
  void destroy() override { delete this; }
};

class SerialLibrary final : public KernelLibrary {
 public:
  explicit SerialLibrary(const Level& level) : level_(level) {
    for (const SerialRow* row = level.begin; row != level.end; ++row) rows_.push_back(row);
    std::sort(rows_.begin(), rows_.end(),
              [](const SerialRow* a, const SerialRow* b) { return strcmp(a->name, b->name) < 0; });
  }

  void* find(const char* name, uint32_t) override {
    const auto at = std::lower_bound(rows_.begin(), rows_.end(), name, [](const SerialRow* row, const char* wanted) {
      return strcmp(row->name, wanted) < 0;
    });
    if (at == rows_.end() || strcmp((*at)->name, name) != 0) return nullptr;
    return reinterpret_cast<void*>((*at)->entry);
  }
  hipep_stream* create_stream() override { return new SerialStream; }
  hipep_event* create_event() override { return new SerialEvent; }
  const char* arch() override { return level_.arch; }

 private:
  Level level_;
  std::vector<const SerialRow*> rows_;
};

hipep_status choose_level(Level* out) {
  const Level levels[] = {
      {"v4", "x86-64-v4", __builtin_cpu_supports("x86-64-v4") != 0, __start_hipep_serial_v4, __stop_hipep_serial_v4},
      {"v3", "x86-64-v3", __builtin_cpu_supports("x86-64-v3") != 0, __start_hipep_serial_v3, __stop_hipep_serial_v3},
      {"v2", "x86-64-v2", __builtin_cpu_supports("x86-64-v2") != 0, __start_hipep_serial_v2, __stop_hipep_serial_v2},
  };
  const char* forced = getenv("HIPEP_HOST_ISA");
  if (forced != nullptr && *forced == '\0') forced = nullptr;
  for (const Level& level : levels) {
    if (forced != nullptr && strcmp(forced, level.name) != 0) continue;
    if (level.supported && level.begin != level.end) {
      *out = level;
      return HIPEP_OK;
    }
    if (forced != nullptr) {
      return hipep_fail(HIPEP_INVALID, "HIPEP_HOST_ISA is '%s', but %s %s: unset it or lower it", forced,
                        level.supported ? "this build has no kernels for" : "this processor lacks", level.arch);
    }
  }
  if (forced != nullptr) {
    return hipep_fail(HIPEP_INVALID, "HIPEP_HOST_ISA is '%s': expected v2, v3 or v4", forced);
  }
  return hipep_fail(HIPEP_NO_DRIVER, "no host kernels for this processor: it needs x86-64-v2 (SSE4.2, POPCNT)");
}

}  // namespace

hipep_status open_serial(KernelLibrary** out) {
  static SerialLibrary* library = nullptr;
  if (library == nullptr) {
    Level level;
    const hipep_status status = choose_level(&level);
    if (status != HIPEP_OK) return status;
    library = new SerialLibrary(level);
  }
  *out = library;
  return HIPEP_OK;
}

}  // namespace hipep
