"""Streams and notifications as onnxruntime sees them."""
from libc.stdlib cimport calloc, free

from hipep._kernels cimport *
from hipep._ort cimport OrtStatus, OrtSyncNotificationImpl, OrtSyncStream
from hipep._ort_api cimport SyncStream_GetImpl
from hipep._session cimport (
    run_extended, session_add_stream, session_release, session_remove_stream, session_retain)
from hipep._status cimport failure
from hipep._stream cimport free_stream_state, new_stream_state, stream_finish

cdef struct Notification:
    OrtSyncNotificationImpl base
    const Ort* ort
    hipep_event* event
    hipep_stream* stream


cdef void _release_notification(OrtSyncNotificationImpl* this) noexcept nogil:
    hipep_event_destroy((<Notification*>this).event)
    free(this)


cdef OrtStatus* _activate(OrtSyncNotificationImpl* this) noexcept nogil:
    cdef Notification* notification = <Notification*>this
    cdef hipep_status status = hipep_event_record(notification.event, notification.stream)
    return NULL if status == HIPEP_OK else failure(notification.ort, status, "recording an event")


cdef OrtStatus* _wait_on_device(OrtSyncNotificationImpl* this,
                                OrtSyncStream* stream) noexcept nogil:
    cdef Notification* notification = <Notification*>this
    cdef SyncStream* waiting = <SyncStream*>SyncStream_GetImpl(notification.ort, stream)
    cdef hipep_status status = hipep_event_wait(notification.event, waiting.state.stream)
    return NULL if status == HIPEP_OK else failure(notification.ort, status, "waiting for an event")


cdef OrtStatus* _wait_on_host(OrtSyncNotificationImpl* this) noexcept nogil:
    cdef Notification* notification = <Notification*>this
    cdef hipep_status status = hipep_event_synchronize(notification.event)
    return NULL if status == HIPEP_OK else failure(notification.ort, status, "waiting for an event")


cdef void _release(OrtSyncStreamImpl* this) noexcept nogil:
    cdef SyncStream* stream = <SyncStream*>this
    hipep_set_current_stream(NULL)
    if stream.session != NULL:
        session_remove_stream(stream.session, stream.state)
    free_stream_state(stream.state)
    session_release(stream.session)
    free(stream)


cdef void* _handle(OrtSyncStreamImpl* this) noexcept nogil:
    return (<SyncStream*>this).state


cdef OrtStatus* _create_notification(OrtSyncStreamImpl* this,
                                     OrtSyncNotificationImpl** out) noexcept nogil:
    cdef SyncStream* stream = <SyncStream*>this
    cdef Notification* notification = <Notification*>calloc(1, sizeof(Notification))
    cdef hipep_status status
    if notification == NULL:
        return failure(stream.ort, hipep_fail(HIPEP_OUT_OF_MEMORY, "out of host memory"),
                       "creating an event")
    status = hipep_event_create(stream.state.device, &notification.event)
    if status != HIPEP_OK:
        free(notification)
        return failure(stream.ort, status, "creating an event")
    notification.base.ort_version_supported = stream.ort.claimed
    notification.base.Release = _release_notification
    notification.base.Activate = _activate
    notification.base.WaitOnDevice = _wait_on_device
    notification.base.WaitOnHost = _wait_on_host
    notification.ort = stream.ort
    notification.stream = stream.state.stream
    out[0] = &notification.base
    return NULL


cdef OrtStatus* _flush(OrtSyncStreamImpl* this) noexcept nogil:
    cdef SyncStream* stream = <SyncStream*>this
    cdef hipep_counters before = hipep_thread_counters()[0]
    cdef hipep_status status = stream_finish(stream.state)
    if stream.session != NULL:
        run_extended(stream.session, &before)
    return NULL if status == HIPEP_OK else failure(stream.ort, status, "the end of a run")


cdef OrtStatus* _run_ended(OrtSyncStreamImpl* this) noexcept nogil:
    return NULL


cdef OrtSyncStreamImpl* new_sync_stream(
        const Ort* ort, hipep_device* device, Session* session) noexcept nogil:
    """Return NULL with the thread's error text set if there is no stream to be had."""
    cdef SyncStream* stream = <SyncStream*>calloc(1, sizeof(SyncStream))
    if stream == NULL:
        hipep_fail(HIPEP_OUT_OF_MEMORY, "out of host memory for a stream")
        return NULL
    stream.state = new_stream_state(device, NULL if session == NULL else session.user_stream)
    if stream.state == NULL:
        free(stream)
        return NULL
    stream.base.ort_version_supported = ort.claimed
    stream.base.Release = _release
    stream.base.GetHandle = _handle
    stream.base.CreateNotification = _create_notification
    stream.base.Flush = _flush
    stream.base.OnSessionRunEnd = _run_ended
    stream.ort = ort
    stream.session = session
    if session != NULL:
        session_retain(session)
        session_add_stream(session, stream.state)
    return &stream.base
