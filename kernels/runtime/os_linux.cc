#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "os.h"

namespace hipep {
namespace os {
namespace {

// The text after "key   :" in a file of such lines; empty if there is none.
std::string field(const char* path, const char* key) {
  std::string value;
  FILE* file = fopen(path, "re");
  if (file == nullptr) return value;
  char line[512];
  while (value.empty() && fgets(line, sizeof line, file) != nullptr) {
    const char* colon = strchr(line, ':');
    if (colon == nullptr || strncmp(line, key, strlen(key)) != 0) continue;
    value = colon + 1 + strspn(colon + 1, " \t");
    value.erase(value.find_last_not_of(" \t\n") + 1);
  }
  fclose(file);
  return value;
}

struct ThreadStart {
  void (*body)(void*);
  void* argument;
};

void* thread_main(void* raw) {
  const ThreadStart start = *static_cast<ThreadStart*>(raw);
  delete static_cast<ThreadStart*>(raw);
  start.body(start.argument);
  return nullptr;
}

}  // namespace

void* reserve(size_t bytes) {
  void* pointer = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return pointer == MAP_FAILED ? nullptr : pointer;
}

bool commit(void* pointer, size_t bytes) { return mprotect(pointer, bytes, PROT_READ | PROT_WRITE) == 0; }

void discard(void* pointer, size_t bytes) { madvise(pointer, bytes, MADV_DONTNEED); }

void prefer_large_pages(void* pointer, size_t bytes) { madvise(pointer, bytes, MADV_HUGEPAGE); }

void* open_library(const char* path, std::string* error) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) *error = dlerror();
  return library;
}

void* find_symbol(void* library, const char* name) { return dlsym(library, name); }

std::vector<std::string> loaded_libraries(const char* beginning) {
  struct Search {
    const char* beginning;
    std::vector<std::string> found;
  } search{beginning, {}};
  const auto visit = [](dl_phdr_info* info, size_t, void* raw) {
    auto* wanted = static_cast<Search*>(raw);
    const char* slash = strrchr(info->dlpi_name, '/');
    const char* file = slash == nullptr ? info->dlpi_name : slash + 1;
    if (strncmp(file, wanted->beginning, strlen(wanted->beginning)) == 0) wanted->found.push_back(info->dlpi_name);
    return 0;
  };
  dl_iterate_phdr(visit, &search);
  return search.found;
}

std::string own_folder() {
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(&own_folder), &info) == 0 || info.dli_fname == nullptr) return ".";
  const std::string path = info.dli_fname;
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

int64_t total_memory() { return int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE); }

int64_t available_memory() { return strtoll(field("/proc/meminfo", "MemAvailable").c_str(), nullptr, 10) * 1024; }

int32_t processor_count() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 ? static_cast<int32_t>(online) : 1;
}

std::string processor_name() {
  const std::string name = field("/proc/cpuinfo", "model name");
  return name.empty() ? "processor" : name;
}

int64_t process_id() { return getpid(); }

bool start_thread(void (*body)(void*), void* argument) {
  auto* start = new ThreadStart{body, argument};
  pthread_t thread;
  if (pthread_create(&thread, nullptr, thread_main, start) != 0) {
    delete start;
    return false;
  }
  pthread_detach(thread);
  return true;
}

void around_fork(void (*before)(), void (*after)()) { pthread_atfork(before, after, after); }

}  // namespace os
}  // namespace hipep
