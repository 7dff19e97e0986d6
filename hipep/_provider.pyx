"""The execution provider of one session: what it claims, how it compiles."""
from cpython.ref cimport Py_DECREF, Py_INCREF
from libc.stddef cimport size_t
from libc.stdint cimport int32_t, int64_t, uintptr_t
from libc.stdlib cimport calloc, free, malloc

from hipep._compute cimport free_compute_info, new_compute_info
from hipep._graph cimport Graph, Node, Value, check, read_graph, value_names
from hipep._kernels cimport *
from hipep._lowering cimport claim_node
from hipep._ort_api cimport *
from hipep._program cimport Program, compile_program
from hipep._session cimport (
    SessionRecord, give_stream, new_session, run_ended, run_started, session_drop_streams,
    session_release, session_synchronize, take_stream)
from hipep._status cimport failure
from hipep._stream cimport StreamState
from hipep._sync_stream cimport new_sync_stream

import hipep.ops  # no-cython-lint
from hipep._session import record as find_record
from hipep.grouping import group_nodes
from hipep.options import resolve


cdef OrtStatus* _raised(const Ort* ort, error) noexcept:
    """Turn a Python exception into a status: one that escaped would read as success."""
    text = f"hipep: {error}" if str(error) else f"hipep: {type(error).__name__}"
    return CreateStatus(ort, 1, text.encode("utf-8", "replace"))


cdef const char* _name(const OrtEp* this) noexcept nogil:
    return (<Provider*>this).name


# ---- Capability -------------------------------------------------------------------------------

cdef list _consumers(Graph graph):
    """For each node the positions of the nodes that read its outputs."""
    cdef Node node
    cdef Value value
    producer = {}
    edges = [set() for _ in graph.nodes]
    for position, node in enumerate(graph.nodes):
        for value in node.inputs:
            if value is not None and value.name in producer:
                edges[producer[value.name]].add(position)
        for name in node.read_below:
            if name in producer:
                edges[producer[name]].add(position)
        for value in node.outputs:
            if value is not None:
                producer[value.name] = position
    return edges


cdef int _fuse(const Ort* ort, OrtEpGraphSupportInfo* info, Graph graph, list members) except -1:
    cdef OrtNodeFusionOptions options
    cdef const OrtNode** handles = <const OrtNode**>malloc(len(members) * sizeof(void*))
    cdef size_t i
    if handles == NULL:
        raise MemoryError
    options.ort_version_supported = ort.claimed
    options.drop_constant_initializers = 1
    try:
        for i in range(len(members)):
            handles[i] = (<Node>graph.nodes[members[i]]).handle
        check(ort, EpGraphSupportInfo_AddNodesToFuse(
            ort, info, handles, len(members), &options))
    finally:
        free(handles)
    return 0


cdef int _get_capability(Provider* provider, const OrtGraph* handle,
                         OrtEpGraphSupportInfo* info) except -1:
    cdef Graph graph = read_graph(provider.ort, handle)
    cdef Node node
    cdef SessionRecord record = None
    if provider.record != NULL:
        record = <SessionRecord>provider.record
    reasons = [claim_node(node, provider.session.only_if_faster) for node in graph.nodes]
    groups = group_nodes([reason is None for reason in reasons], _consumers(graph))
    members = {}
    for position, group in enumerate(groups):
        if group >= 0:
            members.setdefault(group, []).append(position)
    for group in sorted(members):
        _fuse(provider.ort, info, graph, members[group])
    if record is None:
        return 0
    record.placements = [entry for entry in record.placements if entry[4] != graph.path]
    for node, group, reason in zip(graph.nodes, groups, reasons):
        record.placements.append(
            (node.name, node.op_type, node.domain, node.since_version, graph.path,
             reason is None, group + record.groups if group >= 0 else -1, reason or ""))
    record.groups += len(members)
    return 0


cdef OrtStatus* _capability(OrtEp* this, const OrtGraph* graph,
                            OrtEpGraphSupportInfo* info) noexcept with gil:
    cdef Provider* provider = <Provider*>this
    try:
        _get_capability(provider, graph, info)
        return NULL
    except BaseException as error:
        return _raised(provider.ort, error)


# ---- Compile ----------------------------------------------------------------------------------

cdef OrtNodeComputeInfo* _compile_group(Provider* provider, const OrtGraph* graph,
                                        const OrtNode* fused, StreamState* state) except NULL:
    cdef Program* program = compile_program(
        read_graph(provider.ort, graph), value_names(provider.ort, fused, False),
        value_names(provider.ort, fused, True), provider.session.device, state.stream,
        &provider.session.limits)
    return new_compute_info(provider.ort, provider.session, program)


cdef OrtStatus* _compile(OrtEp* this, const OrtGraph** graphs, const OrtNode** fused, size_t count,
                         OrtNodeComputeInfo** infos, OrtNode** contexts) noexcept with gil:
    cdef Provider* provider = <Provider*>this
    cdef StreamState* state = NULL
    cdef size_t i
    for i in range(count):
        infos[i] = NULL
    try:
        state = take_stream(provider.session)
        if state == NULL:
            raise RuntimeError(hipep_last_error().decode())
        for i in range(count):
            infos[i] = _compile_group(provider, graphs[i], fused[i], state)
        return NULL
    except BaseException as error:
        for i in range(count):
            free_compute_info(infos[i])
            infos[i] = NULL
        return _raised(provider.ort, error)
    finally:
        if state != NULL:
            give_stream(provider.session, state)


cdef void _release_infos(OrtEp* this, OrtNodeComputeInfo** infos, size_t count) noexcept nogil:
    cdef size_t i
    for i in range(count):
        free_compute_info(infos[i])


# ---- Runs and options -------------------------------------------------------------------------

cdef OrtStatus* _run_start(OrtEp* this, const OrtRunOptions* options) noexcept nogil:
    run_started((<Provider*>this).session)
    return NULL


cdef OrtStatus* _run_end(OrtEp* this, const OrtRunOptions* options, cbool sync) noexcept nogil:
    run_ended((<Provider*>this).session)
    if sync:  # else what this thread frees next may still be used by the work
        hipep_set_current_stream(NULL)
    return NULL


cdef OrtStatus* _concurrent(OrtEp* this, cbool* out) noexcept nogil:
    # Runs on one stream would mix their work.
    out[0] = (<Provider*>this).session.user_stream == NULL
    return NULL


cdef OrtStatus* _sync(OrtEp* this) noexcept nogil:
    # Copies outside of runs are complete when they return, and so are runs that were not told
    # to leave their work to be waited for here.
    cdef Provider* provider = <Provider*>this
    cdef hipep_status status = session_synchronize(provider.session)
    return NULL if status == HIPEP_OK else failure(provider.ort, status, "waiting for the outputs")


cdef OrtStatus* _create_stream(OrtEp* this, const OrtMemoryDevice* memory,
                               OrtSyncStreamImpl** out) noexcept nogil:
    cdef Provider* provider = <Provider*>this
    out[0] = new_sync_stream(provider.ort, provider.session.device, provider.session)
    return NULL if out[0] != NULL else failure(provider.ort, HIPEP_DEVICE_ERROR, "a new stream")


cdef OrtStatus* _registry(OrtEp* this, const OrtKernelRegistry** out) noexcept nogil:
    out[0] = (<Provider*>this).registry
    return NULL


cdef int64_t _positive(str key, str text) except -1:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= 1 << 40:
        raise ValueError(f"option '{key}' is '{text}'; a whole number from 1 is wanted")
    return int(text)


cdef void _limit_memory(Session* session, int64_t limit) noexcept nogil:
    if session.memory_limit:
        hipep_pool_remove_limit(session.device, session.memory_limit)
    session.memory_limit = limit
    if limit:
        hipep_pool_add_limit(session.device, limit)


cdef int32_t _graph_launches(Session* session, str text) except -1:
    """Return from how many launches on a segment is started as a graph; 0: never."""
    if text == "auto":
        return hipep_device_get_info(session.device).graph_launches
    if text not in ("on", "off"):
        raise ValueError(f"option 'graph_capture' is '{text}'; auto, on or off is wanted")
    return 2 if text == "on" else 0


cdef int _set_option(Session* session, str key, str text) except -1:
    """Set an option that may change while the session lives."""
    if key == "plan_cache_entries":
        session.limits.entries = _positive(key, text)
    elif key == "plan_cache_bytes":
        session.limits.bytes = _positive(key, text)
    elif key == "debug":
        session.limits.debug = text in ("1", "true")
    elif key == "memory_limit":
        _limit_memory(session, resolve({key: text}, {})[key])
    elif key == "graph_capture":
        session.limits.graph_launches = _graph_launches(session, text)
    else:
        raise ValueError(
            f"option '{key}' cannot be set on a live session; plan_cache_entries, "
            "plan_cache_bytes, memory_limit, graph_capture and debug can")
    return 0


cdef OrtStatus* _dynamic_options(OrtEp* this, const char* const* keys, const char* const* values,
                                 size_t count) noexcept with gil:
    cdef Provider* provider = <Provider*>this
    cdef size_t i
    try:
        for i in range(count):
            key = keys[i].decode()
            prefix = f"ep.{provider.name.decode().lower()}."
            _set_option(provider.session, key.removeprefix(prefix), values[i].decode())
        return NULL
    except BaseException as error:
        return _raised(provider.ort, error)


# ---- Life -------------------------------------------------------------------------------------

cdef int _apply_options(Provider* provider, dict options) except -1:
    cdef SessionRecord record
    for key, text in options.items():
        if key == "session_token":
            found = find_record(int(text))
            if found is None:
                continue
            record = found
            record.attach(provider.session)
            Py_INCREF(record)
            provider.record = <void*>record
        elif key == "placement":
            provider.session.only_if_faster = text == "auto"
        elif key == "user_compute_stream":
            provider.session.user_stream = <void*><uintptr_t>int(text)
        elif key not in ("host_mode", "host_memory"):
            _set_option(provider.session, key, text)
    return 0


cdef OrtEp* new_provider(
        const Ort* ort, const char* name, const OrtKernelRegistry* registry, hipep_device* device,
        dict options) except NULL:
    cdef Provider* provider = <Provider*>calloc(1, sizeof(Provider))
    if provider == NULL:
        raise MemoryError
    provider.ort = ort
    provider.name = name
    provider.registry = registry
    try:
        provider.session = new_session(device)
        _apply_options(provider, options)
    except BaseException:
        free_provider(&provider.base)
        raise
    provider.base.ort_version_supported = ort.claimed
    provider.base.GetName = _name
    provider.base.GetCapability = _capability
    provider.base.Compile = _compile
    provider.base.ReleaseNodeComputeInfos = _release_infos
    provider.base.SetDynamicOptions = _dynamic_options
    provider.base.OnRunStart = _run_start
    provider.base.OnRunEnd = _run_end
    provider.base.IsConcurrentRunSupported = _concurrent
    provider.base.Sync = _sync
    if registry != NULL:
        provider.base.CreateSyncStreamForDevice = _create_stream
        provider.base.GetKernelRegistry = _registry
    return &provider.base


cdef void _drop_record(void* record) noexcept with gil:
    Py_DECREF(<object>record)


cdef extern from "Python.h" nogil:
    int Py_IsInitialized()


cdef void free_provider(OrtEp* this) noexcept nogil:
    cdef Provider* provider = <Provider*>this
    if provider == NULL:
        return
    if provider.session != NULL:
        session_drop_streams(provider.session)
        _limit_memory(provider.session, 0)
    # Sessions may outlive the interpreter; the record then goes with the process.
    if provider.record != NULL and Py_IsInitialized():
        _drop_record(provider.record)
    session_release(provider.session)
    free(provider)
