"""The lowering table: one row per operator definition, from which everything else is derived."""
from libc.stdint cimport int32_t, uint64_t

from hipep._graph cimport Node, Value
from hipep._kernels cimport HIPEP_DTYPE_END, hipep_dtype_name

cdef enum:
    MAX_ROWS = 1024

cdef Row[MAX_ROWS] _rows
cdef int _row_count = 0
_modules = []
_by_op = {}  # (domain, op_type) -> indices


cdef int add_row(str module, Row added) except -1:
    """Add a row; called when its family's module is imported."""
    global _row_count
    if _row_count == MAX_ROWS:
        raise RuntimeError("the lowering table is full")
    _rows[_row_count] = added
    key = (added.domain.decode(), added.op_type.decode())
    _by_op.setdefault(key, []).append(_row_count)
    _modules.append(module.rpartition(".")[2])
    _row_count += 1
    return 0


cdef const Row* find_row(Node node) except? NULL:
    """Return the row that handles a node's definition, or NULL."""
    cdef int i
    for i in _by_op.get((node.domain, node.op_type), ()):
        if _rows[i].since <= node.since_version <= _rows[i].until:
            return &_rows[i]
    return NULL


def _type_name(int32_t dtype):
    return hipep_dtype_name(dtype).decode()


cdef str check_dtype(Node node, int index, uint64_t mask):
    """Return None if the type of an input is in the mask, else the reason why not."""
    cdef Value value = node.input(index)
    if value is None:
        return f"input {index} is absent"
    if value.dtype == 0:
        return f"the type of input {index} ('{value.name}') is not known"
    if value.dtype >= HIPEP_DTYPE_END or not (mask >> value.dtype) & 1:
        return f"input {index} ('{value.name}') is of type {_type_name(value.dtype)}"
    return None


cdef str _check_ranks(Node node):
    cdef Value value
    for value in node.inputs + node.outputs:
        if value is not None and value.rank > 8:
            return f"'{value.name}' is of rank {value.rank}; up to 8 is handled"
    return None


cdef object _claim(Node node, bint pay_off):
    cdef const Row* row = find_row(node)
    if node.taken_by:
        return f"already assigned to {node.taken_by}"
    if row == NULL:
        known = _by_op.get((node.domain, node.op_type))
        if known is None:
            return "no row in the lowering table"
        versions = ", ".join(f"{_rows[<int>i].since}-{_rows[<int>i].until}" for i in known)
        return f"the definition of opset {node.since_version} is not handled (rows: {versions})"
    if row.dtypes:
        reason = check_dtype(node, 0, row.dtypes)
        if reason is not None:
            return reason
    reason = _check_ranks(node)
    if reason is None and row.claim != NULL:
        reason = row.claim(node)
    if reason is None and pay_off:
        if row.pays_off == NULL:
            return "not faster than the CPU execution provider on this device"
        reason = row.pays_off(node)
    return reason


cdef object claim_node(Node node, bint pay_off):
    """Return None if the node can be computed, else the reason why not.

    With ``pay_off`` the row may also decline what its device computes no faster than the CPU
    execution provider.
    """
    try:
        return _claim(node, pay_off)
    except Exception as error:  # onnxruntime would give the whole graph to the CPU
        return f"its claim failed: {error}"


def table():
    """Return the lowering table as a list of dictionaries, one per row.

    Returns
    -------
    list of dict
        ``op_type``, ``domain`` ("" is ai.onnx), ``since`` and ``until`` (the definitions that are
        handled, by the opset in which they appeared), ``dtypes`` (of input 0), ``note``,
        ``module``.
    """
    cdef int i, dtype
    rows = []
    for i in range(_row_count):
        rows.append({
            "op_type": _rows[i].op_type.decode(),
            "domain": _rows[i].domain.decode(),
            "since": _rows[i].since,
            "until": _rows[i].until,
            "dtypes": [_type_name(dtype) for dtype in range(HIPEP_DTYPE_END)
                       if (_rows[i].dtypes >> dtype) & 1],
            "note": _rows[i].note.decode(),
            "module": _modules[i],
        })
    return sorted(rows, key=lambda row: (row["domain"], row["op_type"], row["since"]))
