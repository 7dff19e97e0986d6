"""The state of one onnxruntime session, and its record for Python."""
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport calloc, free

from hipep._kernels cimport *
from hipep._stream cimport free_stream_state, new_stream_state

import itertools
import threading

cdef extern from *:
    """
    #include <stdint.h>
    #include <pthread.h>
    static __thread int64_t hipep_run_number;
    static __thread struct { int64_t uid; void* stats; } hipep_thread_stats_cache;
    static int64_t hipep_next_run = 1;
    static int64_t hipep_next_session = 1;
    static inline void hipep_set_run_number(int64_t number) { hipep_run_number = number; }
    static inline int64_t hipep_fetch_next(int64_t* counter) {
      return __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
    }
    static inline int32_t hipep_add_reference(int32_t* count, int32_t by) {
      return __atomic_add_fetch(count, by, __ATOMIC_ACQ_REL);
    }
    """
    int64_t hipep_run_number
    void hipep_set_run_number(int64_t) nogil
    int64_t hipep_next_run
    int64_t hipep_next_session
    int64_t hipep_fetch_next(int64_t*) nogil
    int32_t hipep_add_reference(int32_t*, int32_t) nogil
    ctypedef struct stats_cache_t:
        int64_t uid
        void* stats
    stats_cache_t hipep_thread_stats_cache

cdef extern from "<pthread.h>" nogil:
    unsigned long pthread_self()

cdef enum:
    COUNTERS = 10  # members of hipep_counters


cdef Session* new_session(hipep_device* device) except NULL:
    cdef const hipep_device_info* info = hipep_device_get_info(device)
    cdef Session* session = <Session*>calloc(1, sizeof(Session))
    if session == NULL:
        raise MemoryError
    session.uid = hipep_fetch_next(&hipep_next_session)
    session.references = 1
    session.device = device
    session.is_inline = info.warp_size == 1
    session.has_memory = info.host_memory != HIPEP_MEMORY_PLAIN
    session.limits.entries = 16
    session.limits.bytes = 8 << 20
    session.limits.graph_launches = info.graph_launches
    pthread_mutex_init(&session.lock, NULL)
    return session


cdef void session_retain(Session* session) noexcept nogil:
    hipep_add_reference(&session.references, 1)


cdef void session_release(Session* session) noexcept nogil:
    cdef ThreadStats* stats
    if session == NULL or hipep_add_reference(&session.references, -1) > 0:
        return
    session_drop_streams(session)
    while session.threads != NULL:
        stats = session.threads
        session.threads = stats.next
        free(stats)
    pthread_mutex_destroy(&session.lock)
    free(session)


cdef void session_drop_streams(Session* session) noexcept nogil:
    """Free the streams that no run is using, with their arenas and plans."""
    cdef StreamState* state
    cdef StreamState* idle
    pthread_mutex_lock(&session.lock)
    idle = session.idle
    session.idle = NULL
    pthread_mutex_unlock(&session.lock)
    while idle != NULL:
        state = idle
        idle = state.next
        free_stream_state(state)


# ---- Statistics -------------------------------------------------------------------------------

cdef ThreadStats* _find_stats(Session* session, bint create) noexcept nogil:
    cdef uint64_t me = pthread_self()
    cdef ThreadStats* stats
    pthread_mutex_lock(&session.lock)
    stats = session.threads
    while stats != NULL and stats.thread != me:
        stats = stats.next
    if stats == NULL and create:
        stats = <ThreadStats*>calloc(1, sizeof(ThreadStats))
        if stats != NULL:
            stats.thread = me
            stats.next = session.threads
            session.threads = stats
    pthread_mutex_unlock(&session.lock)
    return stats


cdef ThreadStats* _my_stats(Session* session) noexcept nogil:
    cdef ThreadStats* stats
    if hipep_thread_stats_cache.uid == session.uid:
        return <ThreadStats*>hipep_thread_stats_cache.stats
    stats = _find_stats(session, True)
    if stats != NULL:
        hipep_thread_stats_cache.uid = session.uid
        hipep_thread_stats_cache.stats = stats
    return stats


cdef void _add_difference(hipep_counters* to, const hipep_counters* before,
                          const hipep_counters* after) noexcept nogil:
    cdef int64_t* sums = <int64_t*>to
    cdef const int64_t* first = <const int64_t*>before
    cdef const int64_t* last = <const int64_t*>after
    cdef int i
    for i in range(COUNTERS):
        sums[i] += last[i] - first[i]


cdef void run_started(Session* session) noexcept nogil:
    cdef ThreadStats* stats = _my_stats(session)
    hipep_set_run_number(hipep_fetch_next(&hipep_next_run))
    if stats != NULL:
        stats.start = hipep_thread_counters()[0]


cdef void run_ended(Session* session) noexcept nogil:
    cdef ThreadStats* stats = _my_stats(session)
    cdef hipep_counters start
    hipep_set_run_number(0)
    if stats == NULL:
        return
    start = stats.start
    _clear(&stats.last)
    _add_difference(&stats.last, &start, hipep_thread_counters())
    _add_difference(&stats.total, &start, hipep_thread_counters())


cdef void run_extended(Session* session, const hipep_counters* before) noexcept nogil:
    cdef ThreadStats* stats = _my_stats(session)
    if stats != NULL:
        _add_difference(&stats.last, before, hipep_thread_counters())
        _add_difference(&stats.total, before, hipep_thread_counters())


cdef int64_t current_run() noexcept nogil:
    return hipep_run_number


cdef dict _as_dict(const hipep_counters* counters):
    return {
        "launches": counters.launches,
        "readbacks": counters.readbacks,
        "stream_syncs": counters.stream_syncs,
        "h2d_copies": counters.h2d_copies,
        "h2d_bytes": counters.h2d_bytes,
        "d2h_copies": counters.d2h_copies,
        "d2h_bytes": counters.d2h_bytes,
        "device_allocations": counters.device_allocations,
        "plans_built": counters.plans_built,
        "plan_hits": counters.plan_hits,
    }


# ---- Streams of plain memory ------------------------------------------------------------------

cdef StreamState* take_stream(Session* session) noexcept nogil:
    """Return an idle stream state or a new one; NULL with the thread's error text set."""
    cdef StreamState* state
    pthread_mutex_lock(&session.lock)
    state = session.idle
    if state != NULL:
        session.idle = state.next
    pthread_mutex_unlock(&session.lock)
    return state if state != NULL else new_stream_state(session.device, session.user_stream)


cdef void give_stream(Session* session, StreamState* state) noexcept nogil:
    pthread_mutex_lock(&session.lock)
    state.next = session.idle
    session.idle = state
    pthread_mutex_unlock(&session.lock)


# ---- Streams of onnxruntime -------------------------------------------------------------------

cdef void session_add_stream(Session* session, StreamState* state) noexcept nogil:
    pthread_mutex_lock(&session.lock)
    state.next = session.streams
    session.streams = state
    pthread_mutex_unlock(&session.lock)


cdef void session_remove_stream(Session* session, StreamState* state) noexcept nogil:
    cdef StreamState** at = &session.streams
    pthread_mutex_lock(&session.lock)
    while at[0] != state:
        at = &at[0].next
    at[0] = state.next
    pthread_mutex_unlock(&session.lock)


cdef hipep_status session_synchronize(Session* session) noexcept nogil:
    cdef hipep_status status = HIPEP_OK
    cdef StreamState* state
    pthread_mutex_lock(&session.lock)
    state = session.streams
    while state != NULL and status == HIPEP_OK:
        status = hipep_stream_catch_up(state.stream)
        state = state.next
    pthread_mutex_unlock(&session.lock)
    return status


# ---- Records for Python -----------------------------------------------------------------------

_tokens = itertools.count(1)
_records = {}
_records_lock = threading.Lock()


def new_token():
    """Return a number that identifies a session to be created (option ``session_token``)."""
    with _records_lock:
        token = next(_tokens)
        _records[token] = SessionRecord(token)
    return token


def record(token):
    """Return the record of a session, or None if there is none."""
    return _records.get(token)


cdef class SessionRecord:
    """What a session did: where its nodes were placed, and what its runs cost."""

    def __cinit__(self, int64_t token):
        self.token = token
        self.device = ""
        self.placements = []
        self.groups = 0

    def __dealloc__(self):
        with nogil:
            session_release(self.session)

    cdef int attach(self, Session* session) except -1:
        """Bind the record to a session; a second attempt to make one replaces the first."""
        cdef const hipep_device_info* info = hipep_device_get_info(session.device)
        session_retain(session)
        session_release(self.session)
        self.session = session
        backend = info.backend.decode()
        self.device = backend if backend == "host" and info.ordinal == 0 else (
            f"{backend}:{info.ordinal}")
        self.placements = []
        self.groups = 0
        return 0

    def last(self):
        """Return the statistics of the last finished run of the calling thread."""
        cdef hipep_counters zero
        cdef ThreadStats* stats = NULL
        if self.session != NULL:
            stats = _find_stats(self.session, False)
        if stats != NULL:
            return _as_dict(&stats.last)
        _clear(&zero)
        return _as_dict(&zero)

    def total(self):
        """Return the sums over all runs of all threads."""
        cdef hipep_counters sums, zero
        cdef ThreadStats* stats
        _clear(&sums)
        _clear(&zero)
        if self.session != NULL:
            pthread_mutex_lock(&self.session.lock)
            stats = self.session.threads
            while stats != NULL:
                _add_difference(&sums, &zero, &stats.total)
                stats = stats.next
            pthread_mutex_unlock(&self.session.lock)
        return _as_dict(&sums)

    def trim(self):
        """Give cached device memory back to the driver."""
        if self.session != NULL:
            with nogil:
                session_drop_streams(self.session)
                hipep_pool_trim(self.session.device)

    def discard(self):
        """Forget the record; its statistics stay readable by those who hold it."""
        _records.pop(self.token, None)


cdef void _clear(hipep_counters* counters) noexcept nogil:
    cdef int i
    for i in range(COUNTERS):
        (<int64_t*>counters)[i] = 0
