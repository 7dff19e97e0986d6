// Compiles if the declarations of the AMD driver agree with the HIP headers of this machine.
#define __HIP_PLATFORM_AMD__
#define __HIP_DISABLE_CPP_FUNCTIONS__
#include <hip/hip_runtime_api.h>
#include <hip/hip_version.h>

#include <type_traits>

#include "runtime/amd_api.h"
#if HIP_VERSION_MAJOR < 6
#define hipGetDevicePropertiesR0600 hipGetDeviceProperties
#endif
template <class A, class B>
constexpr bool passed_alike =
    std::is_pointer_v<A> ? std::is_pointer_v<B> : !std::is_pointer_v<B> && sizeof(A) == sizeof(B);
template <class A, class B>
struct Alike : std::false_type {};
template <class R, class... A, class S, class... B>
struct Alike<R (*)(A...), S (*)(B...)> {
  static constexpr bool count = sizeof...(A) == sizeof...(B);
  template <bool same = count>
  static constexpr bool each() {
    if constexpr (same) return passed_alike<R, S> && (passed_alike<A, B> && ... && true);
    return false;
  }
  static constexpr bool value = each();
};
using namespace hipep::hip;
#define CHECK(name, symbol, parameters) static_assert(Alike<decltype(Api::name), decltype(&symbol)>::value, #symbol);
HIPEP_HIP_FUNCTIONS(CHECK)
HIPEP_HIP_GRAPH_FUNCTIONS(CHECK)
#define SAME(ours, theirs) static_assert(int(ours) == int(theirs), #theirs);
SAME(kInvalidValue, hipErrorInvalidValue)
SAME(kOutOfMemory, hipErrorOutOfMemory)
SAME(kNotFound, hipErrorNotFound)
SAME(kNotReady, hipErrorNotReady)
SAME(kIntegrated, hipDeviceAttributeIntegrated)
SAME(kMaxThreadsPerBlock, hipDeviceAttributeMaxThreadsPerBlock)
SAME(kMultiprocessorCount, hipDeviceAttributeMultiprocessorCount)
SAME(kMaxSharedMemoryPerBlock, hipDeviceAttributeMaxSharedMemoryPerBlock)
SAME(kWarpSize, hipDeviceAttributeWarpSize)
SAME(kCopyDefault, hipMemcpyDefault)
SAME(kHostAllocPortable, hipHostMallocPortable)
SAME(kHostAllocMapped, hipHostMallocMapped)
SAME(kStreamNonBlocking, hipStreamNonBlocking)
SAME(kEventDisableTiming, hipEventDisableTiming)
SAME(kEventBlockingSync, hipEventBlockingSync)
SAME(kCaptureRelaxed, hipStreamCaptureModeRelaxed)
SAME(sizeof(PointerAttributes), sizeof(hipPointerAttribute_t))
SAME(offsetof(PointerAttributes, is_managed), offsetof(hipPointerAttribute_t, isManaged))
#if HIP_VERSION_MAJOR >= 6
SAME(kMemoryUnregistered, hipMemoryTypeUnregistered)
SAME(kMemoryHost, hipMemoryTypeHost)
SAME(kMemoryManaged, hipMemoryTypeManaged)
SAME(offsetof(Properties, gcn_arch_name), offsetof(hipDeviceProp_t, gcnArchName))
static_assert(sizeof(Properties) >= sizeof(hipDeviceProp_t), "hipDeviceProp_t");
#endif
