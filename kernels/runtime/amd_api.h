// The part of the HIP runtime that is used, opened at run time and declared here: building needs no ROCm.
//
// Only what HIP 6 and HIP 7 share is declared. Numbers of attributes are those of HIP 5.2 to 7.1, which are the same;
// structs are passed as bytes of at least their size, of which only the places below are read.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <string>

#include "gpu_process.h"
#include "hipep/runtime.h"

namespace hipep {
namespace hip {

using Result = int;
using Device = int;
using Module = struct ihipModule_t*;
using Function = struct ihipModuleSymbol_t*;
using Stream = struct ihipStream_t*;
using Event = struct ihipEvent_t*;
using Graph = struct ihipGraph*;
using GraphExec = struct hipGraphExec*;

enum : Result {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kNoDevice = 100,
  kInvalidImage = 200,
  kNoBinaryForGpu = 209,
  kNotFound = 500,
  kNotReady = 600,
};
enum DeviceAttribute : int {
  kIntegrated = 16,
  kMaxThreadsPerBlock = 56,
  kMultiprocessorCount = 63,
  kMaxSharedMemoryPerBlock = 74,
  kWarpSize = 87,
};
enum CopyKind : int { kCopyDefault = 4 };
enum MemoryType : int { kMemoryUnregistered = 0, kMemoryHost = 1, kMemoryManaged = 3 };
enum CaptureMode : int { kCaptureRelaxed = 2 };
enum : unsigned {
  kHostAllocPortable = 1,
  kHostAllocMapped = 2,
  kStreamNonBlocking = 1,
  kEventBlockingSync = 1,
  kEventDisableTiming = 2,
};

// hipPointerAttribute_t.
struct PointerAttributes {
  int type;
  int device;
  void *device_pointer, *host_pointer;
  int is_managed;
  unsigned flags;
};
// hipDeviceProp_tR0600: 1472 bytes.
struct Properties {
  char before[1160];
  char gcn_arch_name[256];
  char after[2048 - 1160 - 256];
};
static_assert(offsetof(Properties, gcn_arch_name) == 1160 && sizeof(Properties) == 2048, "layout of HIP 6 and 7");

// Name in this table, symbol, parameters.
#define HIPEP_HIP_FUNCTIONS(X)                                                                                 \
  X(runtime_version, hipRuntimeGetVersion, (int* version))                                                     \
  X(device_properties, hipGetDevicePropertiesR0600, (Properties * properties, Device device))                  \
  X(last_error, hipGetLastError, ())                                                                           \
  X(device_count, hipGetDeviceCount, (int* count))                                                             \
  X(device_get, hipGetDevice, (Device * device))                                                               \
  X(device_set, hipSetDevice, (Device device))                                                                 \
  X(device_name, hipDeviceGetName, (char* name, int length, Device device))                                    \
  X(device_total_memory, hipDeviceTotalMem, (size_t* bytes, Device device))                                    \
  X(device_attribute, hipDeviceGetAttribute, (int* value, DeviceAttribute attribute, Device device))           \
  X(memory_info, hipMemGetInfo, (size_t* free, size_t* total))                                                 \
  X(memory_allocate, hipMalloc, (void** pointer, size_t bytes))                                                \
  X(memory_free, hipFree, (void* pointer))                                                                     \
  X(host_allocate, hipHostMalloc, (void** pointer, size_t bytes, unsigned flags))                              \
  X(host_free, hipHostFree, (void* pointer))                                                                   \
  X(pointer_attributes, hipPointerGetAttributes, (PointerAttributes * attributes, const void* pointer))        \
  X(copy_async, hipMemcpyAsync, (void* to, const void* from, size_t bytes, CopyKind kind, Stream stream))      \
  X(stream_create, hipStreamCreateWithFlags, (Stream * stream, unsigned flags))                                \
  X(stream_destroy, hipStreamDestroy, (Stream stream))                                                         \
  X(stream_query, hipStreamQuery, (Stream stream))                                                             \
  X(stream_wait_event, hipStreamWaitEvent, (Stream stream, Event event, unsigned flags))                       \
  X(event_create, hipEventCreateWithFlags, (Event * event, unsigned flags))                                    \
  X(event_destroy, hipEventDestroy, (Event event))                                                             \
  X(event_record, hipEventRecord, (Event event, Stream stream))                                                \
  X(event_synchronize, hipEventSynchronize, (Event event))                                                     \
  X(event_query, hipEventQuery, (Event event))                                                                 \
  X(module_load, hipModuleLoadData, (Module * module, const void* image))                                      \
  X(module_function, hipModuleGetFunction, (Function * function, Module module, const char* name))             \
  X(launch_kernel, hipModuleLaunchKernel,                                                                      \
    (Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y, \
     unsigned block_z, unsigned shared_bytes, Stream stream, void** parameters, void** extra))

// Drivers without them run launches one by one.
#define HIPEP_HIP_GRAPH_FUNCTIONS(X)                                                                           \
  X(stream_begin_capture, hipStreamBeginCapture, (Stream stream, CaptureMode mode))                            \
  X(stream_end_capture, hipStreamEndCapture, (Stream stream, Graph * graph))                                   \
  X(graph_instantiate, hipGraphInstantiateWithFlags, (GraphExec * out, Graph graph, unsigned long long flags)) \
  X(graph_launch, hipGraphLaunch, (GraphExec graph, Stream stream))                                            \
  X(graph_exec_destroy, hipGraphExecDestroy, (GraphExec graph))                                                \
  X(graph_destroy, hipGraphDestroy, (Graph graph))

struct Api {
#define HIPEP_HIP_MEMBER(name, symbol, parameters) Result(*name) parameters;
  HIPEP_HIP_FUNCTIONS(HIPEP_HIP_MEMBER)
  HIPEP_HIP_GRAPH_FUNCTIONS(HIPEP_HIP_MEMBER)
#undef HIPEP_HIP_MEMBER
  const char* (*error_name)(Result);
  const char* (*error_string)(Result);
  DriverProcess process;
  int version;  // 60443484 is HIP 6.4
  bool has_graphs;
  char problem[512];  // "" or why the runtime cannot be used
};

// Opened at the first call.
const Api& api();
// Why the runtime may not be called now, or "".
const char* problem_now();
// The status and text of a call that failed. Clears the thread's last error, which other users of HIP would report.
hipep_status fail(Result result, const char* call, int32_t ordinal);

// The handle of the HIP runtime of this process, or NULL with the reason in error.
void* open_runtime(std::string* path, std::string* error);
// More than one copy in the process: why that cannot be, else "".
std::string copies_problem();

}  // namespace hip
}  // namespace hipep
