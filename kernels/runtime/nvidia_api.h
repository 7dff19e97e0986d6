// The part of the CUDA driver that is used, opened at run time and declared here: building needs no CUDA header.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "gpu_process.h"
#include "hipep/runtime.h"

namespace hipep {
namespace cuda {

using Result = int;
using Device = int;
using Context = struct CUctx_st*;
using Module = struct CUmod_st*;
using Function = struct CUfunc_st*;
using Stream = struct CUstream_st*;
using Event = struct CUevent_st*;
using Graph = struct CUgraph_st*;
using GraphExec = struct CUgraphExec_st*;
using Pointer = unsigned long long;

enum : Result {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kNoBinaryForGpu = 209,
  kUnsupportedPtxVersion = 222,
  kNotReady = 600,
};
enum DeviceAttribute : int {
  kMaxThreadsPerBlock = 1,
  kMaxSharedMemoryPerBlock = 8,
  kWarpSize = 10,
  kMultiprocessorCount = 16,
  kIntegrated = 18,
  kComputeCapabilityMajor = 75,
  kComputeCapabilityMinor = 76,
};
enum FunctionAttribute : int { kFunctionMaxThreadsPerBlock = 0 };
enum PointerAttribute : int { kMemoryType = 2 };
enum MemoryType : unsigned { kMemoryHost = 1 };
enum CaptureMode : int { kCaptureRelaxed = 2 };
enum : unsigned {
  kHostAllocPortable = 1,
  kHostAllocMapped = 2,
  kStreamNonBlocking = 1,
  kEventBlockingSync = 1,
  kEventDisableTiming = 2,
};

// Name in this table, symbol, parameters. The default stream is never used, so no symbol is the one of per-thread
// default streams.
#define HIPEP_CUDA_FUNCTIONS(X)                                                                                \
  X(init, cuInit, (unsigned flags))                                                                            \
  X(error_name, cuGetErrorName, (Result error, const char** name))                                             \
  X(error_string, cuGetErrorString, (Result error, const char** text))                                         \
  X(device_count, cuDeviceGetCount, (int* count))                                                              \
  X(device_get, cuDeviceGet, (Device * device, int ordinal))                                                   \
  X(device_name, cuDeviceGetName, (char* name, int length, Device device))                                     \
  X(device_total_memory, cuDeviceTotalMem_v2, (size_t* bytes, Device device))                                  \
  X(device_attribute, cuDeviceGetAttribute, (int* value, DeviceAttribute attribute, Device device))            \
  X(primary_context_retain, cuDevicePrimaryCtxRetain, (Context * context, Device device))                      \
  X(context_get_current, cuCtxGetCurrent, (Context * context))                                                 \
  X(context_set_current, cuCtxSetCurrent, (Context context))                                                   \
  X(memory_info, cuMemGetInfo_v2, (size_t* free, size_t* total))                                               \
  X(memory_allocate, cuMemAlloc_v2, (Pointer * pointer, size_t bytes))                                         \
  X(memory_free, cuMemFree_v2, (Pointer pointer))                                                              \
  X(host_allocate, cuMemHostAlloc, (void** pointer, size_t bytes, unsigned flags))                             \
  X(host_free, cuMemFreeHost, (void* pointer))                                                                 \
  X(pointer_attribute, cuPointerGetAttribute, (void* value, PointerAttribute attribute, Pointer pointer))      \
  X(copy_async, cuMemcpyAsync, (Pointer to, Pointer from, size_t bytes, Stream stream))                        \
  X(stream_create, cuStreamCreate, (Stream * stream, unsigned flags))                                          \
  X(stream_destroy, cuStreamDestroy_v2, (Stream stream))                                                       \
  X(stream_query, cuStreamQuery, (Stream stream))                                                              \
  X(stream_wait_event, cuStreamWaitEvent, (Stream stream, Event event, unsigned flags))                        \
  X(event_create, cuEventCreate, (Event * event, unsigned flags))                                              \
  X(event_destroy, cuEventDestroy_v2, (Event event))                                                           \
  X(event_record, cuEventRecord, (Event event, Stream stream))                                                 \
  X(event_synchronize, cuEventSynchronize, (Event event))                                                      \
  X(event_query, cuEventQuery, (Event event))                                                                  \
  X(module_load, cuModuleLoadData, (Module * module, const void* image))                                       \
  X(module_function, cuModuleGetFunction, (Function * function, Module module, const char* name))              \
  X(function_attribute, cuFuncGetAttribute, (int* value, FunctionAttribute attribute, Function function))      \
  X(launch_kernel, cuLaunchKernel,                                                                             \
    (Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y, \
     unsigned block_z, unsigned shared_bytes, Stream stream, void** parameters, void** extra))

// Drivers without them run launches one by one.
#define HIPEP_CUDA_GRAPH_FUNCTIONS(X)                                                                         \
  X(stream_begin_capture, cuStreamBeginCapture_v2, (Stream stream, CaptureMode mode))                         \
  X(stream_end_capture, cuStreamEndCapture, (Stream stream, Graph * graph))                                   \
  X(graph_instantiate, cuGraphInstantiateWithFlags, (GraphExec * out, Graph graph, unsigned long long flags)) \
  X(graph_launch, cuGraphLaunch, (GraphExec graph, Stream stream))                                            \
  X(graph_exec_destroy, cuGraphExecDestroy, (GraphExec graph))                                                \
  X(graph_destroy, cuGraphDestroy, (Graph graph))

struct Api {
#define HIPEP_CUDA_MEMBER(name, symbol, parameters) Result(*name) parameters;
  HIPEP_CUDA_FUNCTIONS(HIPEP_CUDA_MEMBER)
  HIPEP_CUDA_GRAPH_FUNCTIONS(HIPEP_CUDA_MEMBER)
#undef HIPEP_CUDA_MEMBER
  bool has_graphs;
  char problem[512];  // "" or why the driver cannot be used
};

// Opened at the first call.
const Api& api();
const DriverProcess& process();
hipep_status fail_unusable();
// The status and text of a driver call that failed: "MemAlloc" for cuMemAlloc.
hipep_status fail(Result result, const char* call, int32_t ordinal);

}  // namespace cuda
}  // namespace hipep
