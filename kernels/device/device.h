// The one header that device code includes. The same kernel source is compiled for AMD (clang -x hip), NVIDIA (nvcc -x
// cu) and the host: serial (a block of one thread in a grid of one, loops that the compiler vectorises) and faithful
// (blocks of fibers, warps of 32 or 64).
//
// A kernel is written as
//
//   #include "device/device.h"
//   namespace hipep { namespace {
//   template <class T> HIPEP_DEVICE void scale(const ScaleArgs& a, const auto& grid) { ... }
//   } }
//   HIPEP_KERNEL(scale_f32, ScaleArgs, 256) { hipep::scale<float>(args, grid); }
//
// and takes one POD argument (at most 1 KiB, pointers included). It must be right for any block size and any warp size
// from 1 up: no literal 32, no assumption that a block has more than one thread. Everything outside HIPEP_KERNEL lies
// in the anonymous namespace and uses no standard-library template: the linker would merge equal inline functions
// across the instruction-set variants of the host build.
#pragma once
#include <stddef.h>
#include <stdint.h>

#if defined(__HIP__)
#include <hip/hip_runtime.h>
#endif

#if defined(__HIP__) || defined(__CUDACC__)
#include "device/target_gpu.h"
#elif defined(HIPEP_FAITHFUL)
#include "device/target_faithful.h"
#else
#include "device/target_serial.h"
#endif

#include "device/block.h"
#include "device/dtype.h"
