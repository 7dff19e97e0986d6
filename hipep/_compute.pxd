from hipep._ort cimport OrtNodeComputeInfo
from hipep._ort_api cimport Ort
from hipep._program cimport Program
from hipep._session cimport Session

cdef OrtNodeComputeInfo* new_compute_info(
    const Ort* ort, Session* session, Program* program) except NULL
cdef void free_compute_info(OrtNodeComputeInfo* info) noexcept nogil
