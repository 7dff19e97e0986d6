from libc.stdint cimport int32_t, int64_t, uint64_t

from hipep._kernels cimport hipep_counters, hipep_device, hipep_status
from hipep._program cimport PlanLimits
from hipep._stream cimport StreamState

cdef extern from "<pthread.h>" nogil:
    ctypedef struct pthread_mutex_t:
        pass
    int pthread_mutex_init(pthread_mutex_t*, const void*)
    int pthread_mutex_destroy(pthread_mutex_t*)
    int pthread_mutex_lock(pthread_mutex_t*)
    int pthread_mutex_unlock(pthread_mutex_t*)

cdef struct ThreadStats:
    ThreadStats* next
    uint64_t thread
    hipep_counters start  # of the run that is going on
    hipep_counters last
    hipep_counters total

# The state of one onnxruntime session. Counted references: the provider and the Python record.
cdef struct Session:
    int64_t uid
    int32_t references
    hipep_device* device
    bint is_inline  # launches and copies are done when the call returns
    bint has_memory  # tensors lie in memory of the device's own
    void* user_stream  # the driver's handle of the stream to work on, or NULL
    bint only_if_faster  # placement=auto
    PlanLimits limits
    int64_t memory_limit  # of the device's pool, while the session lives; 0: none
    pthread_mutex_t lock
    ThreadStats* threads
    StreamState* idle  # stream states of plain memory, not in use
    StreamState* streams  # those that onnxruntime owns

cdef Session* new_session(hipep_device* device) except NULL
cdef void session_retain(Session* session) noexcept nogil
cdef void session_release(Session* session) noexcept nogil
cdef void session_drop_streams(Session* session) noexcept nogil

cdef void run_started(Session* session) noexcept nogil
cdef void run_ended(Session* session) noexcept nogil
# Adds work done after the run ended to the run: the wait of a flush.
cdef void run_extended(Session* session, const hipep_counters* before) noexcept nogil
# A number unique to the run that the calling thread is in; 0 outside of runs.
cdef int64_t current_run() noexcept nogil

cdef StreamState* take_stream(Session* session) noexcept nogil
cdef void give_stream(Session* session, StreamState* state) noexcept nogil

cdef void session_add_stream(Session* session, StreamState* state) noexcept nogil
cdef void session_remove_stream(Session* session, StreamState* state) noexcept nogil
# Waits for what runs have left on their streams: those that were told not to wait.
cdef hipep_status session_synchronize(Session* session) noexcept nogil

cdef class SessionRecord:
    cdef Session* session
    cdef readonly int64_t token
    cdef readonly str device
    cdef public list placements
    cdef public int groups
    cdef int attach(self, Session* session) except -1
