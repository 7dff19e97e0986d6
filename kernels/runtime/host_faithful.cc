// Faithful host modes: kernels as a GPU runs them, asynchronously, by one thread for each stream.
#include <string.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "faithful.h"
#include "guarded.h"
#include "host.h"
#include "locks.h"
#include "os.h"

namespace hipep {
namespace {

using RunBlocks = decltype(&hipep_faithful_launch);

// One lock for all streams: an event of one is waited for by another.
std::mutex& lock() {
  static std::mutex* one = new_lock(LockRank::kStreams);
  return *one;
}
// Called with the lock held. A forked child needs one of its own: in the parent's, threads wait that it does not have.
std::condition_variable& progress() {
  static std::condition_variable* one = nullptr;
  static int64_t process = -1;
  if (process != os::process_id()) {
    one = new std::condition_variable;
    process = os::process_id();
  }
  return *one;
}

hipep_status forked() {
  return hipep_fail(
      HIPEP_DEVICE_ERROR,
      "this process was made by fork() after the stream: its thread stayed with the parent; open sessions "
      "in the child, or start it with spawn");
}

// Empty on success, else what went wrong.
using Work = std::function<std::string()>;

struct FaithfulGraph final : hipep_graph {
  std::shared_ptr<std::vector<Work>> work = std::make_shared<std::vector<Work>>();
  void destroy() override { delete this; }
};

struct FaithfulStream final : hipep_stream {
  explicit FaithfulStream(RunBlocks run_blocks) : run_blocks_(run_blocks) {}

  bool start() { return os::start_thread(work, this); }

  hipep_status copy(uint64_t serial, void* to, const void* from, size_t bytes) override {
    to = guarded_map(to);
    from = guarded_map(from);
    return push(serial, [to, from, bytes] {
      memcpy(to, from, bytes);
      return std::string();
    });
  }

  hipep_status launch(uint64_t serial, const Launch& launch) override { return push(serial, work_of(launch)); }

  Work work_of(const Launch& launch) const {
    const auto* bytes = static_cast<const char*>(launch.args);
    const auto entry = reinterpret_cast<void (*)(const void*)>(launch.entry);
    // Kernels read their argument through a pointer to a struct: aligned as that may be.
    struct alignas(16) Word {
      char bytes[16];
    };
    std::vector<Word> args((launch.args_bytes + sizeof(Word) - 1) / sizeof(Word));
    if (!args.empty()) memcpy(args.data(), bytes, launch.args_bytes);
    return [args = std::move(args), entry, run = run_blocks_, grid = launch.grid, block = launch.kernel->block,
            name = launch.kernel->name] {
      char error[512] = "";
      if (run(entry, grid, block, args.data(), error, sizeof error) == 0) return std::string();
      return "kernel " + std::string(name) + ": " + error;
    };
  }

  hipep_status capture(const hipep_planned_launch* launches, int32_t count, const uint8_t* args,
                       hipep_graph** out) override {
    auto* graph = new FaithfulGraph;
    for (int32_t i = 0; i < count; ++i) graph->work->push_back(work_of(as_launch(launches[i], args)));
    *out = graph;
    return HIPEP_OK;
  }

  hipep_status replay(uint64_t serial, hipep_graph* graph) override {
    return push(serial, [work = static_cast<FaithfulGraph*>(graph)->work] {
      std::string error;
      for (size_t i = 0; i < work->size() && error.empty(); ++i) error = (*work)[i]();
      return error;
    });
  }

  hipep_status wait_for(uint64_t serial, Timeline* other, uint64_t other_serial) {
    return push(serial, [other, other_serial] {
      std::unique_lock<std::mutex> hold(lock());
      progress().wait(hold, [&] { return other->done(other_serial); });
      return std::string();
    });
  }

  hipep_status wait() override {
    if (os::process_id() != process_) return forked();
    std::unique_lock<std::mutex> hold(lock());
    progress().wait(hold, [&] { return queue_.empty() && !working_; });
    if (!failed.load(std::memory_order_relaxed)) return HIPEP_OK;
    failed.store(false, std::memory_order_relaxed);
    return hipep_fail(HIPEP_DEVICE_ERROR, "%s", error_.c_str());
  }

  bool idle() override {
    std::lock_guard<std::mutex> hold(lock());
    return queue_.empty() && !working_;
  }

  void destroy() override {
    if (os::process_id() != process_) return;  // the thread is the parent's, and so is this
    std::lock_guard<std::mutex> hold(lock());
    ending_ = true;
    progress().notify_all();
  }

 private:
  struct Item {
    uint64_t serial;
    Work run;
  };

  hipep_status push(uint64_t serial, Work run) {
    if (os::process_id() != process_) return forked();
    std::lock_guard<std::mutex> hold(lock());
    queue_.push_back({serial, std::move(run)});
    progress().notify_all();
    return HIPEP_OK;
  }

  static void work(void* raw) {
    auto* stream = static_cast<FaithfulStream*>(raw);
    stream->work();
    delete stream;
  }

  void work() {
    std::unique_lock<std::mutex> hold(lock());
    for (;;) {
      progress().wait(hold, [&] { return ending_ || !queue_.empty(); });
      if (queue_.empty()) return;
      Item item = std::move(queue_.front());
      queue_.pop_front();
      working_ = true;
      hold.unlock();
      // After an error the rest would run on memory that was not written: skipped until the error is reported.
      std::string error = failed.load(std::memory_order_relaxed) ? std::string() : item.run();
      item.run = nullptr;
      hold.lock();
      working_ = false;
      if (!error.empty()) {
        error_ = std::move(error);
        failed.store(true, std::memory_order_release);
      }
      timeline->completed.store(item.serial, std::memory_order_release);
      progress().notify_all();
    }
  }

  const RunBlocks run_blocks_;
  const int64_t process_ = os::process_id();
  std::deque<Item> queue_;
  bool working_ = false, ending_ = false;
  std::string error_;
};

struct FaithfulEvent final : hipep_event {
  const int64_t process = os::process_id();

  hipep_status record(hipep_stream*) override { return HIPEP_OK; }
  hipep_status wait_on(uint64_t at, hipep_stream* stream) override {
    return static_cast<FaithfulStream*>(stream)->wait_for(at, timeline, serial);
  }
  hipep_status synchronize() override {
    if (os::process_id() != process) return forked();
    std::unique_lock<std::mutex> hold(lock());
    progress().wait(hold, [&] { return timeline->done(serial); });
    return HIPEP_OK;
  }
  void destroy() override { delete this; }
};

class FaithfulLibrary final : public KernelLibrary {
 public:
  FaithfulLibrary(const hipep_faithful_entry* begin, size_t count, RunBlocks run_blocks) : run_blocks_(run_blocks) {
    for (size_t i = 0; i < count; ++i) rows_.push_back(begin + i);
    std::sort(rows_.begin(), rows_.end(), [](auto* a, auto* b) { return strcmp(a->name, b->name) < 0; });
  }

  void* find(const char* name, uint32_t block) override {
    const auto at = std::lower_bound(rows_.begin(), rows_.end(), name,
                                     [](auto* row, const char* wanted) { return strcmp(row->name, wanted) < 0; });
    if (at == rows_.end() || strcmp((*at)->name, name) != 0 || (*at)->block != block) return nullptr;
    return reinterpret_cast<void*>((*at)->entry);
  }

  hipep_stream* create_stream() override {
    auto* stream = new FaithfulStream(run_blocks_);
    if (stream->start()) return stream;
    delete stream;
    return nullptr;
  }
  hipep_event* create_event() override { return new FaithfulEvent; }
  const char* arch() override { return "x86-64"; }

 private:
  std::vector<const hipep_faithful_entry*> rows_;
  RunBlocks run_blocks_;
};

}  // namespace

hipep_status open_faithful(int32_t warp_size, KernelLibrary** out) {
  static FaithfulLibrary* libraries[2] = {};
  FaithfulLibrary*& library = libraries[warp_size / 64];
  if (library == nullptr) {
    const std::string path = os::own_folder() + "/libhipep_faithful" + std::to_string(warp_size) + ".so";
    std::string error;
    void* handle = os::open_library(path.c_str(), &error);
    if (handle == nullptr) {
      return hipep_fail(HIPEP_NO_DRIVER,
                        "hipep was built without the faithful%d host mode: configure with "
                        "-Dhost_modes=serial,faithful32,faithful64 (%s)",
                        warp_size, error.c_str());
    }
    const auto table =
        reinterpret_cast<decltype(&hipep_faithful_table)>(os::find_symbol(handle, "hipep_faithful_table"));
    const auto run = reinterpret_cast<RunBlocks>(os::find_symbol(handle, "hipep_faithful_launch"));
    if (table == nullptr || run == nullptr) {
      return hipep_fail(HIPEP_NO_DRIVER, "%s is not a library of faithful kernels: build hipep again", path.c_str());
    }
    size_t count = 0;
    const hipep_faithful_entry* begin = table(&count);
    library = new FaithfulLibrary(begin, count, run);
  }
  *out = library;
  return HIPEP_OK;
}

}  // namespace hipep
