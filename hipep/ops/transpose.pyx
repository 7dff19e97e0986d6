"""Ops that permute axes: Transpose, DepthToSpace, SpaceToDepth."""
from libc.stdint cimport int32_t, int64_t

from hipep._graph cimport Node, Value
from hipep._kernels cimport *
from hipep._lowering cimport *
from hipep._emit cimport *
from hipep.ops.integers cimport integers_attribute
from hipep.ops.strided cimport *

cdef struct TransposeParams:
    int64_t[8] axes
    int32_t count  # -1: the axes are reversed

cdef struct BlockParams:
    int64_t size
    int32_t columns_first  # mode CRD of DepthToSpace


# ---- Transpose --------------------------------------------------------------------------------

cdef int _lower_transpose(Node node, void* params) except -1:
    cdef TransposeParams* transpose = <TransposeParams*>params
    transpose.count = integers_attribute(node, "perm", transpose.axes)
    return 0


cdef hipep_status _transposed(Emit* e, bint on_host) noexcept nogil:
    cdef const TransposeParams* params = <const TransposeParams*>e.params
    cdef const hipep_tensor* x = input_shape(e, 0)
    cdef int64_t[8] strides
    cdef hipep_strided copy
    cdef int64_t source
    cdef int32_t axis, seen = 0
    copy.rank = x.rank
    if params.count >= 0 and params.count != x.rank:
        return hipep_fail(HIPEP_INVALID, "perm has %d axes, the input %d", params.count, x.rank)
    dense_strides(x.rank, x.dims, strides)
    for axis in range(x.rank):
        source = params.axes[axis] if params.count >= 0 else x.rank - 1 - axis
        if source < 0 or source >= x.rank or (seen >> source) & 1:
            return hipep_fail(HIPEP_INVALID, "perm is no permutation of %d axes: it has %lld",
                              x.rank, <long long>source)
        seen |= 1 << source
        copy.dims[axis] = x.dims[source]
        copy.x_strides[axis] = strides[source]
    whole_output(&copy)
    return emit_strided(e, copy.rank, copy.dims, &copy, on_host)


cdef hipep_status _transpose(Emit* e) noexcept nogil:
    return _transposed(e, False)


cdef hipep_status _evaluate_transpose(Emit* e) noexcept nogil:
    return _transposed(e, True)


# ---- DepthToSpace, SpaceToDepth ---------------------------------------------------------------

cdef object _claim_blocks(Node node):
    cdef Value x = node.input(0)
    if x.rank not in (-1, 4):
        return f"input 0 ('{x.name}') is of rank {x.rank} instead of 4"
    mode = node.attribute_string("mode", "DCR")
    if mode not in ("DCR", "CRD"):
        return f"mode is '{mode}'; DCR and CRD are handled"
    if node.op_type == "SpaceToDepth" and mode != "DCR":
        return f"mode is '{mode}'; DCR is handled"
    return None


cdef int _lower_blocks(Node node, void* params) except -1:
    cdef BlockParams* block = <BlockParams*>params
    block.size = node.attribute_int("blocksize", 0)
    block.columns_first = node.attribute_string("mode", "DCR") == "CRD"
    if not 1 <= block.size <= 65535:
        raise ValueError(f"{node.op_type} '{node.name}': blocksize is {block.size}")
    return 0


cdef hipep_status _blocks_fit(const hipep_tensor* x, int64_t size, bint to_space) noexcept nogil:
    if x.rank != 4:
        return hipep_fail(HIPEP_INVALID, "the input is of rank %d instead of 4", x.rank)
    if to_space and x.dims[1] % (size * size) != 0:
        return hipep_fail(
            HIPEP_INVALID, "%lld channels are not a multiple of blocksize %lld squared",
            <long long>x.dims[1], <long long>size)
    if not to_space and (x.dims[2] % size != 0 or x.dims[3] % size != 0):
        return hipep_fail(
            HIPEP_INVALID, "extents %lld and %lld are not multiples of blocksize %lld",
            <long long>x.dims[2], <long long>x.dims[3], <long long>size)
    return HIPEP_OK


cdef void _axis(hipep_strided* copy, int32_t axis, int64_t dim, int64_t stride) noexcept nogil:
    copy.dims[axis] = dim
    copy.x_strides[axis] = stride


cdef hipep_status _depth_to_space(Emit* e) noexcept nogil:
    cdef const BlockParams* block = <const BlockParams*>e.params
    cdef const hipep_tensor* x = input_shape(e, 0)
    cdef hipep_strided copy
    cdef int64_t[4] dims
    cdef int64_t plane, depth
    cdef int64_t b = block.size
    cdef hipep_status status = _blocks_fit(x, b, True)
    if status != HIPEP_OK:
        return status
    plane = x.dims[2] * x.dims[3]
    depth = x.dims[1] // (b * b)
    dims[0] = x.dims[0]
    dims[1] = depth
    dims[2] = x.dims[2] * b
    dims[3] = x.dims[3] * b
    copy.rank = 6  # batch, depth, row, block row, column, block column
    _axis(&copy, 0, x.dims[0], x.dims[1] * plane)
    _axis(&copy, 1, depth, b * b * plane if block.columns_first else plane)
    _axis(&copy, 2, x.dims[2], x.dims[3])
    _axis(&copy, 3, b, b * plane if block.columns_first else b * depth * plane)
    _axis(&copy, 4, x.dims[3], 1)
    _axis(&copy, 5, b, plane if block.columns_first else depth * plane)
    whole_output(&copy)
    return emit_strided(e, 4, dims, &copy, False)


cdef hipep_status _space_to_depth(Emit* e) noexcept nogil:
    cdef const BlockParams* block = <const BlockParams*>e.params
    cdef const hipep_tensor* x = input_shape(e, 0)
    cdef hipep_strided copy
    cdef int64_t[4] dims
    cdef int64_t b = block.size
    cdef hipep_status status = _blocks_fit(x, b, False)
    if status != HIPEP_OK:
        return status
    dims[0] = x.dims[0]
    dims[1] = x.dims[1] * b * b
    dims[2] = x.dims[2] // b
    dims[3] = x.dims[3] // b
    copy.rank = 6  # batch, block row, block column, channel, row, column
    _axis(&copy, 0, x.dims[0], x.dims[1] * x.dims[2] * x.dims[3])
    _axis(&copy, 1, b, x.dims[3])
    _axis(&copy, 2, b, 1)
    _axis(&copy, 3, x.dims[1], x.dims[2] * x.dims[3])
    _axis(&copy, 4, dims[2], b * x.dims[3])
    _axis(&copy, 5, dims[3], b)
    whole_output(&copy)
    return emit_strided(e, 4, dims, &copy, False)


cdef Row _transpose_row = row(
    b"Transpose", 1, 25, PLAIN_TYPES, NULL, _lower_transpose, sizeof(TransposeParams), _transpose,
    b"axes that stay neighbours move as one")
_transpose_row.evaluate = _evaluate_transpose
add_row(__name__, _transpose_row)
add_row(__name__, row(
    b"DepthToSpace", 1, 13, PLAIN_TYPES, _claim_blocks, _lower_blocks, sizeof(BlockParams),
    _depth_to_space, b"modes DCR and CRD"))
add_row(__name__, row(
    b"SpaceToDepth", 1, 13, PLAIN_TYPES, _claim_blocks, _lower_blocks, sizeof(BlockParams),
    _space_to_depth, b"blocks of any size"))
