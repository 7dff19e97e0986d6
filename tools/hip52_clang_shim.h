// What the HIP 5.2 headers expect of the compiler and clang 20 and newer no longer have.
#pragma once

#ifndef __AMDGCN_WAVEFRONT_SIZE
#if defined(__GFX9__) || !defined(__HIP_DEVICE_COMPILE__)
#define __AMDGCN_WAVEFRONT_SIZE 64
#else
#define __AMDGCN_WAVEFRONT_SIZE 32
#endif
#endif

extern "C" {
__attribute__((device)) _Float16 __llvm_amdgcn_rcp_f16(_Float16 value) __asm("llvm.amdgcn.rcp.f16");
typedef _Float16 hipep_half2 __attribute__((ext_vector_type(2)));
__attribute__((device)) inline hipep_half2 __llvm_amdgcn_rcp_2f16(hipep_half2 value) {
  return hipep_half2{__llvm_amdgcn_rcp_f16(value.x), __llvm_amdgcn_rcp_f16(value.y)};
}
}
