// Everything that the runtime asks of the operating system.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <string>
#include <vector>

namespace hipep {
namespace os {

// Address space without memory behind it; any access faults. NULL if there is not so much.
void* reserve(size_t bytes);
// Makes reserved pages readable and writable; they take memory when they are touched.
bool commit(void* pointer, size_t bytes);
// Gives the memory of committed pages back; they read as zeros afterwards.
void discard(void* pointer, size_t bytes);
// Large pages for this range where the system has them; a hint.
void prefer_large_pages(void* pointer, size_t bytes);

// Handle, or NULL with the reason in error.
void* open_library(const char* path, std::string* error);
void* find_symbol(void* library, const char* name);
// Paths of the libraries in this process whose file names begin so.
std::vector<std::string> loaded_libraries(const char* beginning);
// The folder that holds the library that this code is in.
std::string own_folder();

int64_t total_memory();
int64_t available_memory();
int32_t processor_count();
std::string processor_name();

int64_t process_id();
// Runs body(argument) on a thread of its own; false if there is none to be had.
bool start_thread(void (*body)(void*), void* argument);
// Called around fork(): before in the parent, after in parent and child.
void around_fork(void (*before)(), void (*after)());

}  // namespace os
}  // namespace hipep
