from hipep._kernels cimport hipep_device
from hipep._ort cimport OrtSyncStreamImpl
from hipep._ort_api cimport Ort
from hipep._session cimport Session
from hipep._stream cimport StreamState

cdef struct SyncStream:
    OrtSyncStreamImpl base
    const Ort* ort
    StreamState* state
    Session* session  # NULL: made without a session

cdef OrtSyncStreamImpl* new_sync_stream(
    const Ort* ort, hipep_device* device, Session* session) noexcept nogil
