"""Calls through the ONNX Runtime API tables, one function per slot that hipep uses.

``Ort`` holds the tables of one onnxruntime library: a process may hold two, so every object keeps
its own.
"""
from libc.stddef cimport size_t
from libc.stdint cimport int32_t, int64_t, uint32_t

from hipep._ort cimport *

cdef enum:
    NEWEST_API = 31  # whose structs are declared; members beyond are zero

cdef struct Ort:
    const void** api
    const void** ep
    int minor  # of version 1.minor
    # ort_version_supported of every struct: some releases refuse structs newer than they are.
    uint32_t claimed

cdef inline OrtStatus* CreateStatus(const Ort* ort, int code, const char* text) noexcept nogil:
    return (<OrtStatus* (*)(int, const char*) noexcept nogil>ort.api[0])(code, text)

cdef inline const char* GetErrorMessage(const Ort* ort, const OrtStatus* status) noexcept nogil:
    return (<const char* (*)(const OrtStatus*) noexcept nogil>ort.api[2])(status)

cdef inline void ReleaseStatus(const Ort* ort, OrtStatus* status) noexcept nogil:
    (<void (*)(OrtStatus*) noexcept nogil>ort.api[93])(status)

cdef inline OrtStatus* GetTensorMutableData(const Ort* ort, OrtValue* value,
        void** out) noexcept nogil:
    return (<OrtStatus* (*)(OrtValue*, void**) noexcept nogil>ort.api[51])(value, out)

cdef inline OrtStatus* GetTensorElementType(const Ort* ort, const OrtTensorTypeAndShapeInfo* info,
        int* out) noexcept nogil:
    return (<OrtStatus* (*)(const OrtTensorTypeAndShapeInfo*,
        int*) noexcept nogil>ort.api[60])(info, out)

cdef inline OrtStatus* GetDimensionsCount(const Ort* ort, const OrtTensorTypeAndShapeInfo* info,
        size_t* out) noexcept nogil:
    return (<OrtStatus* (*)(const OrtTensorTypeAndShapeInfo*,
        size_t*) noexcept nogil>ort.api[61])(info, out)

cdef inline OrtStatus* GetDimensions(const Ort* ort, const OrtTensorTypeAndShapeInfo* info,
        int64_t* out, size_t rank) noexcept nogil:
    return (<OrtStatus* (*)(const OrtTensorTypeAndShapeInfo*, int64_t*,
        size_t) noexcept nogil>ort.api[62])(info, out, rank)

cdef inline OrtStatus* CastTypeInfoToTensorInfo(const Ort* ort, const OrtTypeInfo* info,
        const OrtTensorTypeAndShapeInfo** out) noexcept nogil:
    return (<OrtStatus* (*)(const OrtTypeInfo*,
        const OrtTensorTypeAndShapeInfo**) noexcept nogil>ort.api[55])(info, out)

cdef inline OrtStatus* KernelContext_GetInput(const Ort* ort, const OrtKernelContext* context,
        size_t index, const OrtValue** out) noexcept nogil:
    return (<OrtStatus* (*)(const OrtKernelContext*, size_t,
        const OrtValue**) noexcept nogil>ort.api[90])(context, index, out)

cdef inline OrtStatus* KernelContext_GetOutput(const Ort* ort, OrtKernelContext* context, size_t
        index, const int64_t* dims, size_t rank, OrtValue** out) noexcept nogil:
    return (<OrtStatus* (*)(OrtKernelContext*, size_t, const int64_t*, size_t,
        OrtValue**) noexcept nogil>ort.api[91])(context, index, dims, rank, out)

cdef inline void ReleaseMemoryInfo(const Ort* ort, OrtMemoryInfo* info) noexcept nogil:
    (<void (*)(OrtMemoryInfo*) noexcept nogil>ort.api[94])(info)

cdef inline OrtStatus* KernelContext_GetGPUComputeStream(const Ort* ort,
        const OrtKernelContext* context, void** out) noexcept nogil:
    return (<OrtStatus* (*)(const OrtKernelContext*, void**) noexcept nogil>ort.api[193])(context,
        out)

cdef inline OrtStatus* HasSessionConfigEntry(const Ort* ort, const OrtSessionOptions* options,
        const char* key, int* out) noexcept nogil:
    return (<OrtStatus* (*)(const OrtSessionOptions*, const char*,
        int*) noexcept nogil>ort.api[237])(options, key, out)

cdef inline OrtStatus* GetSessionConfigEntry(const Ort* ort, const OrtSessionOptions* options,
        const char* key, char* buffer, size_t* bytes) noexcept nogil:
    return (<OrtStatus* (*)(const OrtSessionOptions*, const char*, char*,
        size_t*) noexcept nogil>ort.api[238])(options, key, buffer, bytes)

cdef inline OrtStatus* ReadOpAttr(const Ort* ort, const OrtOpAttr* attribute, int kind,
        void* buffer, size_t bytes, size_t* needed) noexcept nogil:
    return (<OrtStatus* (*)(const OrtOpAttr*, int, void*, size_t,
        size_t*) noexcept nogil>ort.api[272])(attribute, kind, buffer, bytes, needed)

cdef inline OrtStatus* KernelContext_ParallelFor(const Ort* ort, const OrtKernelContext* context,
        void (*body)(void*, size_t) noexcept nogil, size_t total, size_t batches,
        void* argument) noexcept nogil:
    return (<OrtStatus* (*)(const OrtKernelContext*, void (*)(void*, size_t) noexcept nogil, size_t,
        size_t, void*) noexcept nogil>ort.api[274])(context, body, total, batches, argument)

cdef inline OrtStatus* GetValueInfoName(const Ort* ort, const OrtValueInfo* info,
        const char** out) noexcept nogil:
    return (<OrtStatus* (*)(const OrtValueInfo*, const char**) noexcept nogil>ort.api[289])(info,
        out)

cdef inline OrtStatus* GetValueInfoTypeInfo(const Ort* ort, const OrtValueInfo* info,
        const OrtTypeInfo** out) noexcept nogil:
    return (<OrtStatus* (*)(const OrtValueInfo*,
        const OrtTypeInfo**) noexcept nogil>ort.api[290])(info, out)

cdef inline void CreateKeyValuePairs(const Ort* ort, OrtKeyValuePairs** out) noexcept nogil:
    (<void (*)(OrtKeyValuePairs**) noexcept nogil>ort.api[295])(out)

cdef inline void AddKeyValuePair(const Ort* ort, OrtKeyValuePairs* pairs, const char* key,
        const char* value) noexcept nogil:
    (<void (*)(OrtKeyValuePairs*, const char*, const char*) noexcept nogil>ort.api[296])(pairs, key,
        value)

cdef inline const char* GetKeyValue(const Ort* ort, const OrtKeyValuePairs* pairs,
        const char* key) noexcept nogil:
    return (<const char* (*)(const OrtKeyValuePairs*,
        const char*) noexcept nogil>ort.api[297])(pairs, key)

cdef inline void GetKeyValuePairs(const Ort* ort, const OrtKeyValuePairs* pairs,
        const char* const** keys, const char* const** values, size_t* count) noexcept nogil:
    (<void (*)(const OrtKeyValuePairs*, const char* const**, const char* const**,
        size_t*) noexcept nogil>ort.api[298])(pairs, keys, values, count)

cdef inline void ReleaseKeyValuePairs(const Ort* ort, OrtKeyValuePairs* pairs) noexcept nogil:
    (<void (*)(OrtKeyValuePairs*) noexcept nogil>ort.api[300])(pairs)

cdef inline int HardwareDevice_Type(const Ort* ort, const OrtHardwareDevice* device) noexcept nogil:
    return (<int (*)(const OrtHardwareDevice*) noexcept nogil>ort.api[307])(device)

cdef inline uint32_t HardwareDevice_VendorId(const Ort* ort,
        const OrtHardwareDevice* device) noexcept nogil:
    return (<uint32_t (*)(const OrtHardwareDevice*) noexcept nogil>ort.api[308])(device)

cdef inline const void** GetEpApi(const Ort* ort) noexcept nogil:
    return (<const void** (*)() noexcept nogil>ort.api[317])()

cdef inline OrtStatus* GetTensorSizeInBytes(const Ort* ort, const OrtValue* value,
        size_t* out) noexcept nogil:
    return (<OrtStatus* (*)(const OrtValue*, size_t*) noexcept nogil>ort.api[318])(value, out)

cdef inline OrtStatus* CreateMemoryInfo_V2(const Ort* ort, const char* name, int device_type,
        uint32_t vendor, int32_t device_id, int memory_type, size_t alignment, int allocator_type,
        OrtMemoryInfo** out) noexcept nogil:
    return (<OrtStatus* (*)(const char*, int, uint32_t, int32_t, int, size_t, int,
        OrtMemoryInfo**) noexcept nogil>ort.api[320])(name, device_type, vendor, device_id,
        memory_type, alignment, allocator_type, out)

cdef inline OrtStatus* ValueInfo_GetInitializerValue(const Ort* ort, const OrtValueInfo* info,
        const OrtValue** out) noexcept nogil:
    return (<OrtStatus* (*)(const OrtValueInfo*,
        const OrtValue**) noexcept nogil>ort.api[326])(info, out)

cdef inline OrtStatus* ValueInfo_IsConstantInitializer(const Ort* ort, const OrtValueInfo* info,
        cbool* out) noexcept nogil:
    return (<OrtStatus* (*)(const OrtValueInfo*, cbool*) noexcept nogil>ort.api[331])(info, out)

cdef inline OrtStatus* Graph_GetName(const Ort* ort, const OrtGraph* graph,
        const char** out) noexcept nogil:
    return (<OrtStatus* (*)(const OrtGraph*, const char**) noexcept nogil>ort.api[333])(graph, out)

cdef inline OrtStatus* Graph_GetNumOutputs(const Ort* ort, const OrtGraph* graph,
        size_t* out) noexcept nogil:
    return (<OrtStatus* (*)(const OrtGraph*, size_t*) noexcept nogil>ort.api[340])(graph, out)

cdef inline OrtStatus* Graph_GetOutputs(const Ort* ort, const OrtGraph* graph,
        const OrtValueInfo** out, size_t count) noexcept nogil:
    return (<OrtStatus* (*)(const OrtGraph*, const OrtValueInfo**,
        size_t) noexcept nogil>ort.api[341])(graph, out, count)

cdef inline OrtStatus* Graph_GetNumNodes(const Ort* ort, const OrtGraph* graph,
        size_t* out) noexcept nogil:
    return (<OrtStatus* (*)(const OrtGraph*, size_t*) noexcept nogil>ort.api[344])(graph, out)

cdef inline OrtStatus* Graph_GetNodes(const Ort* ort, const OrtGraph* graph, const OrtNode** out,
        size_t count) noexcept nogil:
    return (<OrtStatus* (*)(const OrtGraph*, const OrtNode**,
        size_t) noexcept nogil>ort.api[345])(graph, out, count)

cdef inline OrtStatus* Graph_GetParentNode(const Ort* ort, const OrtGraph* graph,
        const OrtNode** out) noexcept nogil:
    return (<OrtStatus* (*)(const OrtGraph*, const OrtNode**) noexcept nogil>ort.api[346])(graph,
        out)

cdef inline OrtStatus* Node_GetName(const Ort* ort, const OrtNode* node,
        const char** out) noexcept nogil:
    return (<OrtStatus* (*)(const OrtNode*, const char**) noexcept nogil>ort.api[349])(node, out)

cdef inline OrtStatus* Node_GetOperatorType(const Ort* ort, const OrtNode* node,
        const char** out) noexcept nogil:
    return (<OrtStatus* (*)(const OrtNode*, const char**) noexcept nogil>ort.api[350])(node, out)

cdef inline OrtStatus* Node_GetDomain(const Ort* ort, const OrtNode* node,
        const char** out) noexcept nogil:
    return (<OrtStatus* (*)(const OrtNode*, const char**) noexcept nogil>ort.api[351])(node, out)

cdef inline OrtStatus* Node_GetSinceVersion(const Ort* ort, const OrtNode* node,
        int* out) noexcept nogil:
    return (<OrtStatus* (*)(const OrtNode*, int*) noexcept nogil>ort.api[352])(node, out)

cdef inline OrtStatus* Node_GetNumInputs(const Ort* ort, const OrtNode* node,
        size_t* out) noexcept nogil:
    return (<OrtStatus* (*)(const OrtNode*, size_t*) noexcept nogil>ort.api[353])(node, out)

cdef inline OrtStatus* Node_GetInputs(const Ort* ort, const OrtNode* node, const OrtValueInfo** out,
        size_t count) noexcept nogil:
    return (<OrtStatus* (*)(const OrtNode*, const OrtValueInfo**,
        size_t) noexcept nogil>ort.api[354])(node, out, count)

cdef inline OrtStatus* Node_GetNumOutputs(const Ort* ort, const OrtNode* node,
        size_t* out) noexcept nogil:
    return (<OrtStatus* (*)(const OrtNode*, size_t*) noexcept nogil>ort.api[355])(node, out)

cdef inline OrtStatus* Node_GetOutputs(const Ort* ort, const OrtNode* node,
        const OrtValueInfo** out, size_t count) noexcept nogil:
    return (<OrtStatus* (*)(const OrtNode*, const OrtValueInfo**,
        size_t) noexcept nogil>ort.api[356])(node, out, count)

cdef inline OrtStatus* Node_GetAttributeByName(const Ort* ort, const OrtNode* node,
        const char* name, const OrtOpAttr** out) noexcept nogil:
    return (<OrtStatus* (*)(const OrtNode*, const char*,
        const OrtOpAttr**) noexcept nogil>ort.api[361])(node, name, out)

cdef inline OrtStatus* Node_GetNumSubgraphs(const Ort* ort, const OrtNode* node,
        size_t* out) noexcept nogil:
    return (<OrtStatus* (*)(const OrtNode*, size_t*) noexcept nogil>ort.api[365])(node, out)

cdef inline OrtStatus* Node_GetSubgraphs(const Ort* ort, const OrtNode* node, const OrtGraph** out,
        size_t count, const char** attributes) noexcept nogil:
    return (<OrtStatus* (*)(const OrtNode*, const OrtGraph**, size_t,
        const char**) noexcept nogil>ort.api[366])(node, out, count, attributes)

cdef inline OrtStatus* Node_GetEpName(const Ort* ort, const OrtNode* node,
        const char** out) noexcept nogil:
    return (<OrtStatus* (*)(const OrtNode*, const char**) noexcept nogil>ort.api[368])(node, out)

cdef inline cbool TensorTypeAndShape_HasShape(const Ort* ort,
        const OrtTensorTypeAndShapeInfo* info) noexcept nogil:
    return (<cbool (*)(const OrtTensorTypeAndShapeInfo*) noexcept nogil>ort.api[390])(info)

cdef inline OrtStatus* GetSessionOptionsConfigEntries(const Ort* ort,
        const OrtSessionOptions* options, OrtKeyValuePairs** out) noexcept nogil:
    return (<OrtStatus* (*)(const OrtSessionOptions*,
        OrtKeyValuePairs**) noexcept nogil>ort.api[379])(options, out)

cdef inline OrtStatus* GetTensorData(const Ort* ort, const OrtValue* value,
        const void** out) noexcept nogil:
    return (<OrtStatus* (*)(const OrtValue*, const void**) noexcept nogil>ort.api[378])(value, out)

cdef inline OrtStatus* GetTensorElementTypeAndShapeDataReference(const Ort* ort,
        const OrtValue* value, int* dtype, const int64_t** dims, size_t* rank) noexcept nogil:
    return (<OrtStatus* (*)(const OrtValue*, int*, const int64_t**,
        size_t*) noexcept nogil>ort.api[414])(value, dtype, dims, rank)

cdef inline OrtStatus* CreateEpDevice(const Ort* ort, OrtEpFactory* factory,
        const OrtHardwareDevice* device, const OrtKeyValuePairs* metadata,
        const OrtKeyValuePairs* options, OrtEpDevice** out) noexcept nogil:
    return (<OrtStatus* (*)(OrtEpFactory*, const OrtHardwareDevice*, const OrtKeyValuePairs*,
        const OrtKeyValuePairs*, OrtEpDevice**) noexcept nogil>ort.ep[0])(factory, device, metadata,
        options, out)

cdef inline OrtStatus* EpGraphSupportInfo_AddNodesToFuse(const Ort* ort,
        OrtEpGraphSupportInfo* info, const OrtNode** nodes, size_t count,
        const OrtNodeFusionOptions* options) noexcept nogil:
    return (<OrtStatus* (*)(OrtEpGraphSupportInfo*, const OrtNode**, size_t,
        const OrtNodeFusionOptions*) noexcept nogil>ort.ep[2])(info, nodes, count, options)

cdef inline OrtStatus* EpDevice_AddAllocatorInfo(const Ort* ort, OrtEpDevice* device,
        const OrtMemoryInfo* info) noexcept nogil:
    return (<OrtStatus* (*)(OrtEpDevice*, const OrtMemoryInfo*) noexcept nogil>ort.ep[5])(device,
        info)

cdef inline const OrtMemoryDevice* Value_GetMemoryDevice(const Ort* ort,
        const OrtValue* value) noexcept nogil:
    return (<const OrtMemoryDevice* (*)(const OrtValue*) noexcept nogil>ort.ep[7])(value)

cdef inline int MemoryDevice_GetDeviceType(const Ort* ort,
        const OrtMemoryDevice* device) noexcept nogil:
    return (<int (*)(const OrtMemoryDevice*) noexcept nogil>ort.ep[9])(device)

cdef inline int MemoryDevice_GetMemoryType(const Ort* ort,
        const OrtMemoryDevice* device) noexcept nogil:
    return (<int (*)(const OrtMemoryDevice*) noexcept nogil>ort.ep[10])(device)

cdef inline uint32_t MemoryDevice_GetVendorId(const Ort* ort,
        const OrtMemoryDevice* device) noexcept nogil:
    return (<uint32_t (*)(const OrtMemoryDevice*) noexcept nogil>ort.ep[11])(device)

cdef inline uint32_t MemoryDevice_GetDeviceId(const Ort* ort,
        const OrtMemoryDevice* device) noexcept nogil:
    return (<uint32_t (*)(const OrtMemoryDevice*) noexcept nogil>ort.ep[12])(device)

cdef inline const OrtSyncStreamImpl* SyncStream_GetImpl(const Ort* ort,
        const OrtSyncStream* stream) noexcept nogil:
    return (<const OrtSyncStreamImpl* (*)(const OrtSyncStream*) noexcept nogil>ort.ep[13])(stream)

cdef inline OrtStatus* CreateHardwareDevice(const Ort* ort, int kind, uint32_t vendor, uint32_t
        device, const char* vendor_name, const OrtKeyValuePairs* metadata,
        OrtHardwareDevice** out) noexcept nogil:
    return (<OrtStatus* (*)(int, uint32_t, uint32_t, const char*, const OrtKeyValuePairs*,
        OrtHardwareDevice**) noexcept nogil>ort.ep[16])(kind, vendor, device, vendor_name, metadata,
        out)

cdef inline void ReleaseHardwareDevice(const Ort* ort, OrtHardwareDevice* device) noexcept nogil:
    (<void (*)(OrtHardwareDevice*) noexcept nogil>ort.ep[17])(device)

cdef inline OrtStatus* CreateKernelRegistry(const Ort* ort, OrtKernelRegistry** out) noexcept nogil:
    return (<OrtStatus* (*)(OrtKernelRegistry**) noexcept nogil>ort.ep[18])(out)

cdef inline void ReleaseKernelRegistry(const Ort* ort, OrtKernelRegistry* registry) noexcept nogil:
    (<void (*)(OrtKernelRegistry*) noexcept nogil>ort.ep[19])(registry)

cdef inline OrtStatus* KernelRegistry_AddKernel(const Ort* ort, OrtKernelRegistry* registry,
        const OrtKernelDef* definition, OrtStatus* (*create)(void*, const OrtKernelInfo*,
        OrtKernelImpl**) noexcept nogil, void* state) noexcept nogil:
    return (<OrtStatus* (*)(OrtKernelRegistry*, const OrtKernelDef*, OrtStatus* (*)(void*,
        const OrtKernelInfo*, OrtKernelImpl**) noexcept nogil,
        void*) noexcept nogil>ort.ep[20])(registry, definition, create, state)

cdef inline OrtStatus* CreateKernelDefBuilder(const Ort* ort,
        OrtKernelDefBuilder** out) noexcept nogil:
    return (<OrtStatus* (*)(OrtKernelDefBuilder**) noexcept nogil>ort.ep[21])(out)

cdef inline void ReleaseKernelDefBuilder(const Ort* ort,
        OrtKernelDefBuilder* builder) noexcept nogil:
    (<void (*)(OrtKernelDefBuilder*) noexcept nogil>ort.ep[22])(builder)

cdef inline OrtStatus* KernelDefBuilder_SetOperatorType(const Ort* ort,
        OrtKernelDefBuilder* builder, const char* name) noexcept nogil:
    return (<OrtStatus* (*)(OrtKernelDefBuilder*, const char*) noexcept nogil>ort.ep[23])(builder,
        name)

cdef inline OrtStatus* KernelDefBuilder_SetDomain(const Ort* ort, OrtKernelDefBuilder* builder,
        const char* name) noexcept nogil:
    return (<OrtStatus* (*)(OrtKernelDefBuilder*, const char*) noexcept nogil>ort.ep[24])(builder,
        name)

cdef inline OrtStatus* KernelDefBuilder_SetSinceVersion(const Ort* ort,
        OrtKernelDefBuilder* builder, int first, int last) noexcept nogil:
    return (<OrtStatus* (*)(OrtKernelDefBuilder*, int, int) noexcept nogil>ort.ep[25])(builder,
        first, last)

cdef inline OrtStatus* KernelDefBuilder_SetExecutionProvider(const Ort* ort,
        OrtKernelDefBuilder* builder, const char* name) noexcept nogil:
    return (<OrtStatus* (*)(OrtKernelDefBuilder*, const char*) noexcept nogil>ort.ep[26])(builder,
        name)

cdef inline OrtStatus* KernelDefBuilder_SetInputMemType(const Ort* ort,
        OrtKernelDefBuilder* builder, size_t index, int kind) noexcept nogil:
    return (<OrtStatus* (*)(OrtKernelDefBuilder*, size_t, int) noexcept nogil>ort.ep[27])(builder,
        index, kind)

cdef inline OrtStatus* KernelDefBuilder_SetOutputMemType(const Ort* ort,
        OrtKernelDefBuilder* builder, size_t index, int kind) noexcept nogil:
    return (<OrtStatus* (*)(OrtKernelDefBuilder*, size_t, int) noexcept nogil>ort.ep[28])(builder,
        index, kind)

cdef inline OrtStatus* KernelDefBuilder_AddTypeConstraint(const Ort* ort,
        OrtKernelDefBuilder* builder, const char* name, const OrtDataType** types, size_t
        count) noexcept nogil:
    return (<OrtStatus* (*)(OrtKernelDefBuilder*, const char*, const OrtDataType**,
        size_t) noexcept nogil>ort.ep[29])(builder, name, types, count)

cdef inline OrtStatus* KernelDefBuilder_Build(const Ort* ort, OrtKernelDefBuilder* builder,
        OrtKernelDef** out) noexcept nogil:
    return (<OrtStatus* (*)(OrtKernelDefBuilder*,
        OrtKernelDef**) noexcept nogil>ort.ep[32])(builder, out)

cdef inline void ReleaseKernelDef(const Ort* ort, OrtKernelDef* definition) noexcept nogil:
    (<void (*)(OrtKernelDef*) noexcept nogil>ort.ep[33])(definition)

cdef inline OrtStatus* GetTensorDataType(const Ort* ort, int dtype,
        const OrtDataType** out) noexcept nogil:
    return (<OrtStatus* (*)(int, const OrtDataType**) noexcept nogil>ort.ep[40])(dtype, out)
