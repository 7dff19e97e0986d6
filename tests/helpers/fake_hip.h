// What the stand-in for libamdhip64.so keeps, and how it logs and fails calls.
#pragma once

#include <dlfcn.h>
#include <elf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

#define HIP extern "C" __attribute__((visibility("default"))) int

namespace {

enum { kSuccess = 0, kInvalidValue = 1, kOutOfMemory = 2, kInvalidImage = 200, kInvalidHandle = 400 };
enum { kNoDevice = 100, kInvalidDevice = 101, kNotFound = 500, kNotReady = 600 };
enum { kCaptureUnsupported = 900, kCaptureInvalidated = 901 };

struct Allocation {
  size_t bytes;
  int type, device;
};
struct Graph {
  std::string kernels;
  bool broken = false;
};
struct Stream {
  int id, device;
  Graph* capture = nullptr;
  std::deque<std::function<void()>> work;
  void run(size_t left = 0) {
    while (work.size() > left) {
      auto next = std::move(work.front());
      work.pop_front();
      next();
    }
  }
};
struct Event {
  int device;
  bool done = true;
  Stream* stream = nullptr;
};
struct Function {
  std::string name;
  size_t bytes;
  int device;
};
struct Module {
  std::map<std::string, Function> functions;
};

// Everything below is guarded by the lock, which a call holds to its end.
struct State {
  std::recursive_mutex lock;
  std::string log;
  std::map<std::string, int> calls;
  std::map<std::string, std::pair<int, int>> failures;  // by call: at its n-th call from now, this result
  std::map<const void*, Allocation> allocations;
  std::vector<size_t> used = std::vector<size_t>(16);
  std::vector<Stream*> streams;
  bool deferred = false;
  void (*during_capture)() = nullptr;
};
State& state() {
  static auto* one = new State;
  return *one;
}
thread_local int current = 0, last_error = 0;

// A call after the runtime's own end is what it must be spared.
bool ended = false;
struct End {
  ~End() { ended = true; }
} end;

std::string setting(const char* name, const char* otherwise) {
  const char* text = getenv(name);
  return text == nullptr ? otherwise : text;
}

std::vector<std::string> devices() {
  std::vector<std::string> all;
  std::istringstream text(setting("FAKE_HIP_DEVICES", "gfx1151"));
  for (std::string one; std::getline(text, one, ',');) all.push_back(one);
  return all;
}
size_t memory() { return strtoull(setting("FAKE_HIP_MEMORY", "1073741824").c_str(), nullptr, 10); }

int result_of(int result) {
  if (result != kSuccess) last_error = result;
  return result;
}

// Logs a call and returns the failure that is due.
__attribute__((format(printf, 2, 3))) int enter(const char* call, const char* format, ...) {
  if (ended) abort();
  State& s = state();
  char text[4096];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  s.log += std::string(call) + " on=" + std::to_string(current) + (*text ? " " : "") + text + "\n";
  s.calls[call] += 1;
  const auto due = s.failures.find(call);
  if (due == s.failures.end() || --due->second.first > 0) return kSuccess;
  const int result = due->second.second;
  s.failures.erase(due);
  return result_of(result);
}

#define ENTER(call, ...)                                    \
  std::lock_guard<std::recursive_mutex> hold(state().lock); \
  if (const int due = enter(call, __VA_ARGS__); due != kSuccess) return due

void enqueue(Stream* stream, std::function<void()> work) {
  stream->work.push_back(std::move(work));
  if (!state().deferred) stream->run();
}

int allocate(void** out, size_t bytes, int type) {
  State& s = state();
  if (type == 2 && s.used[current] + bytes > memory()) return result_of(kOutOfMemory);
  *out = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  memset(*out, 0xcd, bytes);
  s.allocations[*out] = {bytes, type, current};
  if (type == 2) s.used[current] += bytes;
  return kSuccess;
}

// The names of the kernels: each has a descriptor, a symbol that ends in ".kd".
void read_elf(const char* image, Module* module) {
  const auto* header = reinterpret_cast<const Elf64_Ehdr*>(image);
  const auto* sections = reinterpret_cast<const Elf64_Shdr*>(image + header->e_shoff);
  for (int i = 0; i < header->e_shnum; ++i) {
    if (sections[i].sh_type != SHT_DYNSYM) continue;
    const char* names = image + sections[sections[i].sh_link].sh_offset;
    const auto* symbols = reinterpret_cast<const Elf64_Sym*>(image + sections[i].sh_offset);
    for (size_t k = 0; k < sections[i].sh_size / sizeof *symbols; ++k) {
      std::string name = names + symbols[k].st_name;
      if (name.size() < 3 || name.compare(name.size() - 3, 3, ".kd") != 0) continue;
      name.resize(name.size() - 3);
      module->functions[name] = {name, 0, current};
    }
  }
}

int release(void* pointer) {
  State& s = state();
  const auto at = s.allocations.find(pointer);
  if (at == s.allocations.end()) return result_of(kInvalidValue);
  if (at->second.type == 2) s.used[at->second.device] -= at->second.bytes;
  s.allocations.erase(at);
  free(pointer);
  return kSuccess;
}

}  // namespace
