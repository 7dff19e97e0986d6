// Fibers: a stack and the registers saved on it. Used by fibers.cc alone.
#pragma once
#include <string.h>

#include "runtime/fibers.h"

#if !defined(__x86_64__) && !defined(HIPEP_UCONTEXT)
#define HIPEP_UCONTEXT 1
#endif
#ifdef HIPEP_UCONTEXT
#include <ucontext.h>
#endif

#if defined(__SANITIZE_ADDRESS__)
#define HIPEP_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HIPEP_ASAN 1
#endif
#endif
#ifdef HIPEP_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

#ifndef HIPEP_UCONTEXT
extern "C" void hipep_fiber_switch(void** save, void* resume) __attribute__((visibility("hidden")));
asm(R"(
  .text
  .p2align 4
  .hidden hipep_fiber_switch
  .globl hipep_fiber_switch
  .type hipep_fiber_switch, @function
hipep_fiber_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
  .size hipep_fiber_switch, .-hipep_fiber_switch
)");
#endif

namespace hipep {
namespace faithful {
namespace {

struct Fiber {
#ifdef HIPEP_UCONTEXT
  ucontext_t context;
#else
  void* stack_pointer;
#endif
  const Site* waiting;  // where; null if it does not wait
  int32_t thread;
#ifdef HIPEP_ASAN
  void* fake_stack;
  const void* stack;
  size_t stack_bytes;
#endif
};

// Marks memory as not to be touched by code under AddressSanitizer, and back.
inline void forbid([[maybe_unused]] const void* begin, [[maybe_unused]] size_t bytes) {
#ifdef HIPEP_ASAN
  __asan_poison_memory_region(begin, bytes);
#endif
}
inline void allow([[maybe_unused]] const void* begin, [[maybe_unused]] size_t bytes) {
#ifdef HIPEP_ASAN
  __asan_unpoison_memory_region(begin, bytes);
#endif
}

// start runs on the lowest `used` bytes at the first switch to the fiber and never returns.
inline void make_fiber(Fiber& fiber, char* bottom, size_t bytes, size_t used, void (*start)()) {
  fiber.waiting = nullptr;
  allow(bottom, bytes);  // frames of a fiber that was abandoned there
#ifdef HIPEP_ASAN
  fiber.fake_stack = nullptr;
  fiber.stack = bottom;
  fiber.stack_bytes = bytes;
#endif
#ifdef HIPEP_UCONTEXT
  getcontext(&fiber.context);
  fiber.context.uc_stack.ss_sp = bottom;
  fiber.context.uc_stack.ss_size = used;
  fiber.context.uc_link = nullptr;
  makecontext(&fiber.context, start, 0);
#else
  void** top = reinterpret_cast<void**>(bottom + used / 16 * 16);
  *--top = nullptr;  // the return address of start
  *--top = reinterpret_cast<void*>(start);
  top -= 6;  // the registers that the switch restores
  memset(top, 0, 6 * sizeof *top);
  fiber.stack_pointer = top;
#endif
}

inline void switch_fiber(Fiber& from, Fiber& to, [[maybe_unused]] bool for_ever) {
#ifdef HIPEP_ASAN
  __sanitizer_start_switch_fiber(for_ever ? nullptr : &from.fake_stack, to.stack, to.stack_bytes);
#endif
#ifdef HIPEP_UCONTEXT
  swapcontext(&from.context, &to.context);
#else
  hipep_fiber_switch(&from.stack_pointer, to.stack_pointer);
#endif
#ifdef HIPEP_ASAN
  __sanitizer_finish_switch_fiber(from.fake_stack, nullptr, nullptr);
#endif
}

// What a fiber does first; caller, if not null, is where it was switched from.
inline void finish_first_switch([[maybe_unused]] Fiber* caller) {
#ifdef HIPEP_ASAN
  const void* stack;
  size_t bytes;
  __sanitizer_finish_switch_fiber(nullptr, &stack, &bytes);
  if (caller != nullptr) {
    caller->stack = stack;
    caller->stack_bytes = bytes;
  }
#endif
}

}  // namespace
}  // namespace faithful
}  // namespace hipep
