"""The slice of the ONNX Runtime C ABI that hipep uses.

No package ships the C headers, so callback structs are declared in their published member order and
the API tables are addressed by slot number (tables are append-only).
``tests/runtime/test_ort_abi.py`` checks both against the installed onnxruntime.
"""
from libc.stddef cimport size_t
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t

cdef extern from *:
    """
    #include <stdint.h>
    #include <stddef.h>
    #define HIPEP_OPAQUE(T) typedef struct T T;
    HIPEP_OPAQUE(OrtStatus) HIPEP_OPAQUE(OrtLogger) HIPEP_OPAQUE(OrtKeyValuePairs)
    HIPEP_OPAQUE(OrtHardwareDevice) HIPEP_OPAQUE(OrtEpDevice) HIPEP_OPAQUE(OrtSessionOptions)
    HIPEP_OPAQUE(OrtGraph) HIPEP_OPAQUE(OrtNode) HIPEP_OPAQUE(OrtValueInfo) HIPEP_OPAQUE(OrtOpAttr)
    HIPEP_OPAQUE(OrtValue) HIPEP_OPAQUE(OrtKernelContext) HIPEP_OPAQUE(OrtNodeComputeContext)
    HIPEP_OPAQUE(OrtEpGraphSupportInfo) HIPEP_OPAQUE(OrtMemoryInfo) HIPEP_OPAQUE(OrtMemoryDevice)
    HIPEP_OPAQUE(OrtSyncStream) HIPEP_OPAQUE(OrtTensorTypeAndShapeInfo) HIPEP_OPAQUE(OrtTypeInfo)
    HIPEP_OPAQUE(OrtRunOptions) HIPEP_OPAQUE(OrtKernelRegistry) HIPEP_OPAQUE(OrtKernelDefBuilder)
    HIPEP_OPAQUE(OrtKernelDef) HIPEP_OPAQUE(OrtDataType) HIPEP_OPAQUE(OrtKernelInfo)
    """
    ctypedef struct OrtStatus:
        pass
    ctypedef struct OrtLogger:
        pass
    ctypedef struct OrtKeyValuePairs:
        pass
    ctypedef struct OrtHardwareDevice:
        pass
    ctypedef struct OrtEpDevice:
        pass
    ctypedef struct OrtSessionOptions:
        pass
    ctypedef struct OrtGraph:
        pass
    ctypedef struct OrtNode:
        pass
    ctypedef struct OrtValueInfo:
        pass
    ctypedef struct OrtOpAttr:
        pass
    ctypedef struct OrtValue:
        pass
    ctypedef struct OrtKernelContext:
        pass
    ctypedef struct OrtNodeComputeContext:
        pass
    ctypedef struct OrtEpGraphSupportInfo:
        pass
    ctypedef struct OrtMemoryInfo:
        pass
    ctypedef struct OrtMemoryDevice:
        pass
    ctypedef struct OrtSyncStream:
        pass
    ctypedef struct OrtTensorTypeAndShapeInfo:
        pass
    ctypedef struct OrtTypeInfo:
        pass
    ctypedef struct OrtRunOptions:
        pass
    ctypedef struct OrtKernelRegistry:
        pass
    ctypedef struct OrtKernelDefBuilder:
        pass
    ctypedef struct OrtKernelDef:
        pass
    ctypedef struct OrtDataType:
        pass
    ctypedef struct OrtKernelInfo:
        pass

# C bool is one byte in this ABI.
ctypedef uint8_t cbool

cdef struct OrtApiBase:
    const void** (*GetApi)(uint32_t version) noexcept nogil
    const char* (*GetVersionString)() noexcept nogil

cdef struct OrtAllocator:
    uint32_t version
    void* (*Alloc)(OrtAllocator*, size_t) noexcept nogil
    void (*Free)(OrtAllocator*, void*) noexcept nogil
    const OrtMemoryInfo* (*Info)(const OrtAllocator*) noexcept nogil
    void* (*Reserve)(OrtAllocator*, size_t) noexcept nogil
    OrtStatus* (*GetStats)(const OrtAllocator*, OrtKeyValuePairs**) noexcept nogil
    void* (*AllocOnStream)(OrtAllocator*, size_t, OrtSyncStream*) noexcept nogil
    OrtStatus* (*Shrink)(OrtAllocator*) noexcept nogil

cdef struct OrtDataTransferImpl:
    uint32_t ort_version_supported
    void (*Release)(OrtDataTransferImpl*) noexcept nogil
    cbool (*CanCopy)(
        const OrtDataTransferImpl*, const OrtMemoryDevice*,
        const OrtMemoryDevice*) noexcept nogil
    OrtStatus* (*CopyTensors)(
        OrtDataTransferImpl*, const OrtValue**, OrtValue**, OrtSyncStream**,
        size_t) noexcept nogil

cdef struct OrtSyncNotificationImpl:
    uint32_t ort_version_supported
    void (*Release)(OrtSyncNotificationImpl*) noexcept nogil
    OrtStatus* (*Activate)(OrtSyncNotificationImpl*) noexcept nogil
    OrtStatus* (*WaitOnDevice)(OrtSyncNotificationImpl*, OrtSyncStream*) noexcept nogil
    OrtStatus* (*WaitOnHost)(OrtSyncNotificationImpl*) noexcept nogil

cdef struct OrtSyncStreamImpl:
    uint32_t ort_version_supported
    void (*Release)(OrtSyncStreamImpl*) noexcept nogil
    void* (*GetHandle)(OrtSyncStreamImpl*) noexcept nogil
    OrtStatus* (*CreateNotification)(OrtSyncStreamImpl*, OrtSyncNotificationImpl**) noexcept nogil
    OrtStatus* (*Flush)(OrtSyncStreamImpl*) noexcept nogil
    OrtStatus* (*OnSessionRunEnd)(OrtSyncStreamImpl*) noexcept nogil

cdef struct OrtNodeFusionOptions:
    uint32_t ort_version_supported
    cbool drop_constant_initializers

cdef struct OrtNodeComputeInfo:
    uint32_t ort_version_supported
    OrtStatus* (*CreateState)(OrtNodeComputeInfo*, OrtNodeComputeContext*, void**) noexcept nogil
    OrtStatus* (*Compute)(OrtNodeComputeInfo*, void*, OrtKernelContext*) noexcept nogil
    void (*ReleaseState)(OrtNodeComputeInfo*, void*) noexcept nogil

cdef struct OrtKernelImpl:
    uint32_t ort_version_supported
    uint32_t flags
    OrtStatus* (*Compute)(OrtKernelImpl*, OrtKernelContext*) noexcept nogil
    void (*Release)(OrtKernelImpl*) noexcept nogil
    OrtStatus* (*PrePackWeight)(
        OrtKernelImpl*, const OrtValue*, int, OrtAllocator*, void*, cbool*) noexcept nogil
    OrtStatus* (*SetSharedPrePackedWeight)(
        OrtKernelImpl*, const void* const*, const size_t*, size_t, int) noexcept nogil

cdef struct OrtEp:
    uint32_t ort_version_supported
    const char* (*GetName)(const OrtEp*) noexcept nogil
    OrtStatus* (*GetCapability)(OrtEp*, const OrtGraph*, OrtEpGraphSupportInfo*) noexcept nogil
    OrtStatus* (*Compile)(
        OrtEp*, const OrtGraph**, const OrtNode**, size_t, OrtNodeComputeInfo**,
        OrtNode**) noexcept nogil
    void (*ReleaseNodeComputeInfos)(OrtEp*, OrtNodeComputeInfo**, size_t) noexcept nogil
    OrtStatus* (*GetPreferredDataLayout)(OrtEp*, int*) noexcept nogil
    OrtStatus* (*ShouldConvertDataLayoutForOp)(
        OrtEp*, const char*, const char*, int, int*) noexcept nogil
    OrtStatus* (*SetDynamicOptions)(
        OrtEp*, const char* const*, const char* const*, size_t) noexcept nogil
    OrtStatus* (*OnRunStart)(OrtEp*, const OrtRunOptions*) noexcept nogil
    OrtStatus* (*OnRunEnd)(OrtEp*, const OrtRunOptions*, cbool) noexcept nogil
    OrtStatus* (*CreateAllocator)(OrtEp*, const OrtMemoryInfo*, OrtAllocator**) noexcept nogil
    OrtStatus* (*CreateSyncStreamForDevice)(
        OrtEp*, const OrtMemoryDevice*, OrtSyncStreamImpl**) noexcept nogil
    const char* (*GetCompiledModelCompatibilityInfo)(OrtEp*, const OrtGraph*) noexcept nogil
    OrtStatus* (*GetKernelRegistry)(OrtEp*, const OrtKernelRegistry**) noexcept nogil
    OrtStatus* (*IsConcurrentRunSupported)(OrtEp*, cbool*) noexcept nogil
    OrtStatus* (*Sync)(OrtEp*) noexcept nogil
    OrtStatus* (*CreateProfiler)(OrtEp*, void**) noexcept nogil
    cbool (*IsGraphCaptureEnabled)(const OrtEp*) noexcept nogil
    cbool (*IsGraphCaptured)(const OrtEp*, int) noexcept nogil
    OrtStatus* (*ReplayGraph)(OrtEp*, int) noexcept nogil
    int (*GetGraphCaptureNodeAssignmentPolicy)(const OrtEp*) noexcept nogil
    OrtStatus* (*GetAvailableResource)(const OrtEp*, void*) noexcept nogil
    OrtStatus* (*OnSessionInitializationEnd)(OrtEp*) noexcept nogil
    OrtStatus* (*GetDefaultMemoryDevice)(const OrtEp*, const OrtMemoryDevice**) noexcept nogil
    OrtStatus* (*ReleaseCapturedGraph)(OrtEp*, int) noexcept nogil
    OrtStatus* (*GetWeightlessSupport)(const OrtEp*, int*) noexcept nogil
    OrtStatus* (*GetEpContextDataCallbackSupport)(const OrtEp*, uint32_t*) noexcept nogil
    # Zero: a newer runtime that reads past the members known here finds "not implemented".
    void* reserved[32]

cdef struct OrtEpFactory:
    uint32_t ort_version_supported
    const char* (*GetName)(const OrtEpFactory*) noexcept nogil
    const char* (*GetVendor)(const OrtEpFactory*) noexcept nogil
    OrtStatus* (*GetSupportedDevices)(
        OrtEpFactory*, const OrtHardwareDevice* const*, size_t, OrtEpDevice**, size_t,
        size_t*) noexcept nogil
    OrtStatus* (*CreateEp)(
        OrtEpFactory*, const OrtHardwareDevice* const*, const OrtKeyValuePairs* const*, size_t,
        const OrtSessionOptions*, const OrtLogger*, OrtEp**) noexcept nogil
    void (*ReleaseEp)(OrtEpFactory*, OrtEp*) noexcept nogil
    uint32_t (*GetVendorId)(const OrtEpFactory*) noexcept nogil
    const char* (*GetVersion)(const OrtEpFactory*) noexcept nogil
    OrtStatus* (*ValidateCompiledModelCompatibilityInfo)(
        OrtEpFactory*, const OrtHardwareDevice* const*, size_t, const char*,
        int*) noexcept nogil
    OrtStatus* (*CreateAllocator)(
        OrtEpFactory*, const OrtMemoryInfo*, const OrtKeyValuePairs*,
        OrtAllocator**) noexcept nogil
    void (*ReleaseAllocator)(OrtEpFactory*, OrtAllocator*) noexcept nogil
    OrtStatus* (*CreateDataTransfer)(OrtEpFactory*, OrtDataTransferImpl**) noexcept nogil
    cbool (*IsStreamAware)(const OrtEpFactory*) noexcept nogil
    OrtStatus* (*CreateSyncStreamForDevice)(
        OrtEpFactory*, const OrtMemoryDevice*, const OrtKeyValuePairs*,
        OrtSyncStreamImpl**) noexcept nogil
    OrtStatus* (*GetHardwareDeviceIncompatibilityDetails)(
        OrtEpFactory*, const OrtHardwareDevice*, void*) noexcept nogil
    OrtStatus* (*CreateExternalResourceImporterForDevice)(
        OrtEpFactory*, const OrtEpDevice*, void**) noexcept nogil
    OrtStatus* (*GetNumCustomOpDomains)(OrtEpFactory*, size_t*) noexcept nogil
    OrtStatus* (*GetCustomOpDomains)(OrtEpFactory*, void**, size_t) noexcept nogil
    OrtStatus* (*InitGraphicsInterop)(OrtEpFactory*, const OrtEpDevice*, const void*) noexcept nogil
    OrtStatus* (*DeinitGraphicsInterop)(OrtEpFactory*, const OrtEpDevice*) noexcept nogil
    OrtStatus* (*SelectBestModelCandidate)(
        OrtEpFactory*, const OrtHardwareDevice*, const OrtKeyValuePairs* const*, size_t,
        const OrtSessionOptions*, size_t*) noexcept nogil
    # Zero: a newer runtime that reads past the members known here finds "not implemented".
    void* reserved[32]
