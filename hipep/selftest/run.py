"""Run every case on a device and on the host, and collect what differs."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from hipep.api import import_onnxruntime
from hipep.device import Device
from hipep.differences import Array, difference
from hipep.errors import NotOnGpu
from hipep.feeds import ort_value
from hipep.inference import InferenceSession
from hipep.interop import to_numpy
from hipep.selftest.builders import BUILDERS
from hipep.selftest.case import Feeds, SelfCase
from hipep.selftest.generic import by_schema
from hipep.selftest.node_cases import node_cases

if TYPE_CHECKING:
    from hipep._lowering import LoweringRow

_TOLERANCES = {"float16": 2e-3, "bfloat16": 1.6e-2, "float32": 1e-5, "float64": 1e-12}
# The newest opset that every ONNX Runtime reads which hipep runs with.
_OPSET = 21


@dataclass
class Outcome:
    """What came of one operator.

    Attributes
    ----------
    op_type : str
    cases : int
        Models that were run, each on several shapes.
    failures : list of str
        What differed or failed, by case.
    uncovered : list of str
        What could not be tried, with the reason.
    """

    op_type: str
    cases: int = 0
    failures: list[str] = field(default_factory=list)
    uncovered: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        return asdict(self)


def run_all(
    device: Device,
    only: Collection[str] = (),
    progress: Callable[[str], object] = lambda what: None,
) -> list[Outcome]:
    """Run the cases of every row of the lowering table, and those of the onnx package.

    Parameters
    ----------
    device : Device
    only : collection of str
        The operators to run; all if empty.
    progress : callable
        Called with what comes next.

    Returns
    -------
    list of Outcome
        In the order of the table.
    """
    rows = lowering_rows()
    chosen = [row for row in rows if not only or row["op_type"] in only]
    outcomes = {row["op_type"]: Outcome(row["op_type"]) for row in chosen}
    for row in chosen:
        progress(f"{row['op_type']}-{row['since']}")
        for dtype in row["dtypes"] if row["domain"] in ("", "ai.onnx") else ():
            _run_row(device, row, dtype, outcomes[row["op_type"]])
    progress("the node cases of onnx")
    for case in node_cases({(row["domain"], row["op_type"]) for row in rows}):
        if case.op_type in outcomes:
            _run_case(device, case, outcomes[case.op_type], known=False)
    for outcome in outcomes.values():
        if not (outcome.cases or outcome.failures or outcome.uncovered):
            outcome.uncovered.append(f"{outcome.op_type}: there are no cases")
    return list(outcomes.values())


def lowering_rows() -> list[LoweringRow]:
    """Return the lowering table."""
    # The rows add themselves to the table when their modules are imported.
    importlib.import_module("hipep.ops")
    from hipep import _lowering

    return _lowering.table()


def _run_row(device: Device, row: LoweringRow, dtype: str, outcome: Outcome) -> None:
    opset = max(row["since"], min(row["until"], _OPSET))
    builder = BUILDERS.get(row["op_type"], by_schema)
    try:
        cases = list(builder(row["op_type"], opset, dtype))
    except ModuleNotFoundError as error:
        outcome.uncovered.append(f"{row['op_type']}-{opset} {dtype}: needs {error.name}")
        return
    for case in cases:
        _run_case(device, case, outcome, known=builder is not by_schema)


def _run_case(device: Device, case: SelfCase, outcome: Outcome, known: bool) -> None:
    try:
        expected = list(_results(case, "host", host_mode="serial", host_memory="plain"))
    except Exception as error:
        # Guessed models and those of onnx may be declined, or be newer than ONNX Runtime.
        if known and not _unknown_opset(error):
            outcome.failures.append(f"{case}: on the host: {_one_line(error)}")
        elif not isinstance(error, NotOnGpu):
            outcome.uncovered.append(f"{case}: {_one_line(error)}")
        return
    outcome.cases += 1
    try:
        for feeds, on_host, found in zip(case.feeds, expected, _results(case, device), strict=True):
            if text := _difference(case, feeds, on_host, found):
                shapes = ", ".join(f"{n} {list(array.shape)}" for n, array in feeds.items())
                outcome.failures.append(f"{case}, {shapes}: {text}")
                return
    except Exception as error:
        # Whatever a device does, the others are still to be tried.
        outcome.failures.append(f"{case}: {_one_line(error)}")


def _unknown_opset(error: Exception) -> bool:
    return "opset" in str(error) and "support" in str(error)


def _results(case: SelfCase, device: Device | str, **options: Any) -> Iterator[list[Array]]:
    ort = import_onnxruntime()
    session_options = ort.SessionOptions()
    # Every error is in the report.
    session_options.log_severity_level = 4
    session_options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    with InferenceSession(
        case.model, device=device, strict=True, sess_options=session_options, **options
    ) as session:
        for feeds in case.feeds:
            inputs = {name: ort_value(array) for name, array in feeds.items()}
            yield [to_numpy(value) for value in session.run_with_ort_values(None, inputs)]


def _difference(
    case: SelfCase, feeds: Feeds, on_host: Sequence[Array], found: Sequence[Array]
) -> str:
    for number, (left, right) in enumerate(zip(on_host, found, strict=True)):
        if text := difference(left, right, _TOLERANCES):
            return f"output {number} beside the host: {text}"
    if case.reference is None:
        return ""
    with np.errstate(all="ignore"):
        expected = [np.asarray(array) for array in case.reference(**feeds)]
    for number, (left, right) in enumerate(zip(expected, found, strict=True)):
        if text := difference(left, right, _TOLERANCES):
            return f"output {number} beside numpy: {text}"
    return ""


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())
