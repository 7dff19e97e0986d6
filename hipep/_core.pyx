"""The plugin's entry points and factory."""
from libc.stddef cimport size_t
from libc.stdint cimport int32_t, uint32_t
from libc.stdio cimport sscanf
from libc.stdlib cimport calloc

from hipep._devices cimport DeviceList, OfferedDevice, describe_device, find_devices
from hipep._graph cimport check
from hipep._kernels cimport *
from hipep._memory cimport (
    AMD, free_allocator, new_allocator, new_data_transfer, new_memcpy_registry)
from hipep._ort_api cimport *
from hipep._provider cimport free_provider, new_provider
from hipep._status cimport failure
from hipep._sync_stream cimport new_sync_stream

from hipep.version import __version__

EP_NAME = "HipExecutionProvider"
EP_VERSION = __version__
MINIMUM_ORT = (1, 24)

cdef enum:
    MINIMUM_MINOR = 24
    TABLE_VERSION = 22  # tables only grow: every supported version returns the same pointer
    MAX_LIBRARIES = 8

cdef extern from "Python.h" nogil:
    ctypedef int PyGILState_STATE
    PyGILState_STATE PyGILState_Ensure()
    void PyGILState_Release(PyGILState_STATE)
    int Py_IsInitialized()
    void* PyImport_ImportModule(const char*)
    void PyErr_Clear()

# One per onnxruntime library in the process, kept for ever: sessions, allocators and streams may
# outlive the registration, and onnxruntime frees memory after exit has begun.
cdef struct Factory:
    OrtEpFactory base
    Ort ort
    OrtKernelRegistry* registry
    DeviceList devices

cdef Factory* _factories[8]
cdef int _factory_count = 0
cdef bint _enumerates_host = False
cdef bytes _name = EP_NAME.encode()
cdef bytes _version = EP_VERSION.encode()
cdef const char* _name_text = _name
cdef const char* _version_text = _version
_host_modes = {
    "serial": HIPEP_MODE_SERIAL, "faithful32": HIPEP_MODE_FAITHFUL32,
    "faithful64": HIPEP_MODE_FAITHFUL64}


def set_host_enumeration(enabled):
    """Choose whether a registration that follows offers the host as a device.

    Selection policies take a virtual GPU for a real one, so only ``hipep.register()`` asks for it.
    """
    global _enumerates_host
    _enumerates_host = enabled


cdef OrtStatus* _raised(const Ort* ort, error) noexcept:
    return CreateStatus(ort, 1, f"hipep: {error}".encode("utf-8", "replace"))


# ---- Devices ----------------------------------------------------------------------------------

cdef const char* _get_name(const OrtEpFactory* this) noexcept nogil:
    return _name_text


cdef const char* _get_vendor(const OrtEpFactory* this) noexcept nogil:
    return "hipep"


cdef uint32_t _get_vendor_id(const OrtEpFactory* this) noexcept nogil:
    return AMD


cdef const char* _get_version(const OrtEpFactory* this) noexcept nogil:
    return _version_text


cdef cbool _is_stream_aware(const OrtEpFactory* this) noexcept nogil:
    return 1


cdef OrtStatus* _get_supported_devices(
        OrtEpFactory* this, const OrtHardwareDevice* const* hardware, size_t hardware_count,
        OrtEpDevice** out, size_t capacity, size_t* count) noexcept with gil:
    cdef Factory* factory = <Factory*>this
    cdef OfferedDevice* offered
    cdef int32_t i
    count[0] = 0
    try:
        find_devices(&factory.ort, &factory.devices, hardware, hardware_count)
        for i in range(factory.devices.count):
            offered = &factory.devices.items[i]
            if count[0] < capacity and (_enumerates_host or not offered.only_registered):
                describe_device(&factory.ort, &factory.base, offered, &out[count[0]])
                count[0] += 1
        return NULL
    except BaseException as error:
        return _raised(&factory.ort, error)


# ---- Providers --------------------------------------------------------------------------------

cdef dict _read_options(const Ort* ort, const OrtSessionOptions* session_options):
    """Return the provider options of a session: its entries ``ep.<provider>.<option>``."""
    cdef OrtKeyValuePairs* pairs = NULL
    cdef const char* const* keys = NULL
    cdef const char* const* values = NULL
    cdef size_t i, count = 0
    prefix = f"ep.{EP_NAME.lower()}."
    known = ("session_token", "placement", "host_mode", "host_memory", "plan_cache_entries",
             "plan_cache_bytes", "memory_limit", "user_compute_stream", "graph_capture", "debug")
    options = {}
    check(ort, GetSessionOptionsConfigEntries(ort, session_options, &pairs))
    try:
        GetKeyValuePairs(ort, pairs, &keys, &values, &count)
        for i in range(count):
            key = keys[i].decode()
            if key.startswith(prefix):
                options[key[len(prefix):]] = values[i].decode()
    finally:
        ReleaseKeyValuePairs(ort, pairs)
    for key in options:
        if key not in known:
            raise ValueError(f"unknown option '{key}'; known are {', '.join(known[1:])}")
    return options


cdef OfferedDevice* _chosen_device(Factory* factory, const OrtHardwareDevice* const* hardware,
                                   size_t count) except NULL:
    cdef int32_t i
    if count != 1:
        raise ValueError(f"a session runs on one hipep device, {count} were given")
    for i in range(factory.devices.count):
        if factory.devices.items[i].hardware == hardware[0]:
            return &factory.devices.items[i]
    raise ValueError("the device given is none of hipep's")


cdef OrtEp* _new_ep(Factory* factory, const OrtHardwareDevice* const* hardware, size_t count,
                    const OrtSessionOptions* session_options) except NULL:
    cdef OfferedDevice* slot = _chosen_device(factory, hardware, count)
    cdef const hipep_device_info* info = hipep_device_get_info(slot.device)
    cdef hipep_device* device = slot.device
    options = _read_options(&factory.ort, session_options)
    mode = options.get("host_mode", "serial")
    if mode not in _host_modes:
        raise ValueError(f"host_mode is '{mode}'; {', '.join(_host_modes)} are known")
    if hipep_device_open(info.backend, info.ordinal, _host_modes[mode], info.host_memory,
                         &device) != HIPEP_OK:
        raise RuntimeError(hipep_last_error().decode())
    if slot.memory != NULL and factory.registry == NULL:
        factory.registry = new_memcpy_registry(&factory.ort, _name_text)
    return new_provider(
        &factory.ort, _name_text, factory.registry if slot.memory != NULL else NULL, device,
        options)


cdef OrtStatus* _create_ep(
        OrtEpFactory* this, const OrtHardwareDevice* const* hardware,
        const OrtKeyValuePairs* const* metadata, size_t count, const OrtSessionOptions* options,
        const OrtLogger* logger, OrtEp** out) noexcept with gil:
    cdef Factory* factory = <Factory*>this
    out[0] = NULL
    try:
        out[0] = _new_ep(factory, hardware, count, options)
        return NULL
    except BaseException as error:
        return _raised(&factory.ort, error)


cdef void _release_ep(OrtEpFactory* this, OrtEp* provider) noexcept nogil:
    free_provider(provider)


# ---- Memory -----------------------------------------------------------------------------------

cdef OrtStatus* _create_allocator(OrtEpFactory* this, const OrtMemoryInfo* info,
                                  const OrtKeyValuePairs* options,
                                  OrtAllocator** out) noexcept nogil:
    cdef Factory* factory = <Factory*>this
    cdef OfferedDevice* slot
    cdef int32_t i
    out[0] = NULL
    for i in range(factory.devices.count):
        slot = &factory.devices.items[i]
        if info == slot.memory and info != NULL:
            out[0] = new_allocator(&factory.ort, info, slot.device, HIPEP_KIND_DEVICE)
        elif info == slot.host_accessible and info != NULL:
            out[0] = new_allocator(&factory.ort, info, slot.device, HIPEP_KIND_HOST_ACCESSIBLE)
    if out[0] == NULL:
        return CreateStatus(&factory.ort, 2, "hipep: an allocator for memory that is not hipep's")
    return NULL


cdef void _release_allocator(OrtEpFactory* this, OrtAllocator* allocator) noexcept nogil:
    free_allocator(allocator)


cdef OrtStatus* _create_data_transfer(OrtEpFactory* this,
                                      OrtDataTransferImpl** out) noexcept nogil:
    cdef Factory* factory = <Factory*>this
    out[0] = NULL
    if factory.devices.copies.count == 0:
        return NULL
    out[0] = new_data_transfer(&factory.ort, &factory.devices.copies)
    return NULL if out[0] != NULL else CreateStatus(&factory.ort, 1, "hipep: out of host memory")


cdef OrtStatus* _create_stream(OrtEpFactory* this, const OrtMemoryDevice* memory,
                               const OrtKeyValuePairs* options,
                               OrtSyncStreamImpl** out) noexcept nogil:
    cdef Factory* factory = <Factory*>this
    cdef int32_t i, wanted = <int32_t>MemoryDevice_GetDeviceId(&factory.ort, memory)
    out[0] = NULL
    for i in range(factory.devices.copies.count):
        if factory.devices.copies.items[i].memory_id == wanted:
            out[0] = new_sync_stream(&factory.ort, factory.devices.copies.items[i].device, NULL)
            if out[0] == NULL:
                return failure(&factory.ort, HIPEP_DEVICE_ERROR, "a new stream")
            return NULL
    return CreateStatus(&factory.ort, 2, "hipep: a stream for a device that is not hipep's")


# ---- Entry points -----------------------------------------------------------------------------

cdef Factory* _new_factory(const void** api, int minor) noexcept nogil:
    cdef Factory* factory = <Factory*>calloc(1, sizeof(Factory))
    if factory == NULL:
        return NULL
    factory.ort.api = api
    factory.ort.ep = GetEpApi(&factory.ort)
    factory.ort.minor = minor
    factory.ort.claimed = <uint32_t>min(minor, <int>NEWEST_API)
    factory.base.ort_version_supported = factory.ort.claimed
    factory.base.GetName = _get_name
    factory.base.GetVendor = _get_vendor
    factory.base.GetVendorId = _get_vendor_id
    factory.base.GetVersion = _get_version
    factory.base.GetSupportedDevices = _get_supported_devices
    factory.base.CreateEp = _create_ep
    factory.base.ReleaseEp = _release_ep
    factory.base.CreateAllocator = _create_allocator
    factory.base.ReleaseAllocator = _release_allocator
    factory.base.CreateDataTransfer = _create_data_transfer
    factory.base.IsStreamAware = _is_stream_aware
    factory.base.CreateSyncStreamForDevice = _create_stream
    return factory


cdef Factory* _factory_for(const void** api, int minor) noexcept with gil:
    global _factory_count
    cdef int i
    for i in range(_factory_count):
        if _factories[i].ort.api == api:
            return _factories[i]
    if _factory_count == MAX_LIBRARIES:
        return NULL
    _factories[_factory_count] = _new_factory(api, minor)
    if _factories[_factory_count] == NULL:
        return NULL
    _factory_count += 1
    return _factories[_factory_count - 1]


cdef void _import_self() noexcept nogil:
    """Run the module's initialisation when the library was opened but never imported."""
    cdef PyGILState_STATE gil = PyGILState_Ensure()  # "with gil" needs an initialised module
    if PyImport_ImportModule("hipep._core") == NULL:
        PyErr_Clear()
    PyGILState_Release(gil)


cdef public OrtStatus* CreateEpFactories(
        const char* name, const OrtApiBase* base, const OrtLogger* logger, OrtEpFactory** out,
        size_t capacity, size_t* count) noexcept nogil:
    cdef Ort ort
    cdef Factory* factory
    cdef int major = 0, minor = 0
    count[0] = 0
    ort.api = base.GetApi(TABLE_VERSION)
    if ort.api == NULL:  # older than 1.22: without a table no status can be made
        return NULL
    if sscanf(base.GetVersionString(), "%d.%d", &major, &minor) != 2 or (
            major == 1 and minor < MINIMUM_MINOR):
        return CreateStatus(&ort, 1, "hipep needs onnxruntime 1.24 or newer; update it: "
                                     "pip install -U onnxruntime")
    if not Py_IsInitialized():
        return CreateStatus(&ort, 1, "hipep needs a running Python interpreter in this process")
    if not _ready:
        _import_self()
        if not _ready:
            return CreateStatus(&ort, 1, "hipep: the module hipep._core cannot be imported; "
                                         "is the package installed in this Python?")
    if capacity < 1:
        return CreateStatus(&ort, 2, "hipep: no room for a factory")
    factory = _factory_for(ort.api, minor)
    if factory == NULL:
        return CreateStatus(&ort, 1, "hipep: too many onnxruntime libraries in one process")
    out[0] = &factory.base
    count[0] = 1
    return NULL


cdef public OrtStatus* ReleaseEpFactory(OrtEpFactory* factory) noexcept nogil:
    return NULL


cdef bint _ready = True
